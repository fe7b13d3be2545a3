"""Damage done to stored data on purpose."""

from pathlib import Path

import apsw

from hashrange.storage.sqlite.schema import PAGE_BYTES


def run_sql(directory: Path, sql: str, values: tuple[object, ...] = ()) -> None:
    """Change the rows of a stopped engine behind its back, with the page checksums right."""
    connection = apsw.Connection(str(directory / "hashrange.db"))
    connection.execute(sql, values)
    connection.close()


def pages_with(directory: Path, word: bytes) -> list[int]:
    """The numbers, from 0, of the pages of the data file that contain a word."""
    content = (directory / "hashrange.db").read_bytes()
    return [
        at // PAGE_BYTES for at in range(0, len(content), PAGE_BYTES) if word in content[at : at + PAGE_BYTES]
    ]


def flip(file: Path, offset: int, mask: int = 0x01) -> None:
    """Change bits of one byte."""
    with file.open("r+b") as stream:
        stream.seek(offset)
        byte = stream.read(1)[0]
        stream.seek(offset)
        stream.write(bytes([byte ^ mask]))


def roots(directory: Path) -> dict[str, int]:
    """The number, from 1, of the first page of every table of the data file."""
    connection = apsw.Connection(str(directory / "hashrange.db"))
    rows = connection.execute("SELECT name, rootpage FROM sqlite_schema").fetchall()
    connection.close()
    return {str(name): int(str(page)) for name, page in rows}
