"""UpdateContributorInsights, DescribeContributorInsights, ListContributorInsights."""

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import index, make_table
from wiring import eventually

_PATIENCE_SECONDS = 60
BOTH, THROTTLED = "ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"


@pytest.fixture
def table(client: Any) -> str:
    return make_table(
        client,
        "pk",
        "sk",
        types={"g": "S", "l": "S"},
        GlobalSecondaryIndexes=[index("glo", "g")],
        LocalSecondaryIndexes=[index("loc", "pk", "l")],
    )


def switch(client: Any, table: str, action: str = "ENABLE", **more: Any) -> Any:
    answer = client.update_contributor_insights(TableName=table, ContributorInsightsAction=action, **more)
    answer.pop("ResponseMetadata")
    return answer


def described(client: Any, table: str, **more: Any) -> Any:
    answer = client.describe_contributor_insights(TableName=table, **more)
    answer.pop("ResponseMetadata")
    return answer


def wait(client: Any, table: str, status: str, **more: Any) -> Any:
    def there() -> bool:
        return bool(described(client, table, **more)["ContributorInsightsStatus"] == status)

    assert eventually(there, _PATIENCE_SECONDS)
    return described(client, table, **more)


def refused(call: Any, **request: Any) -> tuple[str, str]:
    with pytest.raises(ClientError) as failure:
        call(**request)
    error = failure.value.response["Error"]
    return error["Code"], error["Message"]


def rules(answer: Any) -> list[str]:
    return [name.split("-")[1] for name in answer["ContributorInsightsRuleList"]]


def test_a_table_that_was_never_watched(client: Any, table: str) -> None:
    assert described(client, table) == {
        "TableName": table,
        "ContributorInsightsStatus": "DISABLED",
        "ContributorInsightsRuleList": [],
    }


def test_a_table_with_a_sort_key_has_four_rules(client: Any, table: str) -> None:
    assert switch(client, table) == {
        "TableName": table,
        "ContributorInsightsStatus": "ENABLING",
        "ContributorInsightsMode": BOTH,
    }
    shown = wait(client, table, "ENABLED")
    assert rules(shown) == ["PKC", "SKC", "PKT", "SKT"]
    assert (shown["ContributorInsightsMode"], "LastUpdateDateTime" in shown) == (BOTH, True)
    pattern = rf"DynamoDBContributorInsights-PKC-{re.escape(table)}-[0-9]{{13}}"
    assert re.fullmatch(pattern, shown["ContributorInsightsRuleList"][0])


def test_an_index_is_watched_by_itself(client: Any, table: str) -> None:
    switch(client, table, IndexName="glo")
    shown = wait(client, table, "ENABLED", IndexName="glo")
    assert (shown["IndexName"], rules(shown)) == ("glo", ["PKC", "PKT"])
    assert described(client, table)["ContributorInsightsStatus"] == "DISABLED"


def test_the_rules_of_throttled_keys_outlive_a_change_of_mode(client: Any, table: str) -> None:
    switch(client, table)
    before = wait(client, table, "ENABLED")["ContributorInsightsRuleList"]
    switch(client, table, ContributorInsightsMode=THROTTLED)
    narrow = wait(client, table, "ENABLED")
    assert narrow["ContributorInsightsRuleList"] == before[2:]
    assert narrow["ContributorInsightsMode"] == THROTTLED
    switch(client, table)
    wide = wait(client, table, "ENABLED")
    assert wide["ContributorInsightsMode"] == BOTH
    assert wide["ContributorInsightsRuleList"][2:] == before[2:]


def test_the_same_mode_again_changes_nothing(client: Any, table: str) -> None:
    switch(client, table)
    before = wait(client, table, "ENABLED")
    assert switch(client, table)["ContributorInsightsStatus"] == "ENABLED"
    assert described(client, table) == before


def test_switching_off(client: Any, table: str) -> None:
    switch(client, table)
    wait(client, table, "ENABLED")
    answer = switch(client, table, "DISABLE", ContributorInsightsMode=THROTTLED)
    assert answer["ContributorInsightsStatus"] == "DISABLING"
    assert wait(client, table, "DISABLED")["ContributorInsightsRuleList"] == []
    assert switch(client, table, "DISABLE")["ContributorInsightsStatus"] == "DISABLED"


def test_the_list_has_tables_before_their_indexes(make_client: Any) -> None:
    client = make_client(region="insights-1")
    for name in ("bbb", "aaa", "ccc"):
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "g", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
            GlobalSecondaryIndexes=[index("glo", "g")],
        )
        eventually(
            lambda name=name: client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE",
            _PATIENCE_SECONDS,
        )
    switch(client, "bbb", IndexName="glo")
    switch(client, "bbb")
    switch(client, "aaa", ContributorInsightsMode=THROTTLED)
    answer = client.list_contributor_insights()
    names = [(one["TableName"], one.get("IndexName")) for one in answer["ContributorInsightsSummaries"]]
    assert names == [("aaa", None), ("bbb", None), ("bbb", "glo")]
    assert answer["ContributorInsightsSummaries"][0]["ContributorInsightsMode"] == THROTTLED
    pages, token = [], None
    while True:
        more = {} if token is None else {"NextToken": token}
        page = client.list_contributor_insights(MaxResults=1, **more)
        pages += [one["TableName"] for one in page["ContributorInsightsSummaries"]]
        token = page.get("NextToken")
        if token is None:
            break
    assert pages == ["aaa", "bbb", "bbb"]
    only = client.list_contributor_insights(TableName="bbb")["ContributorInsightsSummaries"]
    assert len(only) == 2


def test_refusals(client: Any, table: str) -> None:
    update = client.update_contributor_insights
    assert refused(update, TableName="nowhere", ContributorInsightsAction="ENABLE")[0] == (
        "ResourceNotFoundException"
    )
    for name in ("loc", "nix"):
        code, _ = refused(update, TableName=table, IndexName=name, ContributorInsightsAction="ENABLE")
        assert code == "ResourceNotFoundException"
    assert refused(update, TableName=table, ContributorInsightsAction="START") == (
        "ValidationException",
        (
            "1 validation error detected: Value 'START' at 'contributorInsightsAction' failed to satisfy constraint: "
            "Member must satisfy enum value set: [ENABLE, DISABLE]"
        ),
    )
    assert refused(client.list_contributor_insights, MaxResults=101)[0] == "ValidationException"


def test_more_rules_than_the_account_may_have_fail(make_client: Any) -> None:
    client = make_client(region="insights-2")
    names = [f"tab{number}" for number in range(51)]
    for name in names:
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        wait_active(client, name)
        switch(client, name)
    wait(client, names[49], "ENABLED")
    shown = wait(client, names[50], "FAILED")
    assert shown["FailureException"]["ExceptionName"] == "LimitExceededException"
    assert shown["ContributorInsightsRuleList"] == []
    switch(client, names[0], "DISABLE")
    assert switch(client, names[50])["ContributorInsightsStatus"] == "FAILED"
    switch(client, names[50], "DISABLE")
    switch(client, names[50])
    wait(client, names[50], "ENABLED")


def wait_active(client: Any, name: str) -> None:
    assert eventually(
        lambda: client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE", _PATIENCE_SECONDS
    )
