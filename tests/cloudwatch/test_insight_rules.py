"""The rules of Contributor Insights through CloudWatch: which there are, and what they report."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import index, make_table
from new_tables import request as new_table
from watching import Watched
from wiring import eventually

_PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    """A table whose keys are watched, with three hot ones and one that is hotter."""
    name = make_table(client, "pk", "sk", types={"g": "S"}, GlobalSecondaryIndexes=[index("glo", "g")])
    client.update_contributor_insights(TableName=name, ContributorInsightsAction="ENABLE")
    for number in range(12):
        key = {"pk": {"S": f"key-{number % 3}"}, "sk": {"S": str(number)}}
        client.put_item(TableName=name, Item=key)
        client.put_item(TableName=name, Item={"pk": {"S": "hot"}, "sk": {"S": "one"}})
    return name


def rule_names(client: Any, table: str) -> dict[str, str]:
    shown = client.describe_contributor_insights(TableName=table)["ContributorInsightsRuleList"]
    return {name.split("-")[1]: name for name in shown}


def report(cloudwatch: Any, rule: str, **more: Any) -> Any:
    now = datetime.now(UTC)
    request = {
        "StartTime": now - timedelta(minutes=30),
        "EndTime": now + timedelta(minutes=1),
        "Period": 3600,
    }
    answer = cloudwatch.get_insight_rule_report(RuleName=rule, **{**request, **more})
    answer.pop("ResponseMetadata")
    return answer


def refused(call: Any, **request: Any) -> str:
    with pytest.raises(ClientError) as failure:
        call(**request)
    return str(failure.value.response["Error"]["Code"])


def test_the_rules_of_a_table_are_described(client: Any, cloudwatch: Any, table: str) -> None:
    names = rule_names(client, table)
    rules: dict[str, Any] = {}
    token: dict[str, str] = {}
    while True:
        page = cloudwatch.describe_insight_rules(MaxResults=3, **token)
        rules |= {rule["Name"]: rule for rule in page["InsightRules"]}
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    own = rules[names["SKC"]]
    assert json.loads(own["Schema"]) == {"Name": "ServiceLogRule", "Version": 1}
    definition = json.loads(own["Definition"])
    assert definition["Contribution"] == {
        "Keys": ["pk", "sk"],
        "ValueOf": "ConsumedThroughputUnits",
        "Filters": [],
    }
    assert (own["State"], own["ManagedRule"]) == ("ENABLED", True)
    assert set(names.values()) <= set(rules)
    assert list(rules) == sorted(rules)


def test_a_report_ranks_partition_keys(client: Any, cloudwatch: Any, table: str) -> None:
    rule = rule_names(client, table)["PKC"]
    assert eventually(lambda: report(cloudwatch, rule).get("AggregateValue") == 72.0, _PATIENCE_SECONDS)
    shown = report(cloudwatch, rule, Metrics=["Sum", "MaxContributorValue", "UniqueContributors", "Average"])
    assert shown["KeyLabels"] == ["pk"]
    assert (shown["AggregationStatistic"], shown["ApproximateUniqueCount"]) == ("SUM", 4)
    values = [(one["Keys"], one["ApproximateAggregateValue"]) for one in shown["Contributors"]]
    assert values[0] == (["hot"], 36.0)
    assert sorted(values[1:]) == [([f"key-{number}"], 12.0) for number in range(3)]
    assert sum(point["ApproximateValue"] for point in shown["Contributors"][0]["Datapoints"]) == 36.0
    assert sum(point["Sum"] for point in shown["MetricDatapoints"]) == 72.0
    assert max(point["MaxContributorValue"] for point in shown["MetricDatapoints"]) <= 36.0
    assert all("SampleCount" not in point for point in shown["MetricDatapoints"])
    assert isinstance(shown["MetricDatapoints"][0]["Timestamp"], datetime)


def test_a_report_of_whole_keys(client: Any, cloudwatch: Any, table: str) -> None:
    rule = rule_names(client, table)["SKC"]
    assert eventually(lambda: report(cloudwatch, rule).get("AggregateValue") == 72.0, _PATIENCE_SECONDS)
    shown = report(cloudwatch, rule, MaxContributorCount=2, OrderBy="Maximum")
    assert shown["KeyLabels"] == ["pk", "sk"]
    first, _ = shown["Contributors"]
    assert first["Keys"] == ["hot", "one"]
    assert shown.get("MetricDatapoints", []) == []


def test_refusals(client: Any, cloudwatch: Any, table: str) -> None:
    rule = rule_names(client, table)["PKC"]
    now = datetime.now(UTC)
    request = {"RuleName": rule, "StartTime": now - timedelta(hours=1), "EndTime": now, "Period": 60}
    for change, code in (
        ({"RuleName": "DynamoDBContributorInsights-PKC-nix-1"}, "ResourceNotFoundException"),
        ({"EndTime": now - timedelta(hours=2)}, "InvalidParameterValue"),
        ({"Period": 61}, "InvalidParameterValue"),
        ({"MaxContributorCount": 0}, "InvalidParameterValue"),
        ({"MaxContributorCount": 101}, "InvalidParameterValue"),
        ({"OrderBy": "Average"}, "InvalidParameterValue"),
        ({"Metrics": ["Median"]}, "InvalidParameterValue"),
    ):
        assert refused(cloudwatch.get_insight_rule_report, **{**request, **change}) == code
    assert refused(cloudwatch.describe_insight_rules, NextToken="rubbish") == "InvalidNextToken"


def test_rules_go_with_the_setting_and_belong_to_their_region(watched: Watched) -> None:
    watched.call("CreateTable", **new_table("pk", TableName="tab"))
    watched.settle()
    watched.call("UpdateContributorInsights", TableName="tab", ContributorInsightsAction="ENABLE")
    (first, second) = watched.ask("DescribeInsightRules")["InsightRules"]
    request = {
        "RuleName": first["Name"],
        "StartTime": watched.clock.now() - 60,
        "EndTime": watched.clock.now(),
    }
    assert watched.ask("GetInsightRuleReport", **request, Period=60) == {
        "KeyLabels": ["pk"],
        "AggregationStatistic": "SUM",
        "AggregateValue": 0.0,
        "ApproximateUniqueCount": 0,
        "Contributors": [],
        "MetricDatapoints": [],
    }
    page = watched.ask("DescribeInsightRules", MaxResults=1)
    assert page["InsightRules"] == [first]
    page = watched.ask("DescribeInsightRules", MaxResults=1, NextToken=page["NextToken"])
    assert (page["InsightRules"], "NextToken" in page) == ([second], False)
    watched.context.region = "eu-west-1"
    assert watched.ask("DescribeInsightRules") == {"InsightRules": []}
    assert watched.fails("GetInsightRuleReport", **request, Period=60)[0] == "ResourceNotFoundException"
    watched.context.region = "us-east-1"
    watched.call("UpdateContributorInsights", TableName="tab", ContributorInsightsAction="DISABLE")
    assert watched.ask("DescribeInsightRules") == {"InsightRules": []}
