"""Every single operation on the disk fails once (or one in ten of them), under a service that does a bit of everything.

`tests/storage/test_sqlite_faults.py` does the same to the engine alone, with longer faults and with power cuts.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from clocked import Clocked
from faults.stores import fact, fill, note, opened
from faults.tables import FACTS, NOTES
from hashrange.storage.errors import Conflict, StorageError
from hashrange.storage.sqlite import SqliteEngine, checkpoint
from hashrange.storage.sqlite.read_only import ReadOnlyStore
from hashrange.storage.verification import verify
from sizes import size
from storage.faulty_disk import FaultyDisk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

# With 1 every operation fails in its turn, which takes minutes; the usual run of the tests takes one in so many.
STRIDE = int(os.environ.get("HASHRANGE_IO_STRIDE", size(23, 10)))
KINDS = {"I/O error": apsw.IOError, "disk full": apsw.FullError}
_NUMBER = 7

Request = tuple[str, dict[str, Any]]
Item = dict[str, Any] | None


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints are part of the work."""
    monkeypatch.setattr(checkpoint, "LOG_PAGES_START", 12)


def _fact_key(number: int) -> dict[str, Any]:
    return {name: fact(number)[name] for name in ("pk", "sk")}


_NEW = {**fact(100), "text": {"S": "new"}}
_MORE = {**fact(101), "text": {"S": "x" * 20_000}}
_TRANSACTED = [{**fact(number), "text": {"S": "transacted"}} for number in (102, 103)]

# What is written, the items that it changes, and what they are afterwards.
WRITES: list[tuple[Request, list[tuple[dict[str, Any], Item]]]] = [
    (("PutItem", {"TableName": FACTS, "Item": _NEW}), [(_fact_key(100), _NEW)]),
    (("PutItem", {"TableName": FACTS, "Item": _MORE}), [(_fact_key(101), _MORE)]),
    (
        (
            "UpdateItem",
            {
                "TableName": FACTS,
                "Key": _fact_key(3),
                "UpdateExpression": "SET #t = :t",
                "ExpressionAttributeNames": {"#t": "text"},
                "ExpressionAttributeValues": {":t": {"S": "updated"}},
            },
        ),
        [(_fact_key(3), {**fact(3), "text": {"S": "updated"}})],
    ),
    (
        (
            "TransactWriteItems",
            {
                "TransactItems": [{"Put": {"TableName": FACTS, "Item": item}} for item in _TRANSACTED],
                "ClientRequestToken": "every-operation",
            },
        ),
        [(_fact_key(102), _TRANSACTED[0]), (_fact_key(103), _TRANSACTED[1])],
    ),
    (("DeleteItem", {"TableName": FACTS, "Key": _fact_key(_NUMBER)}), [(_fact_key(_NUMBER), None)]),
]


class Worked:
    """What was tried on a disk that fails, and what was acknowledged."""

    def __init__(self, directory: Path) -> None:
        self.acknowledged: set[int] = set()
        self.table_deleted = False
        engine = _opened_patiently(directory)
        try:
            service = self._serve(engine)
            if service is not None:
                self._write(service)
        finally:
            engine.close()

    @staticmethod
    def _serve(engine: SqliteEngine) -> Clocked | None:
        try:
            service = Clocked(engine)
        except StorageError:
            return None  # a server whose catalogue cannot be read does not start
        service.clock.advance(1000)
        return service

    def _write(self, service: Clocked) -> None:
        for number, ((operation, request), _) in enumerate(WRITES):
            if _succeeds(lambda operation=operation, request=request: service.call(operation, **request)):
                self.acknowledged.add(number)
        self.table_deleted = _succeeds(lambda: service.call("DeleteTable", TableName=NOTES))
        service.clock.advance(2)
        for _ in range(3):
            _succeeds(service.run_jobs)
        _succeeds(lambda: service.engine.maintain(1000))


def _opened_patiently(directory: Path) -> SqliteEngine:
    for _ in range(3):
        try:
            return SqliteEngine.open(directory)
        except StorageError:
            continue
    return SqliteEngine.open(directory)


def _succeeds(work: Callable[[], object]) -> bool:
    try:
        work()
    except StorageError as error:
        assert not isinstance(error, Conflict)  # noqa: PT017 - any other storage error will do
        return False
    return True


def _check(directory: Path, worked: Worked) -> None:
    """Nothing acknowledged is lost, nothing is there by half, and the next server goes on."""
    with opened(directory) as service:
        for number, (_, effects) in enumerate(WRITES):
            applied = {_item(service, key) == item for key, item in effects}
            assert len(applied) == 1, "half of a transaction"
            if number in worked.acknowledged:
                assert applied == {True}, WRITES[number][0]
        service.settle()
        tables = service.call("ListTables")["TableNames"]
        assert tables in ([FACTS], [FACTS, NOTES])
        assert not (worked.table_deleted and NOTES in tables)
        service.call("PutItem", TableName=FACTS, Item=fact(200))
        if NOTES in tables:
            service.call("PutItem", TableName=NOTES, Item=note(200))
    store = ReadOnlyStore(directory)
    try:
        assert verify(store, lambda _rows: None).problem_count == 0
    finally:
        store.close()


def _item(service: Clocked, key: dict[str, Any]) -> Item:
    answer: dict[str, Any] = service.call("GetItem", TableName=FACTS, Key=key)
    return answer.get("Item")


@pytest.mark.parametrize("reads", [False, True], ids=["writes", "reads"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_nth_operation_fails_for_every_n(
    disk: FaultyDisk, tmp_path: Path, kind: str, *, reads: bool
) -> None:
    whole = tmp_path / "whole"
    with opened(whole) as service:
        fill(service)
    disk.counts_reads = reads
    failing = 1
    while True:
        directory = tmp_path / f"data{failing}"
        shutil.copytree(whole, directory)
        disk.count = disk.refused = 0
        disk.refuse = lambda number, _what, _file, failing=failing: KINDS[kind] if number == failing else None
        worked = Worked(directory)
        refused = disk.refused
        disk.refuse = lambda *_: None
        _check(directory, worked)
        shutil.rmtree(directory)
        for file in disk.shadow.iterdir():
            file.unlink()
        if not refused:
            break
        failing += STRIDE
    assert worked.acknowledged == set(range(len(WRITES)))
    assert worked.table_deleted
    assert disk.count > 40
