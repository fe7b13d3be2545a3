"""Rows joined by the compiled helper are those that SQLite's own functions join."""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.storage.checksums import CHECKSUM_BYTES
from hashrange.storage.engine import Joined, Reader, Transaction
from hashrange.storage.errors import Corrupt, Unavailable
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine, joined_rows, schema
from hashrange.storage.sqlite.large_values import ROW_BYTES_MAX
from hashrange.storage.sqlite.reader import SnapshotReader
from storage.faulty_disk import FaultyDisk

if joined_rows.helper is None:
    pytest.skip("the helpers were not built", allow_module_level=True)

HEAD = 5

keys = st.binary(max_size=6)
sizes = st.sampled_from((0, 3, CHECKSUM_BYTES + HEAD - 1, CHECKSUM_BYTES + HEAD, 20, 600, 2000))
large = st.sampled_from(
    (CHECKSUM_BYTES + HEAD - 1, 5000, joined_rows.VALUE_BYTES_MAX, joined_rows.VALUE_BYTES_MAX + 1)
)


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    opened = schema.connect(":memory:", cache_kib=2048)
    schema.prepare(opened, ":memory:", create=True)
    yield opened
    opened.close()


def pair(connection: apsw.Connection) -> tuple[SnapshotReader, SnapshotReader]:
    """A reader with the helper, and one without."""
    with_helper, without = SnapshotReader(connection), SnapshotReader(connection)
    assert with_helper._rows is not None
    assert without._rows is not None
    without._rows.close()
    without._rows = None
    return with_helper, without


def store(connection: apsw.Connection, rows: dict[bytes, bytes | int]) -> None:
    connection.execute("DELETE FROM rows")
    connection.executemany("INSERT INTO rows VALUES (?, ?)", list(rows.items()))


def both(
    readers: tuple[SnapshotReader, SnapshotReader], *arguments: bytes, **options: object
) -> tuple[Joined | None, Joined | None]:
    outcomes = []
    for reader in readers:
        reader.begin_step(1, None)
        outcomes.append(reader._joined(*arguments, **options))  # type: ignore[arg-type]
        reader.end_step()
    return outcomes[0], outcomes[1]


@settings(max_examples=300)
@given(
    st.dictionaries(keys, sizes, max_size=20),
    st.lists(large, max_size=2),
    keys,
    keys,
    st.integers(0, 20),
    st.booleans(),
    st.sampled_from((b",", b"", b"\n,")),
    st.integers(1, 9),
)
def test_the_helper_joins_what_sql_joins(
    rows: dict[bytes, int],
    large_sizes: list[int],
    start: bytes,
    end: bytes,
    limit: int,
    reverse: bool,
    separator: bytes,
    head: int,
) -> None:
    connection = schema.connect(":memory:", cache_kib=2048)
    schema.prepare(connection, ":memory:", create=True)
    stored: dict[bytes, bytes | int] = {key: (key + b"\0" * size)[:size] for key, size in rows.items()}
    for number, size in enumerate(large_sizes):
        connection.execute("INSERT INTO large_values VALUES (?, ?)", (number + 7, b"l" * size))
        stored[b"l%d" % number] = number + 7
    store(connection, stored)
    readers = pair(connection)
    helped, plain = both(readers, start, end, head=head, limit=limit, reverse=reverse, separator=separator)
    assert helped == plain
    everything = both(readers, b"", b"\xff" * 7, head=head, limit=100, reverse=reverse, separator=separator)
    assert everything[0] == everything[1]
    readers[0].finalize()
    connection.close()


def test_a_page_after_a_large_one_has_nothing_of_it(connection: apsw.Connection) -> None:
    readers = pair(connection)
    for size in (1900, 10):
        rows: dict[bytes, bytes | int] = {
            b"%04d" % number: b"%d" % (size % 7) * size for number in range(400)
        }
        store(connection, rows)
        helped, plain = both(readers, b"0", b"9", head=HEAD, limit=400)
        assert helped is not None
        assert helped.rows == 400
        assert helped == plain
    readers[0].finalize()


def test_a_large_value_that_is_missing_is_not_joined(connection: apsw.Connection) -> None:
    store(connection, {b"a": b"x" * 50, b"b": 12345})
    readers = pair(connection)
    assert both(readers, b"", b"z", head=HEAD, limit=5) == (None, None)
    helped, plain = both(readers, b"", b"z", head=HEAD, limit=1)
    assert helped == plain == Joined(1, b"a", b"x" * HEAD, b"x" * (50 - CHECKSUM_BYTES - HEAD))
    readers[0].finalize()


