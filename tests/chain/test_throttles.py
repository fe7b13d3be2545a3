"""Throttles: every operation is refused in the service's own way, and charged for what it got."""

from typing import Any

import pytest

from clocked import Clocked
from counted_admission import CountedAdmission
from hashrange.api.errors import ApiError
from hashrange.api.throttling.gate import Gate
from hashrange.api.throttling.index_queues import QUEUE_UNITS_MIN
from item_tables import index
from new_tables import request as new_table

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/ttt"
TABLE_WORDS = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
READS = ("ttt", None, False)
WRITES = ("ttt", None, True)


class Guarded(Clocked):
    """A table `ttt` with an index `ggg`, behind a gate."""

    def __init__(self, mode: str = "enforce", *, on_demand: bool = False, tag: str | None = None) -> None:
        super().__init__()
        self.model = CountedAdmission()
        self.context.gate = Gate(self.model, self.clock, mode)
        units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
        provisioned: dict[str, Any] = {"ProvisionedThroughput": units, "BillingMode": "PROVISIONED"}
        global_index = index("ggg", "a") | ({} if on_demand else {"ProvisionedThroughput": units})
        tags = {} if tag is None else {"Tags": [{"Key": "hashrange:capacity", "Value": tag}]}
        self.call(
            "CreateTable",
            **new_table(
                "pk",
                types={"a": "S"},
                TableName="ttt",
                GlobalSecondaryIndexes=[global_index],
                **({} if on_demand else provisioned),
                **tags,
            ),
        )
        self.settle()

    def put(self, pk: str, **more: str) -> None:
        self.call("PutItem", TableName="ttt", Item=item(pk, **more))

    def error(self, operation: str, **request: Any) -> ApiError:
        with pytest.raises(ApiError) as raised:
            self.call(operation, **request)
        return raised.value

    def has(self, pk: str) -> bool:
        rows = self.call("Scan", TableName="ttt")["Items"]
        return any(row["pk"]["S"] == pk for row in rows)


def item(pk: str, **more: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in {"pk": pk, **more}.items()}


def key(pk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}}


SINGLE_READS: list[tuple[str, dict[str, Any]]] = [
    ("GetItem", {"TableName": "ttt", "Key": key("k")}),
    (
        "Query",
        {
            "TableName": "ttt",
            "KeyConditionExpression": "pk = :k",
            "ExpressionAttributeValues": {":k": {"S": "k"}},
        },
    ),
    ("Scan", {"TableName": "ttt"}),
    ("BatchGetItem", {"RequestItems": {"ttt": {"Keys": [key("k")]}}}),
    ("ExecuteStatement", {"Statement": "SELECT * FROM ttt WHERE pk = 'k'"}),
]
SINGLE_WRITES: list[tuple[str, dict[str, Any]]] = [
    ("PutItem", {"TableName": "ttt", "Item": item("new")}),
    ("DeleteItem", {"TableName": "ttt", "Key": key("k")}),
    (
        "UpdateItem",
        {
            "TableName": "ttt",
            "Key": key("new"),
            "UpdateExpression": "SET b = :b",
            "ExpressionAttributeValues": {":b": {"S": "b"}},
        },
    ),
    ("BatchWriteItem", {"RequestItems": {"ttt": [{"PutRequest": {"Item": item("new")}}]}}),
    ("ExecuteStatement", {"Statement": "INSERT INTO ttt VALUE {'pk': 'new'}"}),
]


@pytest.mark.parametrize(("operation", "request_"), SINGLE_READS)
def test_a_read_without_capacity_is_refused(operation: str, request_: dict[str, Any]) -> None:
    service = Guarded()
    service.put("k")
    service.call(operation, **request_)
    service.call(operation, **request_)
    service.model.left[READS] = 0
    before = service.model.charged[READS]
    error = service.error(operation, **request_)
    assert (error.code, error.message) == ("ProvisionedThroughputExceededException", TABLE_WORDS)
    assert error.fields == {
        "ThrottlingReasons": [{"reason": "TableReadProvisionedThroughputExceeded", "resource": ARN}]
    }
    assert service.model.charged[READS] == before


