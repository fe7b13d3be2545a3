"""The files of an audit log: only ever appended to, exchanged when they are large or old, never shared."""

import contextlib
import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from hashrange import logs
from hashrange.audit import hash_chain
from hashrange.audit.hash_chain import Head, LineInvalid

_TAIL_BYTES = 1024 * 1024  # no line is as long
_SECRET_BYTES = 32
ROTATED = re.compile(r"\.\d{8}T\d{6}Z-(\d{12})\Z")  # how the name of a file ends that was put aside

log = logs.Log("audit")


class LogInvalid(Exception):
    """The audit log cannot be written; the message is meant for the person who named it."""


class Target(Protocol):
    """Where lines go."""

    head: Head

    def write(self, lines: bytes) -> None:
        """Append lines, all or none; raises OSError."""

    def sync(self) -> None:
        """See that what was written is on the disk."""

    def rotate_if_due(self, now: float) -> None:
        """Begin another file if it is time to."""

    def reopen(self) -> None:
        """Somebody else has moved the file away: begin another."""

    def missing(self) -> str | None:
        """What has happened to the file behind the writer's back, if anything; it can be written again then."""

    def close(self) -> None:
        """End."""


class StandardOutput:
    """Lines for whoever collects what the server prints; every process has a chain of its own."""

    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor
        self.head = hash_chain.new_chain()

    def write(self, lines: bytes) -> None:
        """Write lines, however often the reader has to be waited for: a part of them cannot be taken back."""
        left = memoryview(lines)
        while left:
            left = left[os.write(self._descriptor, left) :]

    def sync(self) -> None:
        """Nothing can be done."""

    def rotate_if_due(self, now: float) -> None:
        """Nothing can be done."""

    def reopen(self) -> None:
        """Nothing can be done."""

    def missing(self) -> None:
        """Nothing can be known."""

    def close(self) -> None:
        """It is not ours."""