def test_a_reader_that_was_closed_reads_nothing(connection: apsw.Connection) -> None:
    rows = joined_rows.of(connection)
    assert rows is not None
    rows.close()
    rows.close()
    with pytest.raises(RuntimeError):
        rows.joined(b"a", b"z", HEAD, 1, b",", False)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (b"a", "b", HEAD, 1, b",", False),
        (b"a", b"b", HEAD, 1, None, False),
        (b"a", b"b", "", 1, b",", False),
    ],
)
def test_what_is_no_range_is_a_type_error(connection: apsw.Connection, arguments: tuple[object, ...]) -> None:
    rows = joined_rows.of(connection)
    assert rows is not None
    with pytest.raises(TypeError):
        rows.joined(*arguments)  # type: ignore[arg-type]
    rows.close()


def test_after_an_error_that_came_once_nothing_is_read_of_another_snapshot(tmp_path: Path) -> None:
    """SQLite ends the snapshot at such an error: a statement that is run then reads what was committed since."""
    (tmp_path / "shadow").mkdir()
    disk = FaultyDisk(tmp_path / "shadow")
    engine = SqliteEngine.open(tmp_path / "data")
    engine._checks_pages = (
        True  # files on this disk have no checksums, but their pages are joined all the same
    )

    def fill(tx: Transaction, value: bytes) -> None:
        for number in range(2000):
            tx.put(b"r%05d" % number, value * 600)

    engine.write(partial(fill, value=b"o"))
    failures: list[str] = []

    def refuse(_number: int, what: str, _file: str) -> type[apsw.Error] | None:
        if what != "read" or failures:
            return None
        failures.append(what)
        return apsw.IOError

    def step(reader: Reader) -> Joined | None:
        list(reader.scan(b"r00000", b"r00001"))
        engine.write(partial(fill, value=b"n"))
        disk.counts_reads, disk.refuse = True, refuse
        assert reader.joined is not None
        return reader.joined(b"r01500", b"r01600", head=HEAD, limit=50)

    with pytest.raises(Unavailable):
        engine.read(step)
    assert failures
    assert engine.read(lambda reader: reader.get(b"r00000")) == b"n" * 600
    engine.close()


def test_extensions_stay_forbidden(connection: apsw.Connection) -> None:
    rows = joined_rows.of(connection)
    assert rows is not None
    rows.close()
    with pytest.raises(apsw.SQLError, match="not authorized"):
        connection.execute("SELECT load_extension('anything')").fetchall()


def test_a_helper_that_cannot_be_loaded_is_done_without(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(joined_rows, "_loaded", [])
    monkeypatch.setattr(joined_rows.helper, "__file__", str(tmp_path / "missing.so"))
    assert joined_rows.of(connection) is None
    reader = SnapshotReader(connection)
    store(connection, {b"a": b"x" * 50})
    reader.begin_step(1, None)
    joined = reader._joined(b"", b"z", head=HEAD, limit=5)
    assert joined is not None
    assert joined.rows == 1
    reader.end_step()


def test_a_damaged_page_is_named_as_ever(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    engine.write(lambda tx: [tx.put(b"%05d" % number, b"v" * 500) for number in range(2000)])
    engine.close()
    file = tmp_path / "hashrange.db"
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // schema.PAGE_BYTES * schema.PAGE_BYTES
    content[middle + 4000] ^= 1
    file.write_bytes(content)
    engine = SqliteEngine.open(tmp_path)
    with pytest.raises(Corrupt, match=rf"page {middle // schema.PAGE_BYTES + 1} of") as caught:
        engine.read(lambda reader: reader.joined(b"0", b"9", head=HEAD, limit=2000))
    assert "wrong checksum" in str(caught.value)
    engine.close()


def test_other_threads_run_while_rows_are_joined(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    engine.write(lambda tx: [tx.put(b"%05d" % number, b"v" * ROW_BYTES_MAX) for number in range(1000)])
    pages: list[Joined | None] = []

    def read() -> None:
        for _ in range(20):
            pages.append(  # noqa: PERF401 - one at a time
                engine.read(lambda reader: reader.joined(b"0", b"9", head=HEAD, limit=1000))
            )

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close()
    assert len(pages) == 80
    assert all(page == pages[0] and page is not None and page.rows == 1000 for page in pages)


def test_an_engine_in_memory_can_be_closed(tmp_path: Path) -> None:
    engine = MemoryEngine()
    engine.write(lambda tx: tx.put(b"a", b"x" * 50))
    joined = engine.read(lambda reader: reader.joined(b"", b"z", head=HEAD, limit=5))
    assert joined is not None
    connection = engine._connection
    engine.close()
    with pytest.raises(apsw.ConnectionClosedError):
        connection.execute("SELECT 1")
