"""`hashrange verify` on change logs: a sound one has no problems, and whatever does not fit is reported."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from clocked import Clocked
from hashrange import cli
from hashrange.storage import appends, layout
from hashrange.storage.engine import Transaction
from hashrange.storage.sqlite import SqliteEngine
from stream_tables import Streamed

Damage = Callable[[Transaction], object]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A data directory with an open stream, an old one, and closed shards."""
    engine = SqliteEngine.open(tmp_path)
    table = Streamed(service=Clocked(engine))
    for number in range(40):
        table.put(f"k{number}")
        if number == 10:
            table.switch(None)
            table.switch("KEYS_ONLY")
        if number == 20:
            table.clock.advance(4 * 3600)
            table.service.run_jobs()
    engine.close()
    return tmp_path


def verify(place: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    capsys.readouterr()
    cli.main(["verify", "--json", str(place)])
    return {problem["kind"] for problem in json.loads(capsys.readouterr().out)["problems"]}


def rows(tx: Transaction, prefix: bytes) -> list[tuple[bytes, bytes]]:
    return list(tx.scan(prefix, bytes([prefix[0] + 1])))


def lose_second_record(tx: Transaction) -> None:
    keys = [key for key, _ in rows(tx, layout.LOG)]
    tx.delete(next(b for a, b, c in zip(keys, keys[1:], keys[2:], strict=False) if a[:9] == c[:9]))


def turn_time_back(tx: Transaction) -> None:
    key, value = next(b for a, b in pairwise(rows(tx, layout.LOG)) if a[0][:9] == b[0][:9])
    tx.put(key, bytes(appends.TIME_BYTES) + value[appends.TIME_BYTES :])


def add_record(tx: Transaction) -> None:
    key, value = rows(tx, layout.LOG)[0]
    tx.put(key[:-8] + b"\xff" * 8, value)


def lose_head(tx: Transaction) -> None:
    tx.delete(rows(tx, layout.LOG_HEAD)[0][0])


def lose_shard(tx: Transaction) -> None:
    tx.delete(rows(tx, layout.LOG_SHARD)[0][0])


def lose_stream(tx: Transaction) -> None:
    tx.delete(rows(tx, layout.STREAM)[0][0])


def move_stream(tx: Transaction) -> None:
    key, value = rows(tx, layout.STREAM)[0]
    tx.put(key + b"x", value)


def reopen_stream(tx: Transaction) -> None:
    key, value = rows(tx, layout.STREAM)[0]
    tx.put(key, json.dumps({**json.loads(value), "ended_at": None}).encode())


def spoil(prefix: bytes) -> Damage:
    return lambda tx: tx.put(rows(tx, prefix)[0][0], b"?")


def test_a_sound_log_has_no_problems(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(directory, capsys) == set()


@pytest.mark.parametrize(
    ("damage", "kinds"),
    [
        (lose_second_record, {"missing row"}),
        (turn_time_back, {"wrong sequence"}),
        (add_record, {"wrong sequence"}),
        (lose_head, {"wrong shard", "wrong sequence"}),
        (lose_shard, {"orphan row"}),
        (lose_stream, {"missing row"}),
        (move_stream, {"misplaced row"}),
        (reopen_stream, {"wrong stream"}),
        (spoil(layout.LOG), {"unreadable value"}),
        (spoil(layout.LOG_HEAD), {"unreadable value"}),
        (spoil(layout.LOG_SHARD), {"unreadable value"}),
        (spoil(layout.STREAM), {"unreadable value"}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_what_does_not_fit_is_reported(
    directory: Path, capsys: pytest.CaptureFixture[str], damage: Any, kinds: set[str]
) -> None:
    engine = SqliteEngine.open(directory)
    engine.write(damage)
    engine.close()
    assert verify(directory, capsys) == kinds
