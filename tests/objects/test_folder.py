"""What is particular to a folder: its files can be made, seen and spoilt by others."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.objects.errors import AccessDenied, Changed, InvalidKey, KeyTooLong, NoSpace, NoSuchKey
from hashrange.objects.file_names import UPLOADS
from hashrange.objects.folder import FolderBucket, FolderStore
from objects.test_file_names import keys as strange_keys


@pytest.fixture(autouse=True)
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What has been synced, by its path; the disk itself is not waited for, which takes most of the time."""
    paths: list[str] = []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: paths.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
    )
    return paths


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bucket").mkdir()
    return tmp_path


@pytest.fixture
def bucket(folder: Path) -> FolderBucket:
    return FolderStore(folder).bucket("bucket")


def keys(bucket: FolderBucket, prefix: str = "", after: str = "") -> list[str]:
    return [info.key for info in bucket.list(prefix, after=after)]


def test_a_file_that_somebody_puts_there_is_an_object(bucket: FolderBucket, folder: Path) -> None:
    (folder / "bucket" / "data").mkdir()
    (folder / "bucket" / "data" / "my items.csv").write_bytes(b"pk\n1\n")
    assert keys(bucket) == ["data/my items.csv"]
    assert b"".join(bucket.read("data/my items.csv")) == b"pk\n1\n"


def test_an_object_has_the_path_of_its_key(bucket: FolderBucket, folder: Path) -> None:
    bucket.put("a/b c.json", b"{}")
    assert (folder / "bucket" / "a" / "b c.json").read_bytes() == b"{}"


def test_the_file_is_synced_before_it_has_its_name_and_its_directories_afterwards(
    bucket: FolderBucket, folder: Path, synced: list[str]
) -> None:
    bucket.put("a/b", b"x")
    root = folder / "bucket"
    assert synced[0].startswith(f"{root / UPLOADS}/")
    assert synced[1:] == [str(root), str(root / "a")]


def test_nothing_is_left_of_a_write_but_the_object(bucket: FolderBucket, folder: Path) -> None:
    bucket.put("k", b"x")
    with bucket.writer("l") as writer:
        writer.write(b"never finished")
    assert sorted(path.name for path in (folder / "bucket").rglob("*")) == [UPLOADS, "k"]


def test_directories_go_with_their_last_object(bucket: FolderBucket, folder: Path) -> None:
    bucket.put("a/b/c", b"")
    bucket.put("a/d", b"")
    bucket.delete("a/b/c")
    assert not (folder / "bucket" / "a" / "b").exists()
    bucket.delete("a/d")
    assert not (folder / "bucket" / "a").exists()
    assert (folder / "bucket").exists()


def test_uploads_that_a_killed_server_left_are_removed_after_a_day(
    bucket: FolderBucket, folder: Path
) -> None:
    uploads = folder / "bucket" / UPLOADS
    uploads.mkdir()
    for name, hours in (("dead", 25), ("alive", 23)):
        (uploads / name).write_bytes(b"x")
        then = time.time() - hours * 3600
        os.utime(uploads / name, (then, then))
    bucket.put("k", b"x")
    assert [path.name for path in uploads.iterdir()] == ["alive"]
    assert keys(bucket) == ["k"]


def test_what_is_no_file_is_no_object(bucket: FolderBucket, folder: Path) -> None:
    root = folder / "bucket"
    os.mkfifo(root / "fifo")
    (root / "loop").symlink_to(root)
    (root / "dangling").symlink_to(root / "nowhere")
    (folder / "elsewhere").write_bytes(b"x")
    (root / "link").symlink_to(folder / "elsewhere")
    (root / "%41").write_bytes(b"x")
    (root / "50% off").write_bytes(b"x")
    (root / ("n" * 255)).write_bytes(b"x")
    (root / "abc%").mkdir()
    (root / "abc%" / "d").write_bytes(b"x")
    (root / os.fsdecode(b"\xff")).write_bytes(b"x")
    assert keys(bucket) == ["link"]
    for key in ("fifo", "loop", "dangling", "abcd", "A"):
        with pytest.raises(NoSuchKey):
            bucket.head(key)


@pytest.mark.parametrize("key", ["line\nfeed", "nul\x00", "\r\n", "/" * 300, "\x01" * 1024, "%" * 1024])
def test_keys_of_characters_that_no_name_may_have(bucket: FolderBucket, key: str) -> None:
    bucket.put(key, b"x")
    assert keys(bucket) == [key]
    assert b"".join(bucket.read(key)) == b"x"


def test_nothing_is_written_outside_the_bucket(bucket: FolderBucket, folder: Path) -> None:
    for key in ("../x", "a/../../x", "/etc/x", "..", "./..", "a" * 248 + "..", "a" * 248 + "/../../../x"):
        bucket.put(key, b"x")
    assert [path.name for path in folder.iterdir()] == ["bucket"]