@pytest.mark.parametrize(("operation", "request_"), SINGLE_WRITES)
def test_a_write_without_capacity_is_refused_and_writes_nothing(
    operation: str, request_: dict[str, Any]
) -> None:
    service = Guarded()
    service.put("k")
    service.model.left[WRITES] = 0
    error = service.error(operation, **request_)
    assert (error.code, error.message) == ("ProvisionedThroughputExceededException", TABLE_WORDS)
    assert error.fields == {
        "ThrottlingReasons": [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": ARN}]
    }
    assert service.has("k")
    assert not service.has("new")
    assert service.model.charged[WRITES] == 1.0


def test_one_large_request_passes_and_the_next_wait() -> None:
    service = Guarded()
    service.model.left[WRITES] = 1
    service.put("large", b="x" * 5000)
    assert service.model.left[WRITES] == -4
    assert service.refused("PutItem", TableName="ttt", Item=item("k"))[0] == (
        "ProvisionedThroughputExceededException"
    )


def test_an_index_is_read_from_its_own_capacity() -> None:
    service = Guarded()
    service.put("k", a="a")
    service.model.left["ttt", "ggg", False] = 0
    error = service.error("Scan", TableName="ttt", IndexName="ggg")
    assert error.message is not None
    assert error.message.startswith(
        "The level of configured provisioned throughput for one or more global secondary indexes of the table"
    )
    assert error.fields == {
        "ThrottlingReasons": [
            {"reason": "IndexReadProvisionedThroughputExceeded", "resource": f"{ARN}/index/ggg"}
        ]
    }
    service.call("Scan", TableName="ttt")


@pytest.mark.parametrize(
    ("limits", "code", "member", "words"),
    [
        (
            ("KeyRangeThroughputExceeded",),
            "ThrottlingException",
            "throttlingReasons",
            (
                "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling "
                "your table or index so please try again shortly. If exceptions persist, check if you have a hot key: "
                "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
            ),
        ),
        (
            ("MaxOnDemandThroughputExceeded", "KeyRangeThroughputExceeded"),
            "ThrottlingException",
            "throttlingReasons",
            "Throughput exceeds the maximum OnDemandThroughput configured on table or index",
        ),
        (
            ("AccountLimitExceeded",),
            "RequestLimitExceeded",
            "ThrottlingReasons",
            (
                "Throughput exceeds the current throughput limit for your account. To request a limit increase, "
                "contact AWS Support at https://aws.amazon.com/support"
            ),
        ),
    ],
)
def test_on_demand_tables_have_another_exception(limits: Any, code: str, member: str, words: str) -> None:
    service = Guarded(on_demand=True)
    service.model.left[READS] = 0
    service.model.limits = limits
    error = service.error("GetItem", TableName="ttt", Key=key("k"))
    assert (error.code, error.message) == (code, words)
    assert error.fields == {
        member: [{"reason": f"TableRead{limit}", "resource": ARN} for limit in limits],
    }


def test_a_batch_gives_back_the_keys_that_found_no_capacity() -> None:
    service = Guarded()
    service.model.left[READS] = 1
    keys = [key(str(number)) for number in range(5)]
    part = {"Keys": keys, "ConsistentRead": True, "ProjectionExpression": "pk"}
    answer = service.call("BatchGetItem", RequestItems={"ttt": part}, ReturnConsumedCapacity="TOTAL")
    assert answer["UnprocessedKeys"] == {"ttt": {**part, "Keys": keys[1:]}}
    assert answer["ConsumedCapacity"] == [{"TableName": "ttt", "CapacityUnits": 1.0}]
    assert service.model.charged[READS] == 1.0


def test_a_batch_gives_back_the_writes_that_found_no_capacity() -> None:
    service = Guarded()
    service.put("k")
    service.model.left[WRITES] = 2
    writes: list[dict[str, Any]] = [
        {"PutRequest": {"Item": item("1")}},
        {"DeleteRequest": {"Key": key("k")}},
        {"PutRequest": {"Item": item("3")}},
        {"DeleteRequest": {"Key": key("4")}},
    ]
    answer = service.call("BatchWriteItem", RequestItems={"ttt": writes}, ReturnConsumedCapacity="TOTAL")
    assert answer["UnprocessedItems"] == {"ttt": writes[2:]}
    assert answer["ConsumedCapacity"] == [{"TableName": "ttt", "CapacityUnits": 2.0}]
    assert service.has("1")
    assert not service.has("k")
    assert not service.has("3")


@pytest.mark.parametrize("operation", ["TransactWriteItems", "ExecuteTransaction"])
def test_a_transaction_is_cancelled_as_a_whole(operation: str) -> None:
    service = Guarded()
    service.model.left[WRITES] = 2  # which the first item takes
    requests: dict[str, dict[str, Any]] = {
        "TransactWriteItems": {
            "TransactItems": [{"Put": {"TableName": "ttt", "Item": item(pk)}} for pk in ("1", "2")]
        },
        "ExecuteTransaction": {
            "TransactStatements": [
                {"Statement": f"INSERT INTO ttt VALUE {{'pk': '{pk}'}}"} for pk in ("1", "2")
            ]
        },
    }
    error = service.error(operation, **requests[operation])
    assert error.code == "TransactionCanceledException"
    assert error.message == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ProvisionedThroughputExceeded]"
    )
    assert error.fields["CancellationReasons"] == [
        {"Code": "None"},
        {"Code": "ProvisionedThroughputExceeded", "Message": TABLE_WORDS},
    ]
    assert service.model.left[WRITES] == 2
    assert not service.has("1")
    assert [refusal.write for refusal in error.refusals] == [True]


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        (
            "TransactGetItems",
            {"TransactItems": [{"Get": {"TableName": "ttt", "Key": key(pk)}} for pk in "12"]},
        ),
        (
            "ExecuteTransaction",
            {"TransactStatements": [{"Statement": f"SELECT * FROM ttt WHERE pk = '{pk}'"} for pk in "12"]},
        ),
    ],
)
def test_a_reading_transaction_is_cancelled_as_a_whole(operation: str, request_: dict[str, Any]) -> None:
    service = Guarded(on_demand=True)
    service.model.limits = ("KeyRangeThroughputExceeded",)
    service.model.left[READS] = 2
    error = service.error(operation, **request_)
    reasons: Any = error.fields["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ThrottlingError"]
    assert service.model.left[READS] == 2


