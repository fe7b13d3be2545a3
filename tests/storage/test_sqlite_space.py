"""Space: what is deleted goes back to the file system, a bounded bit at a time."""

from pathlib import Path

from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.schema import PAGE_BYTES


def file_pages(directory: Path) -> int:
    return (directory / "data" / "hashrange.db").stat().st_size // PAGE_BYTES


def test_clear_and_maintain_give_the_space_back(sqlite: SqliteEngine, tmp_path: Path) -> None:
    for number in range(20):
        sqlite.write(
            lambda tx, number=number: [
                tx.put(b"%s %03d %d" % (table, number, part), bytes([number]) * size)
                for table in (b"keep", b"lose")
                for part, size in enumerate((400, 400, 400, 100_000, 5000))
            ]
        )
    kept = sqlite.read(lambda reader: list(reader.scan(b"keep", b"keep~")))
    cleared = 0
    while gone := sqlite.write(lambda tx: tx.clear(b"lose", b"lose~", limit=17)):
        assert gone <= 17
        cleared += gone
    assert cleared == 100
    returned = 0
    while (pages := sqlite.maintain(25)) == 25:
        returned += pages
    returned += pages
    assert returned > 200
    assert sqlite.maintain(25) == 0
    assert sqlite.read(lambda reader: list(reader.scan(b"", b"\xff"))) == kept
    assert sqlite._writer.execute("PRAGMA integrity_check").get == "ok"
    sqlite.close()
    assert file_pages(tmp_path) < 20 * 110_000 // PAGE_BYTES + 60


def test_maintain_with_nothing_to_do_writes_nothing(sqlite: SqliteEngine, tmp_path: Path) -> None:
    sqlite.write(lambda tx: tx.put(b"k", b"v"))
    log = tmp_path / "data" / "hashrange.db-wal"
    before = log.stat().st_size
    assert sqlite.maintain(1000) == 0
    assert log.stat().st_size == before
