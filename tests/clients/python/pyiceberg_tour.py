"""PyIceberg's DynamoDB catalog: namespaces, tables, renames, conflicts; metadata files lie in a folder."""

import tempfile

import boto3
from pyiceberg.catalog.dynamodb import DynamoDbCatalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from settings import ENDPOINT, refused, unique

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType(), required=False)
)


def caught(call: object, *arguments: object) -> BaseException | None:
    try:
        call(*arguments)  # type: ignore[operator]
    except Exception as problem:  # noqa: BLE001 - the caller looks at its type
        return problem
    return None


def catalog(table: str, warehouse: str) -> DynamoDbCatalog:
    client = boto3.client("dynamodb", endpoint_url=ENDPOINT)
    properties = {
        "table-name": table,
        "warehouse": f"file://{warehouse}",
        "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO",
    }
    made = DynamoDbCatalog("tour", client, **properties)
    client.get_waiter("table_exists").wait(TableName=table)
    return made


def keeps_namespaces(iceberg: DynamoDbCatalog) -> None:
    iceberg.create_namespace("sales", {"owner": "ann"})
    refused(NamespaceAlreadyExistsError, caught(iceberg.create_namespace, "sales"))
    iceberg.update_namespace_properties("sales", removals={"owner"}, updates={"team": "red"})
    assert iceberg.load_namespace_properties("sales") == {"team": "red"}
    for number in range(5):
        iceberg.create_namespace(f"n{number}")
    assert len(iceberg.list_namespaces()) == 6
    refused(NoSuchNamespaceError, caught(iceberg.load_namespace_properties, "nowhere"))


def keeps_tables(iceberg: DynamoDbCatalog) -> None:
    iceberg.create_table("sales.orders", SCHEMA, properties={"reviewed": "yes"})
    refused(TableAlreadyExistsError, caught(iceberg.create_table, "sales.orders", SCHEMA))
    iceberg.create_table("sales.customers", SCHEMA)
    assert sorted(iceberg.list_tables("sales")) == [("sales", "customers"), ("sales", "orders")]
    refused(NamespaceNotEmptyError, caught(iceberg.drop_namespace, "sales"))


def renames_and_drops(iceberg: DynamoDbCatalog) -> None:
    iceberg.rename_table("sales.orders", "sales.purchases")
    refused(NoSuchTableError, caught(iceberg.load_table, "sales.orders"))
    assert iceberg.load_table("sales.purchases").schema().find_field("name").field_id == 2
    for name in ("sales.purchases", "sales.customers"):
        iceberg.drop_table(name)
    refused(NoSuchTableError, caught(iceberg.drop_table, "sales.customers"))
    iceberg.drop_namespace("sales")
    assert len(iceberg.list_namespaces()) == 5


with tempfile.TemporaryDirectory() as folder:
    iceberg = catalog(unique("iceberg"), folder)
    keeps_namespaces(iceberg)
    keeps_tables(iceberg)
    renames_and_drops(iceberg)
print("tour complete")