class LogFile:
    """A file of one process, and those that it was before."""

    def __init__(self, path: Path, *, bytes_max: int, seconds_max: float, now: float) -> None:
        """Go on where the file, or the newest one before it, ends; raises LogInvalid."""
        self._path = path
        self._bytes_max = bytes_max
        self._seconds_max = seconds_max
        self._descriptor = -1
        self._size = 0
        self._since = now
        self.removed_bytes = 0  # of a line that was cut off when the last process died
        self.broken: str | None = None  # why the chain of the last process could not be continued
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open(now)
            self.head = self._continue()
        except OSError as error:
            raise LogInvalid(f"{path} cannot be written: {error.strerror}") from None

    def write(self, lines: bytes) -> None:
        """Append lines, all or none."""
        try:
            written = os.write(self._descriptor, lines)
            if written < len(lines):
                raise OSError(None, "the disk is full")  # noqa: TRY301 - to be cut off as after any other error
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(lines)

    def sync(self) -> None:
        """See that what was written is on the disk."""
        os.fdatasync(self._descriptor)

    def rotate_if_due(self, now: float) -> None:
        """Put the file aside if it is large or old, and begin another; the chain goes on."""
        if self._size == 0 or (self._size < self._bytes_max and now - self._since < self._seconds_max):
            return
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
        aside = self._path.with_name(f"{self._path.name}.{stamp}-{self.head.number:012d}")
        self.sync()
        self._path.rename(aside)
        self.reopen()
        log.info(
            "audit.rotated",
            file=str(aside),
            chain=self.head.chain,
            number=self.head.number,
            hash=self.head.hash,
        )

    def reopen(self) -> None:
        """Begin, or go on with, whatever has the file's name now."""
        if self._is_in_place():
            return  # its lock would keep us from opening it twice
        before = self._descriptor
        self._open(time.time())
        os.close(before)
        self._cut_half_line()

    def missing(self) -> str | None:
        """How what was written is gone, if it is; then another chain begins, which says whose place it takes.

        A file that was moved is still somewhere, so its chain goes on in the next one.
        """
        status = os.fstat(self._descriptor)
        if not self._is_in_place():
            problem = "it was removed" if status.st_nlink == 0 else "it was moved"
            self.reopen()
        elif status.st_size < self._size:
            problem = "it was cut"
            self._cut_half_line()
        else:
            return None
        head = self.head
        is_moved = problem == "it was moved"
        (log.info if is_moved else log.error)(
            "audit.file_moved" if is_moved else "audit.file_missing",
            file=str(self._path),
            reason=problem,
            chain=head.chain,
            number=head.number,
            hash=head.hash,
        )
        if is_moved:
            return None
        self.head = hash_chain.new_chain(follows=head.hash if head.number else "")
        return problem

    def _is_in_place(self) -> bool:
        own = os.fstat(self._descriptor)
        try:
            named = self._path.stat(follow_symlinks=False)
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def _open(self, now: float) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise LogInvalid(f"{self._path} is written by another server") from None
        self._descriptor, self._since = descriptor, now
        self._size = os.fstat(descriptor).st_size

    def _cut_half_line(self) -> bytes:
        """Take away a line that was cut off: nobody could tell it from a forged one. Gives the last whole one."""
        self._size = os.fstat(self._descriptor).st_size
        line, end = _last_line(self._descriptor, self._size)
        if end < self._size:
            self.removed_bytes = self._size - end
            os.ftruncate(self._descriptor, end)
            self._size = end
        return line

    def _continue(self) -> Head:
        """The head of the chain."""
        line = self._cut_half_line()
        if not line:
            older = rotated(self._path)
            if not older:
                return hash_chain.new_chain()
            # Numbers begin again with a chain, so that the last one is not always the newest.
            with max(older, key=lambda path: path.stat().st_mtime_ns).open("rb") as file:
                line, _ = _last_line(file.fileno(), os.fstat(file.fileno()).st_size)
        try:
            return hash_chain.read(line).head._replace(follows="")
        except LineInvalid as problem:
            self.broken = f"the last line: {problem}"
            log.error("audit.chain_broken", file=str(self._path), reason=self.broken)
            return hash_chain.new_chain()


def _last_line(descriptor: int, size: int) -> tuple[bytes, int]:
    """The last complete line of a file, and where it ends."""
    start = max(0, size - _TAIL_BYTES)
    tail = os.pread(descriptor, size - start, start)
    end = tail.rfind(b"\n") + 1
    begin = tail.rfind(b"\n", 0, max(0, end - 1)) + 1
    return tail[begin:end], start + end


def rotated(path: Path) -> list[Path]:
    """The files that were put aside, the oldest first."""
    found = [
        (int(match[1]), file)
        for file in path.parent.glob("*")
        if (match := ROTATED.search(file.name)) and file.name[: match.start()] == path.name
    ]
    return [file for _, file in sorted(found)]


def of_worker(path: Path, number: int) -> Path:
    """The file of one of several workers; the first has the name itself."""
    return path if number == 0 else path.with_name(f"{path.stem}.{number}{path.suffix}")


def all_files(path: Path) -> Iterator[Path]:
    """The files of all workers, each with those that were put aside before it."""
    pattern = re.compile(re.escape(path.stem) + r"\.\d{1,2}" + re.escape(path.suffix))
    workers = sorted(file for file in path.parent.glob("*") if pattern.fullmatch(file.name))
    for file in (path, *workers):
        yield from rotated(file)
        if file.exists():
            yield file


def hashing_secret(path: Path) -> bytes:
    """The secret of this log's hashes, which is made with its first file."""
    place = path.with_name(f"{path.name}.key")
    beside = path.with_name(f".{path.name}.key.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not place.exists():
            with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(secrets.token_bytes(_SECRET_BYTES))
            with contextlib.suppress(FileExistsError):  # another worker was faster
                os.link(beside, place)
            beside.unlink()
        return place.read_bytes()
    except OSError as error:
        raise LogInvalid(f"{place} cannot be read: {error.strerror}") from None
