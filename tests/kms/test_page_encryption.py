"""Encryption of whole pages: also keys and names are hidden, and the server starts only with what opens them.

Where APSW is built without it, most of this is skipped. `pip install --target FOLDER apsw-sqlite3mc` and
`HASHRANGE_SQLITE3MC=FOLDER` run it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from encrypted_store import key_file
from item_tables import make_table
from serving import Serving, serving
from warm import COLD

FOLDER = os.environ.get("HASHRANGE_SQLITE3MC", "")
needs_ciphers = pytest.mark.skipif(
    not FOLDER and not hasattr(apsw, "mc_version"),
    reason="this APSW cannot encrypt pages: HASHRANGE_SQLITE3MC names a folder with apsw-sqlite3mc",
)
MARK = b"canary"
PAGE_BYTES = 8192


class Store:
    """A data directory, and commands on it with the build of APSW that can encrypt pages."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.key = key_file(folder, 1)
        self.environment = {"PYTHONPATH": FOLDER} if FOLDER else {}

    def flags(self) -> tuple[str, ...]:
        root_key = ("--root-key", f"file:{self.key}")
        return ("--data-dir", str(self.data), *root_key, "--encrypt-pages", "--transition-ms", "0")

    def serving(self, *flags: str) -> Any:
        return serving(*self.flags(), *flags, environment=self.environment, interpreter=COLD)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hashrange", *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **self.environment},
        )

    def verified(self, data: Path, *more: str) -> subprocess.CompletedProcess[str]:
        return self.run("verify", str(data), *(more or ("--root-key", f"file:{self.key}")))

    def has_mark(self) -> list[str]:
        files = (path for path in self.data.rglob("*") if path.is_file())
        return [path.name for path in files if MARK in path.read_bytes()]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def fill(running: Serving, make_client: Callable[..., Any]) -> Any:
    client = make_client(endpoint=running.endpoint)
    make_table(client, "pk", TableName="canary-table")
    for number in range(100):
        item = {"pk": {"S": f"canary-{number}"}, "v": {"S": "x" * 1000}}
        client.put_item(TableName="canary-table", Item=item)
    return client


@needs_ciphers
def test_no_key_and_no_name_is_in_the_files_and_all_survives_kill_9(
    store: Store, make_client: Callable[..., Any]
) -> None:
    with store.serving("--workers", "2") as running:
        fill(running, make_client)
        assert store.has_mark() == []  # the log is there, too
        running.stop(signal.SIGKILL)
    with store.serving() as running:
        client = make_client(endpoint=running.endpoint)
        assert client.scan(TableName="canary-table", Select="COUNT")["Count"] == 100
    assert store.has_mark() == []
    assert store.verified(store.data).returncode == 0


@needs_ciphers
def test_damaged_pages_are_reported_and_never_returned(store: Store, make_client: Callable[..., Any]) -> None:
    with store.serving() as running:
        fill(running, make_client)
    file = store.data / "hashrange.db"
    content = file.read_bytes()
    for page in (1, len(content) // PAGE_BYTES // 2, len(content) // PAGE_BYTES - 1):
        damaged = bytearray(content)
        damaged[page * PAGE_BYTES + 4000] ^= 1
        file.write_bytes(damaged)
        assert store.verified(store.data).returncode in {1, 2}
    everything = bytearray(content)
    for page in range(1, len(content) // PAGE_BYTES):
        everything[page * PAGE_BYTES + 4000] ^= 1
    file.write_bytes(everything)
    with pytest.raises(RuntimeError, match="is damaged"), store.serving():
        pass
    file.write_bytes(content)
    assert store.verified(store.data).returncode == 0


@needs_ciphers
def test_the_root_key_is_rotated_and_the_copy_is_encrypted_too(
    store: Store, tmp_path: Path, make_client: Callable[..., Any]
) -> None:
    with store.serving() as running:
        fill(running, make_client)
    new = key_file(tmp_path, 2)
    places = ("--from", f"file:{store.key}", "--to", f"file:{new}")
    assert store.run("root-key", "rotate", str(store.data), *places).returncode == 0
    refused = store.verified(store.data)
    assert (refused.returncode, "under the root key with the id" in refused.stderr) == (2, True)
    store.key = new
    copy = tmp_path / "copy"
    target = ("--to", str(copy), "--root-key", f"file:{new}", "--encrypt-pages")
    done = store.run("migrate", "--from", str(store.data), *target)
    assert done.returncode == 0, done.stderr
    assert store.verified(copy).returncode == 0
    assert MARK not in (copy / "hashrange.db").read_bytes()


@needs_ciphers
def test_what_is_missing_is_named(store: Store) -> None:
    with store.serving():
        pass
    without = store.verified(store.data, "--json")
    assert "name it with --root-key" in without.stderr
    (store.data / "hashrange.key").unlink()
    lost = store.verified(store.data)
    assert (lost.returncode, "hashrange.key beside it is missing" in lost.stderr) == (2, True)


@pytest.mark.skipif(hasattr(apsw, "mc_version"), reason="this APSW can encrypt pages")
def test_without_the_other_build_of_apsw_the_setting_is_refused_and_nothing_is_made(store: Store) -> None:
    with pytest.raises(RuntimeError, match="pip install apsw-sqlite3mc"), serving(*store.flags()):
        pass
    assert not store.data.exists()


def test_data_that_was_begun_without_stays_so(store: Store) -> None:
    with serving("--data-dir", str(store.data)):
        pass
    with pytest.raises(RuntimeError, match="hashrange migrate --encrypt-pages"), serving(*store.flags()):
        pass
