"""Throttling on a real server: what the SDK sees of it, and how its back-off copes."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from item_tables import index, make_table
from serving import Serving, serving

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


@pytest.fixture(scope="module")
def strict() -> Iterator[Serving]:
    """A server that enforces capacity, and whose clock can be moved."""
    with serving("--in-memory", "--capacity", "enforce", "--test-clock", "--log-level", "warning") as running:
        yield running
        assert "Traceback" not in running.log_text()


@pytest.fixture(scope="module")
def client_with(strict: Serving) -> Callable[[int], Any]:
    def make(attempts: int) -> Any:
        session = boto3.session.Session(
            aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1"
        )
        retries: Any = {"total_max_attempts": attempts, "mode": "standard"}
        return session.client(
            "dynamodb", endpoint_url=strict.endpoint, config=Config(retries=retries, read_timeout=60)
        )

    return make


@pytest.fixture(scope="module")
def impatient(client_with: Callable[[int], Any]) -> Any:
    return client_with(1)


def item(pk: str, size: int = 1, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": pk}, "v": {"S": "x" * (size - 1) * 1024}, **more}


def write_until_refused(client: Any, table: str, **more: Any) -> ClientError:
    for number in range(10_000):
        try:
            client.put_item(TableName=table, Item=item(str(number), 20, **more))
        except ClientError as error:
            return error
    raise AssertionError("nothing was refused")


def provisioned(client: Any, **options: Any) -> str:
    return make_table(client, "pk", ProvisionedThroughput=UNITS, **options)


def test_a_table_beyond_its_capacity_refuses(impatient: Any, strict: Serving) -> None:
    table = provisioned(impatient)
    error = write_until_refused(impatient, table)
    assert error.response["Error"] == {
        "Code": "ProvisionedThroughputExceededException",
        "Message": "The level of configured provisioned throughput for the table was exceeded. "
        "Consider increasing your provisioning level with the UpdateTable API.",
    }
    arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}"
    reasons = [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": arn}]
    shown: Any = error.response
    assert shown["ThrottlingReasons"] == reasons
    raw = strict.post("PutItem", {"TableName": table, "Item": item("k")})
    assert raw.status == 400
    assert raw.body["__type"] == "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"
    impatient.get_item(TableName=table, Key={"pk": {"S": "0"}})  # reads have capacity of their own


def test_capacity_comes_back_with_time(impatient: Any, strict: Serving) -> None:
    table = provisioned(impatient)
    write_until_refused(impatient, table)
    assert strict.request("POST", "/_hashrange/clock", b'{"advance_seconds": 60}').status == 200
    impatient.put_item(TableName=table, Item=item("k"))


def test_the_sdk_backs_off_and_succeeds(impatient: Any, client_with: Callable[[int], Any]) -> None:
    table = provisioned(impatient)
    patient = client_with(10)
    attempts = 0
    for _ in range(20):
        write_until_refused(impatient, table)
        answer = patient.put_item(TableName=table, Item=item("k"))
        attempts = answer["ResponseMetadata"]["RetryAttempts"]
        if attempts:
            break
    assert attempts


def test_batch_writers_get_unprocessed_items(impatient: Any) -> None:
    table = provisioned(impatient)
    requests = [{"PutRequest": {"Item": item(str(number), 20)}} for number in range(25)]
    for _ in range(100):
        answer = impatient.batch_write_item(RequestItems={table: requests})
        if answer["UnprocessedItems"]:
            break
    unprocessed = answer["UnprocessedItems"][table]
    assert unprocessed == requests[25 - len(unprocessed) :]
    with pytest.raises(impatient.exceptions.ProvisionedThroughputExceededException):
        impatient.batch_write_item(RequestItems={table: requests})


def test_a_transaction_is_cancelled(impatient: Any) -> None:
    table = provisioned(impatient)
    write_until_refused(impatient, table)
    with pytest.raises(impatient.exceptions.TransactionCanceledException) as raised:
        impatient.transact_write_items(TransactItems=[{"Put": {"TableName": table, "Item": item("k")}}])
    reasons: Any = raised.value.response
    assert [reason["Code"] for reason in reasons["CancellationReasons"]] == ["ProvisionedThroughputExceeded"]


def test_an_index_that_is_too_small_refuses_the_writes_of_its_table(impatient: Any) -> None:
    small = index("small", "a") | {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}}
    units = {"ReadCapacityUnits": 1000, "WriteCapacityUnits": 1000}
    table = make_table(
        impatient,
        "pk",
        types={"a": "S"},
        ProvisionedThroughput=units,
        GlobalSecondaryIndexes=[small],
    )
    error = write_until_refused(impatient, table, a={"S": "a"})
    shown: Any = error.response
    assert shown["ThrottlingReasons"] == [
        {
            "reason": "IndexWriteProvisionedThroughputExceeded",
            "resource": f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}/index/small",
        }
    ]
    with pytest.raises(impatient.exceptions.ProvisionedThroughputExceededException):
        impatient.put_item(TableName=table, Item=item("not in the index"))


def test_a_tag_takes_a_table_out(impatient: Any) -> None:
    table = provisioned(impatient, Tags=[{"Key": "hashrange:capacity", "Value": "meter"}])
    for number in range(60):
        impatient.put_item(TableName=table, Item=item(str(number), 20))


def test_a_tag_is_heeded_as_soon_as_it_is_there(impatient: Any) -> None:
    table = provisioned(impatient)
    write_until_refused(impatient, table)
    arn = impatient.describe_table(TableName=table)["Table"]["TableArn"]
    impatient.tag_resource(ResourceArn=arn, Tags=[{"Key": "hashrange:capacity", "Value": "off"}])
    impatient.put_item(TableName=table, Item=item("k"))
    impatient.untag_resource(ResourceArn=arn, TagKeys=["hashrange:capacity"])
    write_until_refused(impatient, table)


def test_an_on_demand_table_has_another_exception(impatient: Any) -> None:
    limits = {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1}
    table = make_table(impatient, "pk", OnDemandThroughput=limits)
    error = write_until_refused(impatient, table)
    assert error.response["Error"] == {
        "Code": "ThrottlingException",
        "Message": "Throughput exceeds the maximum OnDemandThroughput configured on table or index",
    }
    shown: Any = error.response
    assert [reason["reason"] for reason in shown["throttlingReasons"]] == [
        "TableWriteMaxOnDemandThroughputExceeded"
    ]


def test_a_delete_beyond_the_capacity_is_refused(impatient: Any) -> None:
    table = provisioned(impatient)
    write_until_refused(impatient, table)
    with pytest.raises(impatient.exceptions.ProvisionedThroughputExceededException):
        impatient.delete_item(TableName=table, Key={"pk": {"S": "0"}})
    assert "Item" in impatient.get_item(TableName=table, Key={"pk": {"S": "0"}})
