"""The data key of a table that is gone goes, once nothing is left under it, and not before."""

from uuid import UUID

import pytest

from clocked import Clocked
from hashrange.api.keys.new_keys import new_key
from hashrange.core.keys.encoding import prefix_end
from hashrange.jobs.table_keys import DropDataKeys
from hashrange.kms.vault import Vault
from hashrange.kms.wrapping import Wrapping
from hashrange.storage import key_rows, layout
from hashrange.storage.data_keys import DataKeys
from hashrange.storage.encrypting import open_encrypted
from hashrange.storage.engine import Engine
from hashrange.storage.errors import KeyUnusable
from hashrange.storage.setting_rows import Place
from hashrange.storage.sqlite import MemoryEngine

DAY_SECONDS = 86_400
ROOT = Wrapping(bytes(32))
PLACE = Place("000000000000", "us-east-1")


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


def encrypted(base: Engine, keys: DataKeys | None = None) -> Clocked:
    return Clocked(open_encrypted(base, keys or DataKeys(ROOT)))


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


def test_a_lost_key_stops_neither_the_stream_of_a_table_nor_others_from_going() -> None:
    base = MemoryEngine()
    keys = DataKeys(ROOT)
    service = encrypted(base, keys)
    kms_key = new_key(Vault(ROOT), PLACE, str(UUID(int=1)), service.clock.now())
    service.engine.write(lambda tx: key_rows.save_key(tx, PLACE, kms_key))
    arn = key_rows.key_arn(PLACE, kms_key.id)
    number = make(
        service,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": arn},
    )
    service.engine.write(lambda tx: key_rows.remove_key(tx, PLACE, kms_key.id))
    for _ in range(2):
        keys.forget(service.clock.now(), 0)
    with pytest.raises(KeyUnusable):
        service.call("GetItem", TableName="tab", Key={"p": {"S": "a"}})
    service.run_jobs()
    service.call("DeleteTable", TableName="tab")
    drop(service)
    assert number in data_keys(base)
    service.clock.advance(2 * DAY_SECONDS)
    drop(service)
    assert number not in data_keys(base)
    logs = base.read(lambda reader: list(reader.scan(layout.LOG, prefix_end(layout.LOG))))
    assert logs == []
