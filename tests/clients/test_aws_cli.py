"""The AWS CLI, run as people run it."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from clients.aws_cli import AWS, Aws, Failed, aws_cli, environment_for
from serving import Serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # a command takes seconds on a busy machine
    pytest.mark.skipif(not AWS.exists(), reason="the AWS CLI is not installed beside this Python"),
]


@pytest.fixture(scope="module")
def environment(server: Serving, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    key = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    return environment_for(server.endpoint, tmp_path_factory.mktemp("nowhere"), key)


@pytest.fixture(scope="module")
def aws(environment: dict[str, str]) -> Iterator[Aws]:
    with aws_cli(environment) as run:
        yield run


def test_the_command_as_people_run_it(environment: dict[str, str]) -> None:
    """The other tests do not start it anew for each of their commands."""
    tables, wrong = (
        subprocess.run(
            [AWS, "dynamodb", *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        for words in (["list-tables"], ["describe-table", "--table-name", "missing"])
    )
    assert "TableNames" in json.loads(tables.stdout)
    assert wrong.returncode
    assert "ResourceNotFoundException" in wrong.stderr


def test_a_tour_of_the_command_line(aws: Aws) -> None:
    table = f"music-{uuid4().hex}"
    created = aws(
        "create-table",
        "--attribute-definitions",
        "AttributeName=Artist,AttributeType=S",
        "AttributeName=Song,AttributeType=S",
        "AttributeName=Genre,AttributeType=S",
        "--key-schema",
        "AttributeName=Artist,KeyType=HASH",
        "AttributeName=Song,KeyType=RANGE",
        "--global-secondary-indexes",
        "IndexName=by-genre,KeySchema=[{AttributeName=Genre,KeyType=HASH},{AttributeName=Song,KeyType=RANGE}],"
        "Projection={ProjectionType=ALL}",
        table_name=table,
        billing_mode="PAY_PER_REQUEST",
    )["TableDescription"]
    assert created["TableArn"].endswith(f":table/{table}")
    aws("wait", "table-exists", table_name=table)

    for song in ("Blue", "Red", "Green"):
        item = {"Artist": {"S": "X"}, "Song": {"S": song}, "Genre": {"S": "jazz"}, "Plays": {"N": "1"}}
        aws("put-item", table_name=table, item=item)
    found = aws("get-item", table_name=table, key={"Artist": {"S": "X"}, "Song": {"S": "Red"}})
    assert found["Item"]["Plays"] == {"N": "1"}
    _updates_and_conditions(aws, table)
    _reads_in_pages(aws, table)
    _tags_and_settings(aws, table, created["TableArn"])
    assert table in aws("list-tables")["TableNames"]
    aws("delete-table", table_name=table)
    aws("wait", "table-not-exists", table_name=table)
    with pytest.raises(Failed, match="ResourceNotFoundException"):
        aws("describe-table", table_name=table)


def _updates_and_conditions(aws: Aws, table: str) -> None:
    key = {"Artist": {"S": "X"}, "Song": {"S": "Red"}}
    changed = aws(
        "update-item",
        table_name=table,
        key=key,
        update_expression="SET Plays = Plays + :one",
        expression_attribute_values={":one": {"N": "1"}},
        return_values="ALL_NEW",
        return_consumed_capacity="INDEXES",
    )
    assert changed["Attributes"]["Plays"] == {"N": "2"}
    assert changed["ConsumedCapacity"]["GlobalSecondaryIndexes"]["by-genre"]["CapacityUnits"] == 1.0
    with pytest.raises(Failed, match="ConditionalCheckFailedException"):
        aws("delete-item", table_name=table, key=key, condition_expression="attribute_not_exists(Plays)")


def _reads_in_pages(aws: Aws, table: str) -> None:
    songs = aws(
        "query",
        table_name=table,
        index_name="by-genre",
        key_condition_expression="Genre = :g",
        expression_attribute_values={":g": {"S": "jazz"}},
        page_size="1",
    )
    assert [item["Song"]["S"] for item in songs["Items"]] == ["Blue", "Green", "Red"]
    first = aws("scan", table_name=table, max_items="2")
    rest = aws("scan", table_name=table, starting_token=first["NextToken"])
    assert len(first["Items"]) + len(rest["Items"]) == 3
    keys = [{"Artist": {"S": "X"}, "Song": {"S": song}} for song in ("Blue", "Green")]
    both = aws("batch-get-item", request_items={table: {"Keys": keys}})
    assert len(both["Responses"][table]) == 2
    aws("transact-write-items", transact_items=[{"Delete": {"TableName": table, "Key": key}} for key in keys])
    assert aws("scan", table_name=table, select="COUNT")["Count"] == 1


def _tags_and_settings(aws: Aws, table: str, arn: str) -> None:
    aws("tag-resource", resource_arn=arn, tags=[{"Key": "team", "Value": "blue"}])
    assert aws("list-tags-of-resource", resource_arn=arn)["Tags"] == [{"Key": "team", "Value": "blue"}]
    aws("update-time-to-live", table_name=table, time_to_live_specification="Enabled=true,AttributeName=ttl")
    described = aws("describe-time-to-live", table_name=table)["TimeToLiveDescription"]
    assert described["AttributeName"] == "ttl"
    backups = aws("describe-continuous-backups", table_name=table)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "DISABLED"


def test_statements_from_the_command_line(aws: Aws) -> None:
    table = f"statements-{uuid4().hex}"
    aws(
        "create-table",
        "--key-schema",
        "AttributeName=id,KeyType=HASH",
        table_name=table,
        attribute_definitions="AttributeName=id,AttributeType=N",
        provisioned_throughput="ReadCapacityUnits=1,WriteCapacityUnits=1",
    )
    aws("wait", "table-exists", table_name=table)
    aws("execute-statement", statement=f"INSERT INTO \"{table}\" VALUE {{'id': 1, 'name': 'one'}}")
    aws(
        "execute-statement",
        statement=f'UPDATE "{table}" SET name = ? WHERE id = 1',
        parameters=[{"S": "uno"}],
    )
    rows = aws("execute-statement", statement=f'SELECT name FROM "{table}" WHERE id = 1')
    assert rows["Items"] == [{"name": {"S": "uno"}}]
    aws("delete-table", table_name=table)


def test_a_tour_of_cloudwatch(aws: Aws) -> None:
    namespace, alarm = f"Cli{uuid4().hex}", f"cli-{uuid4().hex}"
    metric = {"service": "cloudwatch", "namespace": namespace, "metric_name": "Sales"}
    aws("put-metric-data", **metric, value="1.5", dimensions="Shop=ulm")
    aws("put-metric-data", **metric, value="2.5", dimensions="Shop=ulm")
    (listed,) = aws("list-metrics", service="cloudwatch", namespace=namespace)["Metrics"]
    assert listed["Dimensions"] == [{"Name": "Shop", "Value": "ulm"}]
    now = datetime.now(UTC)
    times = {
        "start_time": f"{now - timedelta(hours=1):%FT%TZ}",
        "end_time": f"{now + timedelta(hours=1):%FT%TZ}",
    }
    words = ("--dimensions", "Name=Shop,Value=ulm", "--statistics", "Sum")
    points = aws("get-metric-statistics", *words, **metric, **times, period="60")["Datapoints"]
    assert sum(point["Sum"] for point in points) == 4.0
    stat = {"Metric": {"Namespace": namespace, "MetricName": "Sales", "Dimensions": listed["Dimensions"]}}
    query = [
        {"Id": "m", "MetricStat": {**stat, "Period": 60, "Stat": "Sum"}, "ReturnData": False},
        {"Id": "e", "Expression": "m * 10"},
    ]
    found = aws("get-metric-data", service="cloudwatch", metric_data_queries=query, **times)
    assert sum(found["MetricDataResults"][0]["Values"]) == 40.0
    aws(
        "put-metric-alarm",
        **metric,
        alarm_name=alarm,
        statistic="Sum",
        period="60",
        evaluation_periods="1",
        threshold="1",
        comparison_operator="GreaterThanThreshold",
    )
    aws("set-alarm-state", service="cloudwatch", alarm_name=alarm, state_value="ALARM", state_reason="a tour")
    (described,) = aws("describe-alarms", "--alarm-names", alarm, service="cloudwatch")["MetricAlarms"]
    assert (described["StateValue"], described["StateReason"]) == ("ALARM", "a tour")
    aws("delete-alarms", "--alarm-names", alarm, service="cloudwatch")
    with pytest.raises(Failed, match="ResourceNotFound"):
        aws("set-alarm-state", service="cloudwatch", alarm_name=alarm, state_value="OK", state_reason="x")


def test_auto_scaling_and_insights(aws: Aws) -> None:
    table = f"scaled-{uuid4().hex}"
    aws(
        "create-table",
        "--attribute-definitions",
        "AttributeName=pk,AttributeType=S",
        "--key-schema",
        "AttributeName=pk,KeyType=HASH",
        table_name=table,
        provisioned_throughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    )
    aws("wait", "table-exists", table_name=table)
    target = {
        "service": "application-autoscaling",
        "service_namespace": "dynamodb",
        "resource_id": f"table/{table}",
        "scalable_dimension": "dynamodb:table:WriteCapacityUnits",
    }
    aws("register-scalable-target", **target, min_capacity=5, max_capacity=10)
    configuration = {
        "TargetValue": 50.0,
        "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"},
    }
    put = aws(
        "put-scaling-policy",
        **target,
        policy_name="half",
        policy_type="TargetTrackingScaling",
        target_tracking_scaling_policy_configuration=configuration,
    )
    assert len(put["Alarms"]) == 4
    (policy,) = aws("describe-scaling-policies", **target)["ScalingPolicies"]
    assert policy["TargetTrackingScalingPolicyConfiguration"] == configuration
    with pytest.raises(Failed, match="ObjectNotFoundException"):
        aws("delete-scaling-policy", **target, policy_name="none")
    aws("deregister-scalable-target", **target)
    aws("update-contributor-insights", table_name=table, contributor_insights_action="ENABLE")
    assert aws("describe-contributor-insights", table_name=table)["ContributorInsightsStatus"] in (
        "ENABLING",
        "ENABLED",
    )
