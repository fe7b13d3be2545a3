"""Nothing of an attribute's value is in any file of a server with a root key, however it ended."""

import random
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from canaries import KEY, leaks, make_table, marks, run_jobs, write_items
from encrypted_store import encrypted_store
from hashrange.cli import main
from hashrange.core.keys.encoding import prefix_end
from hashrange.storage import layout
from hashrange.storage.data_keys import is_plain
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.errors import DamagedRow
from hashrange.storage.scratch import ScratchFile
from hashrange.storage.sqlite import SqliteEngine
from new_tables import request as new_table
from serving import serving

MakeClient = Callable[..., Any]
_FLIPS = 150
_SORTED = (layout.ROWS, layout.PAST)  # whose keys have those of items in them, because they must sort


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_value_is_in_any_file(
    tmp_path: Path, root_key_file: Path, make_client: MakeClient, number: signal.Signals
) -> None:
    data, buckets, temporary = (tmp_path / name for name in ("data", "buckets", "temporary"))
    (buckets / "bucket").mkdir(parents=True)
    temporary.mkdir()
    flags = ("--data-dir", str(data), "--s3", str(buckets), "--transition-ms", "0", "--log-level", "debug")
    more = ("--root-key", f"file:{root_key_file}", "--audit-log", str(data / "audit.jsonl"), "--ttl-lag", "0")
    with serving(*flags, *more, environment={"TMPDIR": str(temporary)}) as running:
        client = make_client(endpoint=running.endpoint)
        make_table(client, "canaries")
        write_items(client, "canaries")
        run_jobs(client, "canaries", buckets / "bucket")
        write_items(client, "canaries-restored")
        assert leaks(data, temporary) == []  # with the database's log
        running.stop(number)
        log = running.log_text()
    assert leaks(data, temporary) == []
    assert [mark for mark in marks() if mark in log.encode()] == []
    exported = buckets / "bucket" / "AWSDynamoDB"
    assert len(list(exported.glob("*/data/*.json.gz"))) >= 1
    assert leaks(exported) == []
    assert leaks(buckets / "bucket" / "in") != []  # what somebody else put there is as they did
    decrypted = tmp_path / "decrypted"
    words = ("root-key", "decrypt", str(exported), "--to", str(decrypted))
    assert main([*words, "--root-key", f"file:{root_key_file}"]) == 0
    assert leaks(decrypted) != []  # also inside of gzip
    check_keys(data)


def check_keys(data: Path) -> None:
    """Keys of items are in keys of rows that must sort, and in nothing else."""
    with closing(SqliteEngine.open(data)) as engine:
        rows = engine.read(lambda reader: list(reader.scan(b"", b"\xff" * 8)))
    mark = KEY.encode()
    assert any(mark in key for key, _ in rows)
    found = [key for key, value in rows if mark in value or (mark in key and not key.startswith(_SORTED))]
    assert [layout.describe(key) for key in found] == []


def filled(data: Path, root_key_file: Path) -> None:
    with encrypted_store(data, root_key_file) as service:
        service.call("CreateTable", **new_table("pk", TableName="one"))
        service.settle()
        for number in range(30):
            item = {"pk": {"S": f"k{number}"}, "v": {"S": "x" * number}}
            service.call("PutItem", TableName="one", Item=item)
        service.call("CreateBackup", TableName="one", BackupName="name")
        service.settle()


def test_a_flipped_bit_of_any_row_is_reported_and_never_returned(tmp_path: Path, root_key_file: Path) -> None:
    filled(tmp_path / "data", root_key_file)
    with encrypted_store(tmp_path / "data", root_key_file) as service:
        engine = service.engine
        stored: SqliteEngine = engine._engine  # type: ignore[attr-defined]
        rows = stored.read(lambda reader: list(reader.scan(b"\x01", b"\xff" * 8)))
        sealed = [row for row in rows if not is_plain(row[0])]
        assert {key[:1] for key, _ in sealed} >= {layout.ROWS, layout.CATALOGUE, layout.JOB}
        chance = random.Random(11)
        for _ in range(_FLIPS):
            key, value = chance.choice(sealed)
            bit = chance.randrange(8 * len(value))
            changed = bytearray(value)
            changed[bit // 8] ^= 1 << bit % 8
            _put(stored, key, bytes(changed))
            with pytest.raises(DamagedRow):
                engine.read(lambda reader, key=key: reader.get(key))
            with pytest.raises(DamagedRow):
                engine.read(lambda reader, key=key: _scanned(reader, key))
            _put(stored, key, value)


def _put(engine: SqliteEngine, key: bytes, value: bytes) -> None:
    def step(tx: Transaction) -> None:
        tx.put(key, value)

    engine.write(step)


def _scanned(reader: Reader, key: bytes) -> list[tuple[bytes, bytes]]:
    return list(reader.scan(key, prefix_end(key)))


def test_a_scratch_file_has_no_value_in_it(tmp_path: Path) -> None:
    opened = Path("/proc/self/fd")
    if not opened.exists():
        pytest.skip("only Linux shows the files that have no name")
    table = "CREATE TABLE t(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID"
    for is_encrypted in (True, False):
        file = ScratchFile(tmp_path, table, encrypted=is_encrypted)
        rows = [
            (key, file.stored(key, b"canary " * 50)) for key in (b"%d" % number for number in range(3000))
        ]
        file.write([("INSERT INTO t VALUES (?, ?)", rows)])
        found = b"".join(link.read_bytes() for link in opened.iterdir() if _is_scratch(link))
        assert len(found) > 100_000
        assert (b"canary" in found) is not is_encrypted
        ((key, stored),) = file.rows("SELECT k, v FROM t WHERE k = ?", (b"7",))
        assert isinstance(key, bytes)
        assert isinstance(stored, bytes)
        assert file.opened(key, stored) == b"canary " * 50
        file.close()


def _is_scratch(link: Path) -> bool:
    try:
        return "scratch-" in str(link.readlink())
    except OSError:
        return False


def test_the_past_of_an_encrypted_table_is_read_through_an_encrypted_scratch_file(
    tmp_path: Path, root_key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []
    real = ScratchFile.__init__

    def noted(self: ScratchFile, directory: Path | None, table: str, *, encrypted: bool = False) -> None:
        made.append(encrypted)
        real(self, directory, table, encrypted=encrypted)

    monkeypatch.setattr(ScratchFile, "__init__", noted)
    filled(tmp_path / "data", root_key_file)
    assert made
    assert all(made)
