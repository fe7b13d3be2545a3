"""A start on damaged files is refused with the file, what is wrong with it, and what to do."""

import asyncio
import errno
import os
import re
import shutil
from pathlib import Path

import pytest

from faults.stores import fact, fill, opened
from faults.tables import FACTS
from hashrange.config import Settings
from hashrange.server import Server
from hashrange.storage import layout
from hashrange.storage.directory import Directory
from hashrange.storage.errors import DamagedRow, StorageError
from hashrange.storage.sqlite import log_file
from hashrange.storage.sqlite.log_file import FRAME_HEADER_BYTES, HEADER_BYTES
from hashrange.storage.sqlite.schema import PAGE_BYTES
from storage.damage import flip, pages_with, roots

SECOND_FRAME = HEADER_BYTES + FRAME_HEADER_BYTES + PAGE_BYTES


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory as a server leaves it that was stopped."""
    directory = tmp_path_factory.mktemp("stopped") / "data"
    with opened(directory) as service:
        fill(service)
    return directory


@pytest.fixture(scope="module")
def crashed(stopped: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory as a server leaves it that was killed."""
    directory = tmp_path_factory.mktemp("crashed")
    shutil.copytree(stopped, directory / "running")
    with opened(directory / "running") as service:
        for number in range(1000, 1010):
            service.call("PutItem", TableName=FACTS, Item=fact(number))
        shutil.copytree(directory / "running", directory / "data")
    return directory / "data"


def copied(directory: Path, to: Path) -> Path:
    shutil.copytree(directory, to / "data")
    return to / "data"


def refusal(directory: Path, auth: str = "off") -> str:
    """What the start of a server says; fails if it starts."""

    async def start() -> str:
        server = Server(Settings(port=0, data_dir=directory, auth=auth))
        try:
            await server.start()
        except StorageError as error:
            return str(error)
        finally:
            await server.stop()
        raise AssertionError("the server has started")

    return asyncio.run(start())


def says_what_to_do(message: str, directory: Path) -> None:
    assert str(directory / "hashrange.db") in message
    assert re.search("is damaged|cannot be read|is cut off|is not a SQLite database", message)
    assert "Restore a backup" in message
    assert "\n" not in message


@pytest.mark.parametrize("offset", [0, 16, 18, 20, 28, 44, 56, 60, 68, 100, 105, 4000])
def test_the_page_of_the_header_and_the_schema(stopped: Path, tmp_path: Path, offset: int) -> None:
    directory = copied(stopped, tmp_path)
    flip(directory / "hashrange.db", offset, 0x10)
    says_what_to_do(refusal(directory), directory)


@pytest.mark.parametrize("mask", [0x08, 0x28])
def test_a_header_that_says_that_pages_have_no_checksums(stopped: Path, tmp_path: Path, mask: int) -> None:
    directory = copied(stopped, tmp_path)
    flip(directory / "hashrange.db", 20, mask)
    message = refusal(directory)
    assert re.search("is damaged|are encrypted", message)


@pytest.mark.parametrize("table", ["rows", "meta"])
@pytest.mark.parametrize("offset", [0, 3, 4000])
def test_the_first_page_of_a_table(stopped: Path, tmp_path: Path, table: str, offset: int) -> None:
    directory = copied(stopped, tmp_path)
    flip(directory / "hashrange.db", (roots(directory)[table] - 1) * PAGE_BYTES + offset, 0x10)
    says_what_to_do(refusal(directory), directory)


def test_a_page_of_the_catalogue(stopped: Path, tmp_path: Path) -> None:
    directory = copied(stopped, tmp_path)
    for page in pages_with(directory, FACTS.encode()):
        flip(directory / "hashrange.db", page * PAGE_BYTES + 4000)
    message = refusal(directory)
    says_what_to_do(message, directory)
    assert message.startswith("the table records in SQLite (")
    assert "`hashrange verify`" in message


def test_a_row_of_an_identity(stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_damage(_: Directory) -> None:
        raise DamagedRow(layout.CATALOGUE)

    monkeypatch.setattr(Directory, "start", find_damage)
    directory = copied(stopped, tmp_path)
    message = refusal(directory, "iam")
    says_what_to_do(message, directory)
    assert message.startswith("the records of identities in SQLite (")


def test_damaged_counters_do_not_keep_a_server_from_starting(stopped: Path, tmp_path: Path) -> None:
    directory = copied(stopped, tmp_path)
    flip(directory / "hashrange.db", (roots(directory)["counters"] - 1) * PAGE_BYTES + 4000)
    with pytest.raises(AssertionError, match="has started"):
        refusal(directory)


@pytest.mark.parametrize("offset", [0, 9, 16, 24, 32, 32 + 8, 32 + 100, SECOND_FRAME + 4000])
def test_the_header_and_the_frames_of_the_log(crashed: Path, tmp_path: Path, offset: int) -> None:
    directory = copied(crashed, tmp_path)
    flip(directory / "hashrange.db-wal", offset, 0x10)
    message = refusal(directory)
    says_what_to_do(message, directory)
    assert "write-ahead log" in message
    assert "truncate -s" in message


def test_a_log_that_cannot_be_synced(crashed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it has may be in the system's memory only, and commits would follow it."""

    def fail(_descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    directory = copied(crashed, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        assert "cannot sync the write-ahead log" in refusal(directory)
    with opened(directory) as service:
        key = {name: fact(1009)[name] for name in ("pk", "sk")}
        assert service.call("GetItem", TableName=FACTS, Key=key)["Item"] == fact(1009)


def test_a_log_is_written_over_itself_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by a system that writes less at a time than it is given; and before it is synced."""
    log, content = tmp_path / "log", bytes(range(256)) * 10_000
    log.write_bytes(content)
    calls: list[tuple[int, int]] = []

    def pwrite(_descriptor: int, content: bytes, offset: int) -> int:
        written = min(len(content), 400_000)
        assert log.read_bytes()[offset : offset + written] == content[:written]
        calls.append((offset, offset + written))
        return written

    monkeypatch.setattr(os, "pwrite", pwrite)
    monkeypatch.setattr(os, "fsync", lambda _: calls.append((-1, -1)))
    log_file.write_again(log, 2_500_000)
    assert calls.pop() == (-1, -1)
    assert [begin for begin, _ in calls] == [0, *(end for _, end in calls[:-1])]
    assert calls[-1][1] == 2_500_000
