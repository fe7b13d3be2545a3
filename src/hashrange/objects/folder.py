"""A local folder that stands for all buckets: a bucket is a directory in it, an object a file in that."""

import os
import stat
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hashrange.objects import file_names
from hashrange.objects.errors import Changed, InvalidKey, NoSuchBucket, NoSuchKey
from hashrange.objects.file_faults import mapped
from hashrange.objects.folder_writer import FolderWriter, sync_directory
from hashrange.objects.interface import (
    CHUNK_BYTES,
    BucketOptions,
    ObjectInfo,
    Written,
    check_bucket_name,
    check_key,
)
from hashrange.objects.listing import Listing, etag_of, info_of
from hashrange.objects.temporary_folder import TemporaryFolder

_MOVES_MAX = 8  # a directory may be removed while a file is moved into it; somebody wins in the end


class FolderStore:
    """Buckets as directories."""

    def __init__(self, folder: Path, temporary: TemporaryFolder | None = None) -> None:
        self._folder = folder
        self._temporary = temporary

    @classmethod
    def in_temporary_folder(cls) -> "FolderStore":
        """A store that is gone when it is closed, for servers that keep nothing."""
        folder = TemporaryFolder("buckets")
        return cls(folder.path, folder)

    @property
    def description(self) -> str:
        return f"folder {self._folder}"

    @property
    def is_local(self) -> bool:
        return True

    def buckets(self) -> Iterator["FolderBucket"]:
        """All buckets."""
        with mapped():
            names = sorted(path.name for path in self._folder.iterdir()) if self._folder.is_dir() else []
        for name in names:
            with suppress(NoSuchBucket):
                bucket = self.bucket(name)
                if (self._folder / name).is_dir():
                    yield bucket

    def bucket(self, name: str, options: BucketOptions | None = None) -> "FolderBucket":
        check_bucket_name(name)
        return FolderBucket(name, self._folder / name)

    def close(self) -> None:
        if self._temporary is not None:
            self._temporary.remove()


class FolderBucket:
    """One directory and the objects in it."""

    _lock = threading.Lock()  # deleting removes empty directories, which writing makes

    def __init__(self, name: str, root: Path) -> None:
        self.name = name
        self._root = root

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        self._check_bucket()
        with mapped():
            yield from Listing(self._root, prefix, after)

    def head(self, key: str) -> ObjectInfo:
        with self._opened(key) as descriptor:
            info = info_of(key, os.fstat(descriptor))
            if info is None:
                raise NoSuchKey
            return info

    def read(self, key: str, *, offset: int = 0, etag: str | None = None) -> Iterator[bytes]:
        with self._opened(key) as descriptor, mapped():
            before = etag_of(os.fstat(descriptor))
            if etag is not None and etag != before:
                raise Changed
            while piece := os.pread(descriptor, CHUNK_BYTES, offset):
                offset += len(piece)
                yield piece
            if etag_of(os.fstat(descriptor)) != before:
                raise Changed("the file was written to while it was read")

    def put(self, key: str, data: bytes) -> Written:
        with self.writer(key) as writer:
            writer.write(data)
            return writer.commit()

    def writer(self, key: str) -> FolderWriter:
        check_key(key)
        self._check_bucket()
        with mapped():
            return FolderWriter(self._root, key, self._move)

    def delete(self, key: str) -> None:
        check_key(key)
        self._check_bucket()
        path = self._path(key)
        with mapped(), self._lock:
            for candidate in (path, _beside(path)):
                if _is_file(candidate):
                    candidate.unlink()
                    sync_directory(candidate.parent)
            self._remove_empty(path.parent)

    def _remove_empty(self, directory: Path) -> None:
        """Directories are nothing in S3: they go with their last object."""
        with suppress(OSError):
            while directory != self._root:
                directory.rmdir()
                directory = directory.parent

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*file_names.path_parts(key))

    def _check_bucket(self) -> None:
        with mapped():
            if not self._root.is_dir():
                raise NoSuchBucket

    @contextmanager
    def _opened(self, key: str) -> Iterator[int]:
        """The object's file, open; what is no regular file is not waited for."""
        check_key(key)
        self._check_bucket()
        with mapped():
            descriptor = self._open(key)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoSuchKey
            yield descriptor
        finally:
            os.close(descriptor)

    def _open(self, key: str) -> int:
        path = self._path(key)
        for candidate in (path, _beside(path)):
            # A directory of this name can be opened too, but is not what is meant.
            if _is_file(candidate):
                with suppress(FileNotFoundError):
                    return os.open(candidate, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        raise NoSuchKey

    def _move(self, temporary: Path, key: str) -> os.stat_result:
        """Give a finished file its name, durably."""
        path = self._path(key)
        with self._lock:
            for attempt in range(_MOVES_MAX):
                try:
                    self._make_directories(path.parent)
                    self._refuse_clash(path)
                    beside = _beside(path)
                    target = beside if path.is_dir() or _is_file(beside) else path
                    temporary.replace(target)
                except (FileNotFoundError, IsADirectoryError, FileExistsError, NotADirectoryError):
                    if attempt == _MOVES_MAX - 1 or not temporary.exists():
                        raise
                else:
                    sync_directory(target.parent)
                    return target.stat()
        raise AssertionError

    def _make_directories(self, directory: Path) -> None:
        """Make what is missing, from the top; an object in the way steps aside."""
        for parent in reversed([directory, *directory.parents]):
            if not parent.is_relative_to(self._root) or parent == self._root:
                continue
            if _is_file(parent):
                parent.replace(_beside(parent))
            if not parent.is_dir():
                self._refuse_clash(parent)
                parent.mkdir(exist_ok=True)
                sync_directory(parent.parent)

    def _refuse_clash(self, path: Path) -> None:
        """Where the file system takes two names for one, the second key must not replace the first's object."""
        if not self._folds_case:
            return
        folded = _folded(path.name)
        with os.scandir(path.parent) as entries:
            if any(entry.name != path.name and _folded(entry.name) == folded for entry in entries):
                raise InvalidKey("another key differs only in case, which this file system ignores")

    @property
    def _folds_case(self) -> bool:
        """Whether this directory can be found under its name in another case."""
        swapped = self._root.with_name(self._root.name.swapcase())
        return swapped != self._root and swapped.exists() and swapped.samefile(self._root)


def _beside(path: Path) -> Path:
    return path.with_name(path.name + file_names.OBJECT)


def _is_file(path: Path) -> bool:
    return path.exists() and not path.is_dir()


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
