"""What a transfer has done so far, in a small file, so that it can be interrupted at any moment and run again."""

import fcntl
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from hashrange.core.values import Item
from hashrange.formats.manifest import DataFile
from hashrange.transfer.errors import TransferError

_VERSION = 1
_SAVE_SECONDS = 1.0


class Segment(msgspec.Struct):
    """How far a part of a parallel scan is."""

    position: Item | None = None
    done: bool = False
    items: int = 0
    rejected: int = 0
    files: list[DataFile] = []


class FilesPosition(msgspec.Struct):
    """How far the files of a source are read."""

    fingerprint: str = ""
    file: int = 0
    record: int = 0
    items: int = 0
    rejected: int = 0
    done: bool = False


class ShardPosition(msgspec.Struct):
    """How far a shard of a stream is read."""

    sequence_number: str | None = None
    done: bool = False


class StreamPosition(msgspec.Struct):
    """How far a stream is read, and since when it matters."""

    arn: str
    since: float | None = (
        None  # by the endpoint's clock, epoch seconds: earlier records were there for the scan
    )
    seen_at: float = 0.0  # by our clock: when every shard was looked at
    shards: dict[str, ShardPosition] = {}
    changes: int = 0
    rejected: int = 0


class ExportPosition(msgspec.Struct):
    """Which export is being written."""

    export_id: str
    began_at: float
    output_format: str


class State(msgspec.Struct):
    """Everything that a run has to know of the one before."""

    source: str
    target: str
    version: int = _VERSION
    segments: list[Segment] = []
    files: FilesPosition | None = None
    stream: StreamPosition | None = None
    export: ExportPosition | None = None


def default_path(source: str, target: str) -> Path:
    """A name in the working directory that the same command finds again."""
    digest = hashlib.sha256(f"{source}\n{target}".encode()).hexdigest()[:12]
    return Path(f"hashrange-transfer-{digest}.state")


class StateFile:
    """The file. It is replaced as a whole, so that it is never half of one; it is gone when the work is done."""

    def __init__(self, path: Path, state: State) -> None:
        self.state = state
        self.lock = threading.Lock()  # of the state, which several threads change
        self._path = path
        self._saved_at = 0.0

    def save_sometimes(self) -> None:
        """Save, if that is some time ago; call it with the lock. What is not saved is done again."""
        if time.monotonic() - self._saved_at >= _SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Replace the file; call it with the lock, or when nobody else is at work."""
        temporary = self._path.with_name(self._path.name + ".new")
        try:
            with temporary.open("wb") as file:
                file.write(msgspec.json.encode(self.state))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        except OSError as error:
            raise TransferError(f"cannot write {self._path}: {error.strerror}") from None
        self._saved_at = time.monotonic()

    def remove(self) -> None:
        """The work is done."""
        with suppress(FileNotFoundError):
            self._path.unlink()


@contextmanager
def open_state(path: Path, source: str, target: str) -> Iterator[StateFile]:
    """The state of an earlier run of the same transfer, or a new one; nobody else may have it open."""
    lock_path = path.with_name(path.name + ".lock")
    try:
        lock = lock_path.open("a")
    except OSError as error:
        raise TransferError(f"cannot write {lock_path}: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TransferError(f"another transfer is running with the state file {path}") from None
        try:
            yield StateFile(path, _read(path, source, target))
        finally:
            lock_path.unlink(missing_ok=True)


def _read(path: Path, source: str, target: str) -> State:
    try:
        state = msgspec.json.decode(path.read_bytes(), type=State)
    except FileNotFoundError:
        return State(source, target)
    except OSError as error:
        raise TransferError(f"cannot read {path}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise TransferError(f"{path} is no state file: {error}") from None
    if (state.version, state.source, state.target) != (_VERSION, source, target):
        raise TransferError(
            f"{path} is of another transfer, from {state.source} to {state.target}: "
            "name another file with --state, or remove it"
        )
    return state
