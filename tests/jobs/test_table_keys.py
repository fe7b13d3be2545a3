"""The data key of a table that is gone goes, once nothing is left under it, and not before."""

from clocked import Clocked
from hashrange.core.keys.encoding import prefix_end
from hashrange.jobs.table_keys import DropDataKeys
from hashrange.kms.wrapping import Wrapping
from hashrange.storage import layout
from hashrange.storage.data_keys import DataKeys
from hashrange.storage.encrypting import open_encrypted
from hashrange.storage.engine import Engine
from hashrange.storage.sqlite import MemoryEngine

DAY_SECONDS = 86_400


def data_keys(engine: Engine) -> list[bytes]:
    rows = engine.read(lambda reader: list(reader.scan(layout.DATA_KEY, prefix_end(layout.DATA_KEY))))
    return [key[len(layout.DATA_KEY) :] for key, _ in rows]


def make(service: Clocked, **settings: object) -> bytes:
    """Make a table with an item; give its number."""
    service.call(
        "CreateTable",
        TableName="tab",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
        **settings,
    )
    service.settle()
    service.call("PutItem", TableName="tab", Item={"p": {"S": "a"}})
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    return table.number.to_bytes(4, "big")


def drop(service: Clocked) -> None:
    service.settle()
    DropDataKeys(service.engine).step(service.clock.now())


def encrypted(base: Engine) -> Clocked:
    return Clocked(open_encrypted(base, DataKeys(Wrapping(bytes(32)))))


def test_the_key_of_a_table_goes_with_its_last_row() -> None:
    base = MemoryEngine()
    service = encrypted(base)
    number = make(service)
    drop(service)
    assert number in data_keys(base)
    service.call("DeleteTable", TableName="tab")
    service.clock.advance(2)
    service.settling.step(service.clock.now())
    DropDataKeys(service.engine).step(service.clock.now())
    assert number in data_keys(base)  # its rows are still there
    drop(service)
    assert number not in data_keys(base)
    rows = base.read(lambda reader: list(reader.scan(layout.TABLE_KEY, prefix_end(layout.TABLE_KEY))))
    assert rows == []


def test_the_key_stays_as_long_as_the_stream_can_be_read() -> None:
    base = MemoryEngine()
    service = encrypted(base)
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    number = make(service, StreamSpecification=stream)
    service.call("DeleteTable", TableName="tab")
    drop(service)
    assert number in data_keys(base)
    service.clock.advance(2 * DAY_SECONDS)
    drop(service)
    assert number not in data_keys(base)
