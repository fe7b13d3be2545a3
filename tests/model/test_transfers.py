"""What is exported comes in again, and a full export with a later difference is the later state."""

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import value_strategies
from clocked import Clocked
from hashrange import cli
from hashrange.core import values
from hashrange.core.values import Item
from hashrange.formats import dynamodb_json, ion_reader
from hashrange.formats.compression import unpacked
from hashrange.formats.records import changes
from hashrange.storage import history
from hashrange.storage.engine import Engine
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import SqliteEngine
from item_tables import definitions, key_schema
from new_tables import request as new_table
from postgres_server import PostgresServer

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"
FORMATS = ["DYNAMODB_JSON", "ION"]

tables = st.dictionaries(st.integers(0, 99), value_strategies.items, max_size=6)


def new_service(engine: Engine | None = None) -> Clocked:
    service = Clocked(engine, transition_ms=0)
    service.make_bucket()
    service.call("CreateTable", **new_table("pk", TableName="tab"))
    service.settle()
    spec = {"PointInTimeRecoveryEnabled": True}
    service.call("UpdateContinuousBackups", TableName="tab", PointInTimeRecoverySpecification=spec)
    return service


def scan(service: Clocked, name: str) -> dict[str, Item]:
    return {
        item["pk"]["S"]: values.canonical_item(item) for item in service.call("Scan", TableName=name)["Items"]
    }


def export(service: Clocked, **options: Any) -> Any:
    request = {"TableArn": ARN, "S3Bucket": "bucket", **options}
    arn = service.call("ExportTableToPointInTime", **request)["ExportDescription"]["ExportArn"]
    service.run_jobs()
    return service.call("DescribeExport", ExportArn=arn)["ExportDescription"]


def imported(service: Clocked, export_arn: str, input_format: str) -> dict[str, Item]:
    prefix = f"AWSDynamoDB/{export_arn.rpartition('/')[2]}/data/"
    answer = service.call(
        "ImportTable",
        S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": prefix},
        InputFormat=input_format,
        InputCompressionType="GZIP",
        TableCreationParameters={
            "TableName": "copy",
            "KeySchema": key_schema("pk"),
            "AttributeDefinitions": definitions(pk="S"),
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    service.run_jobs()
    arn = answer["ImportTableDescription"]["ImportArn"]
    done = service.call("DescribeImport", ImportArn=arn)["ImportTableDescription"]
    assert done["ImportStatus"] == "COMPLETED", done
    return scan(service, "copy")


@pytest.mark.parametrize("form", FORMATS)
@given(table=tables)
@settings(max_examples=25, deadline=None)
def test_what_is_exported_is_imported_again(form: str, table: dict[int, Item]) -> None:
    service = new_service()
    for number, attributes in table.items():
        service.call("PutItem", TableName="tab", Item={**attributes, "pk": {"S": f"k{number}"}})
    description = export(service, ExportFormat=form)
    assert description["ItemCount"] == len(table)
    assert imported(service, description["ExportArn"], form) == scan(service, "tab")


class Past:
    """A table with a random history, and its state at the end of every second that had writes."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.service = new_service(engine)
        self.random = random.Random(seed)
        self.model: dict[str, Item] = {}

    def live(self, writes: int) -> None:
        for _ in range(writes):
            key = f"k{self.random.randrange(30)}"
            if self.random.random() < 0.3:
                self.model.pop(key, None)
                self.service.call("DeleteItem", TableName="tab", Key={"pk": {"S": key}})
            else:
                self.model[key] = {"pk": {"S": key}, "v": {"N": str(self.random.randrange(5))}}
                self.service.call("PutItem", TableName="tab", Item=self.model[key])
            self.service.clock.advance(self.random.choice([0, 0.3, 7, 60]))

    def next_second(self) -> int:
        self.service.clock.advance(1 - self.service.clock.now() % 1)
        return int(self.service.clock.now())

    def changed_items(self, description: Any, form: str) -> list[Any]:
        bucket = self.service.objects.bucket("bucket")
        summary = orjson.loads(b"".join(bucket.read(description["ExportManifest"])))
        found: list[Any] = []
        files = b"".join(bucket.read(summary["manifestFilesS3Key"])).splitlines()
        for line in files:
            plain = unpacked(bucket.read(orjson.loads(line)["dataFileS3Key"]), "GZIP")
            read = dynamodb_json.records if form == "DYNAMODB_JSON" else ion_reader.records
            found += changes(record for record in read(plain))
        return found


def check_difference(engine: Engine, seed: int, form: str) -> None:
    past = Past(engine, seed)
    past.live(60)
    first = past.next_second()
    at_first = dict(past.model)
    past.live(80)
    past.service.clock.advance(900)
    last = past.next_second()
    at_last = dict(past.model)
    past.live(40)
    past.service.clock.advance(900)
    full = export(past.service, ExportTime=first - 1)
    difference = export(
        past.service,
        ExportFormat=form,
        ExportType="INCREMENTAL_EXPORT",
        IncrementalExportSpecification={"ExportFromTime": first, "ExportToTime": last},
    )
    state = imported(past.service, full["ExportArn"], "DYNAMODB_JSON")
    assert state == at_first
    for change in past.changed_items(difference, form):
        key = change.keys["pk"]["S"]
        assert state.pop(key, None) == change.old_image
        if change.new_image is not None:
            state[key] = change.new_image
    assert state == at_last


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "CHUNK_ROWS", 3)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_a_full_export_and_the_difference_are_the_later_state(tmp_path: Path, seed: int, form: str) -> None:
    with closing(SqliteEngine.open(tmp_path / "data")) as engine:
        check_difference(engine, seed, form)
    assert cli.main(["verify", str(tmp_path / "data")]) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_the_same_on_postgresql(postgres: PostgresServer) -> None:
    with closing(PostgresEngine.open(postgres.url(), schema_name="transfers")) as engine:
        check_difference(engine, 9, "DYNAMODB_JSON")
