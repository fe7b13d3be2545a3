"""Bulk put: records with conditions, and the reports of what was not put."""

import json

import orjson
import pytest

from hashrange.formats.bulk_records import (
    BulkRecord,
    bulk_records,
    condition_failure_line,
    error_line,
    report_folder,
)
from hashrange.formats.compression import packer
from hashrange.formats.errors import ItemPointer, Rejection, import_error_line
from schemas import table

TABLE = table("pk:S")
RECORD = {
    "Item": {"pk": {"S": "a"}, "n": {"N": "1.0"}},
    "ConditionExpression": "attribute_not_exists(#p) OR #n < :n",
    "ExpressionAttributeNames": {"#p": "pk", "#n": "n"},
    "ExpressionAttributeValues": {":n": {"N": "05"}},
}
ION = (
    b'{Item:{pk:"a",n:1.0},ConditionExpression:"attribute_not_exists(#p) OR #n < :n",'
    b"ExpressionAttributeNames:{'#p':\"pk\",'#n':\"n\"},ExpressionAttributeValues:{':n':5}}"
)


def test_a_record_has_an_item_and_a_condition() -> None:
    for record in (
        next(bulk_records([orjson.dumps(RECORD)], "DYNAMODB_JSON", "NONE", TABLE)),
        next(bulk_records([ION], "ION", "NONE", TABLE)),
    ):
        assert isinstance(record, BulkRecord)
        assert record.command.item == {"pk": {"S": "a"}, "n": {"N": "1"}}
        assert record.condition_expression == "attribute_not_exists(#p) OR #n < :n"
        assert record.expression_attribute_names == {"#p": "pk", "#n": "n"}
        assert record.expression_attribute_values == {":n": {"N": "5"}}


def test_a_condition_may_be_missing() -> None:
    packing = packer("GZIP")
    data = packing.pack(b'{"Item":{"pk":{"S":"a"}}}') + packing.finish()
    (record,) = bulk_records([data], "DYNAMODB_JSON", "GZIP", TABLE)
    assert isinstance(record, BulkRecord)
    assert record.condition_expression is None


@pytest.mark.parametrize(
    "members",
    [
        {"ConditionExpression": 1},
        {"ExpressionAttributeNames": []},
        {"ExpressionAttributeNames": {"#a": 1}},
        {"ExpressionAttributeValues": []},
        {"ExpressionAttributeValues": {":a": 1}},
        {"Item": 1},
    ],
)
def test_members_of_other_types_stop_the_object(members: dict[str, object]) -> None:
    lines = [orjson.dumps(RECORD), orjson.dumps({**RECORD, **members}), orjson.dumps(RECORD)]
    found = list(bulk_records([b"\n".join(lines)], "DYNAMODB_JSON", "NONE", TABLE))
    assert [type(record) for record in found] == [BulkRecord, Rejection]
    assert isinstance(found[1], Rejection)
    assert (found[1].index, found[1].stops) == (1, True)


def test_an_item_or_value_that_is_refused_is_skipped() -> None:
    lines = [
        orjson.dumps({**RECORD, "Item": {"x": {"S": "a"}}}),
        orjson.dumps({**RECORD, "ExpressionAttributeValues": {":n": {"N": "x"}}}),
        orjson.dumps(RECORD),
    ]
    found = list(bulk_records([b"\n".join(lines)], "DYNAMODB_JSON", "NONE", TABLE))
    assert [type(record) for record in found] == [Rejection, Rejection, BulkRecord]


def test_reports_say_where_the_record_was() -> None:
    rejection = Rejection(3, "Missing the key")
    assert json.loads(error_line("arn", "b", "k", rejection)) == {
        "itemS3Pointer": {"bucket": "b", "key": "k", "itemIndex": 3},
        "bulkOperationArn": "arn",
        "errorMessages": ["Missing the key"],
    }
    pointer = ItemPointer("b", "k", 3)
    item = {"pk": {"S": "a"}}
    line = condition_failure_line(pointer, item, {"pk": {"S": "a"}, "n": {"N": "1"}})
    assert json.loads(line) == {
        "itemS3Pointer": {"bucket": "b", "key": "k", "itemIndex": 3},
        "Item": item,
        "ExistingItem": {"pk": {"S": "a"}, "n": {"N": "1"}},
    }
    assert "ExistingItem" not in json.loads(condition_failure_line(pointer, item, None))
    assert report_folder("p/", "01-ab", "ERROR") == "p/AWSDynamoDB/01-ab/errors/"
    assert report_folder(None, "01-ab", "CONDITION_CHECK_FAILURE") == (
        "AWSDynamoDB/01-ab/condition-check-failures/"
    )


def test_an_import_s_error_log_has_the_service_s_form() -> None:
    message = "One or more parameter values were invalid: Missing the key pk in the item"
    line = import_error_line("arn", "b", "k", Rejection(0, message))
    assert line == (
        b'{"itemS3Pointer":{"bucket":"b","key":"k","itemIndex":0},"importArn":"arn",'
        b'"errorMessages":["' + message.encode() + b'"]}\n'
    )