def test_a_batch_of_statements_reports_each() -> None:
    service = Guarded()
    service.model.left[WRITES] = 1
    statements = [{"Statement": f"INSERT INTO ttt VALUE {{'pk': '{pk}'}}"} for pk in ("1", "2")]
    answer = service.call("BatchExecuteStatement", Statements=statements)
    assert answer["Responses"] == [
        {"TableName": "ttt"},
        {"Error": {"Code": "ProvisionedThroughputExceeded", "Message": TABLE_WORDS}},
    ]
    service.model.left[READS] = 0.5
    statements = [{"Statement": f"SELECT * FROM ttt WHERE pk = '{pk}'"} for pk in ("1", "2")]
    answer = service.call("BatchExecuteStatement", Statements=statements)
    assert answer["Responses"][0]["Item"] == item("1")
    assert answer["Responses"][1]["Error"]["Code"] == "ProvisionedThroughputExceeded"


def test_a_statement_of_several_reads_ends_its_page_early() -> None:
    service = Guarded()
    for pk in "123":
        service.put(pk)
    service.model.left[READS] = 1.0
    statement = {"Statement": "SELECT * FROM ttt WHERE pk IN ['1', '2', '3']"}
    first = service.call("ExecuteStatement", **statement)
    assert len(first["Items"]) == 2
    service.model.left[READS] = 1.0
    rest = service.call("ExecuteStatement", **statement, NextToken=first["NextToken"])
    assert {row["pk"]["S"] for row in first["Items"] + rest["Items"]} == {"1", "2", "3"}


def test_a_failed_condition_is_charged() -> None:
    service = Guarded()
    service.put("k", b="x" * 3000)
    charged = service.model.charged[WRITES]
    condition = {"ConditionExpression": "attribute_not_exists(pk)"}
    assert service.refused("PutItem", TableName="ttt", Item=item("k"), **condition)[0] == (
        "ConditionalCheckFailedException"
    )
    assert service.model.charged[WRITES] == charged + 3.0


def test_an_index_that_cannot_keep_up_refuses_all_writes_of_its_table() -> None:
    service = Guarded()
    place = ("ttt", "ggg", True)
    service.model.left[place] = 0
    for number in range(int(QUEUE_UNITS_MIN)):
        service.put(str(number), a="a")
    assert service.model.charged[place] == 0
    error = service.error("PutItem", TableName="ttt", Item=item("not in the index"))
    assert error.fields == {
        "ThrottlingReasons": [
            {"reason": "IndexWriteProvisionedThroughputExceeded", "resource": f"{ARN}/index/ggg"}
        ]
    }
    service.model.left[place] = 2
    service.put("not in the index")
    assert service.model.charged[place] == 2
    service.model.left[place] = 1000
    service.put("not in the index")
    assert service.model.charged[place] == QUEUE_UNITS_MIN


@pytest.mark.parametrize(
    ("mode", "tag", "refuses"),
    [
        ("off", None, False),
        ("meter", None, False),
        ("meter", "enforce", True),
        ("off", "enforce", True),
        ("enforce", None, True),
        ("enforce", "meter", False),
        ("enforce", "off", False),
    ],
)
def test_a_tag_overrides_the_setting(mode: str, tag: str | None, refuses: bool) -> None:
    service = Guarded(mode, tag=tag)
    service.model.left[READS] = 0
    if refuses:
        assert service.refused("Scan", TableName="ttt")[0] == "ProvisionedThroughputExceededException"
    else:
        service.call("Scan", TableName="ttt")
        assert not service.model.charged