@given(
    several=st.lists(strange_keys.filter(lambda key: len(key.encode()) <= 1024), max_size=10, unique=True),
    data=st.data(),
)
def test_any_keys_are_listed_in_order(
    tmp_path_factory: pytest.TempPathFactory, several: list[str], data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("folder")
    (root / "bucket").mkdir()
    bucket = FolderStore(root).bucket("bucket")
    for key in several:
        bucket.put(key, key.encode())
    prefix = data.draw(st.sampled_from([*several, ""])).__getitem__(slice(data.draw(st.integers(0, 8))))
    after = data.draw(st.sampled_from([*several, ""]))
    assert keys(bucket, prefix, after) == sorted(
        key for key in several if key.startswith(prefix) and key > after
    )
    assert all(b"".join(bucket.read(key)) == key.encode() for key in several)
    for key in several:
        bucket.delete(key)
    assert [path.name for path in (root / "bucket").iterdir()] in ([], [UPLOADS])


def test_a_file_that_is_written_to_while_it_is_read_is_noticed(bucket: FolderBucket, folder: Path) -> None:
    path = folder / "bucket" / "k"
    path.write_bytes(bytes(3 * 1024 * 1024))
    pieces = bucket.read("k")
    next(pieces)
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(Changed):
        list(pieces)


def test_a_file_that_is_replaced_while_it_is_read_is_read_to_its_end(bucket: FolderBucket) -> None:
    bucket.put("k", bytes(3 * 1024 * 1024))
    pieces = bucket.read("k")
    first = next(pieces)
    bucket.put("k", b"other")
    assert first + b"".join(pieces) == bytes(3 * 1024 * 1024)


def test_a_file_system_that_ignores_case_does_not_lose_objects(
    bucket: FolderBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FolderBucket, "_folds_case", True)
    bucket.put("dir/a", b"first")
    for key in ("dir/A", "DIR/b"):
        with pytest.raises(InvalidKey):
            bucket.put(key, b"second")
    bucket.put("dir/a", b"again")
    assert keys(bucket) == ["dir/a"]


def test_a_path_that_is_too_long_for_the_system_is_said_to_be(tmp_path: Path) -> None:
    deep = tmp_path
    while len(str(deep)) < 1500:
        deep /= "d" * 200
    (deep / "bucket").mkdir(parents=True)
    bucket = FolderStore(deep).bucket("bucket")
    with pytest.raises(KeyTooLong):
        bucket.put("\x01" * 1024, b"x")
    assert keys(bucket) == []


@pytest.mark.parametrize(("code", "kind"), [(28, NoSpace), (13, AccessDenied), (30, AccessDenied)])
def test_what_the_file_system_says_becomes_an_error_of_ours(
    bucket: FolderBucket, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    def fail(_: int) -> None:
        raise OSError(code, "as the system says it")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind, match="as the system says it"):
        bucket.put("k", b"x")
    assert keys(bucket) == []


@pytest.fixture
def temporary() -> Iterator[FolderStore]:
    store = FolderStore.in_temporary_folder()
    yield store
    store.close()


def test_a_temporary_folder_is_gone_at_the_end(temporary: FolderStore) -> None:
    folder = Path(temporary.description.removeprefix("folder "))
    (folder / "bucket").mkdir()
    bucket = temporary.bucket("bucket")
    # pytest could not remove so deep a directory either: the store has to.
    for key in ("k", "/" * 1024, "d/" * 512):
        bucket.put(key, b"x")
        assert b"".join(bucket.read(key)) == b"x"
    assert len(keys(bucket)) == 3
    (folder / "link").symlink_to(folder)
    temporary.close()
    assert not folder.exists()


def test_what_killed_servers_have_left_is_removed_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os, signal\n"
        "from hashrange.objects.folder import FolderStore\n"
        "from hashrange.objects.opening import open_backups\n"
        "from hashrange.config import Settings\n"
        "store = FolderStore.in_temporary_folder()\n"
        "open_backups(Settings(in_memory=True), store)[0].put('k', b'x')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    left = set(tmp_path.iterdir())
    assert len(left) == 2
    FolderStore.in_temporary_folder().close()
    assert set(tmp_path.iterdir()) == left, "they may be about to be locked"
    living = FolderStore.in_temporary_folder()
    (kept,) = set(tmp_path.iterdir()) - left
    (tmp_path / "hashrange-memory-x").symlink_to(tmp_path)
    for folder in (*left, kept):
        os.utime(folder, (0, 0))
    FolderStore.in_temporary_folder().close()
    assert set(tmp_path.iterdir()) == {kept, tmp_path / "hashrange-memory-x"}
    living.close()
    assert not kept.exists()
