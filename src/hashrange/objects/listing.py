"""The objects of a folder's bucket in the order of their keys, of which only one directory at a time is in memory."""

import heapq
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hashrange.objects import file_names
from hashrange.objects.file_names import Entry
from hashrange.objects.interface import ObjectInfo

Below = tuple[str, list[str]]  # a directory: what the keys in it begin with, and its path


class Listing:
    """A walk through a bucket's directory that leaves out what the prefix and the key to begin after exclude."""

    def __init__(self, root: Path, prefix: str, after: str) -> None:
        self._root = root
        self._prefix = prefix
        self._after = after

    def __iter__(self) -> Iterator[ObjectInfo]:
        return self._walk(self._children("", []))

    def _walk(self, children: Iterator[ObjectInfo | Below]) -> Iterator[ObjectInfo]:
        """Objects as they come, and those of directories in their place; a key may have a thousand directories."""
        stack = [children]
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            elif isinstance(child, ObjectInfo):
                yield child
            else:
                stack.append(self._children(*child))

    def _children(self, key: str, path: list[str]) -> Iterator[ObjectInfo | Below]:
        """What is in a directory, whose keys begin with `key`."""
        entries, pieces = self._entries(key, path)
        plain = self._in_order(key, path, entries)
        if not pieces:
            return plain
        # The parts that are too long for one name may come before, between and behind the others.
        walks = [self._walk(self._children(key + entry.text, [*path, name])) for entry, name in pieces]
        return heapq.merge(self._walk(plain), *walks, key=lambda info: info.key)

    def _in_order(
        self, key: str, path: list[str], entries: list[tuple[Entry, str]]
    ) -> Iterator[ObjectInfo | Below]:
        for entry, name in sorted(entries, key=lambda pair: pair[0].text):
            below = [*path, name]
            if entry.kind == "directory":
                yield key + entry.text, below
            elif (info := self._object(key + entry.text, below)) is not None:
                yield info

    def _entries(self, key: str, path: list[str]) -> tuple[list[tuple[Entry, str]], list[tuple[Entry, str]]]:
        """The names in a directory, the pieces apart, without those that cannot be in the listing."""
        entries: list[tuple[Entry, str]] = []
        pieces: list[tuple[Entry, str]] = []
        # What is deleted meanwhile is not listed.
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(Path(self._root, *path)) as names:
            for found in names:
                # A link to a directory may lead round in circles; a link to a file is as good as the file.
                entry = file_names.entry(found.name, is_directory=found.is_dir(follow_symlinks=False))
                if entry is not None and self._may_hold(key + entry.text, entry):
                    (pieces if entry.kind == "piece" else entries).append((entry, found.name))
        return entries, pieces

    def _may_hold(self, key: str, entry: Entry) -> bool:
        if entry.kind == "object":
            return key.startswith(self._prefix) and key > self._after
        # What comes after everything below this directory excludes it.
        is_past = self._after > key and not self._after.startswith(key)
        return (key.startswith(self._prefix) or self._prefix.startswith(key)) and not is_past

    def _object(self, key: str, path: list[str]) -> ObjectInfo | None:
        if not file_names.is_path_of(key, path):
            return None
        try:
            return info_of(key, Path(self._root, *path).stat())
        except OSError:
            return None


def info_of(key: str, status: os.stat_result) -> ObjectInfo | None:
    """An object as its file is; None if that is no regular file."""
    if not stat.S_ISREG(status.st_mode):
        return None
    return ObjectInfo(key, status.st_size, etag_of(status))


def etag_of(status: os.stat_result) -> str:
    """What changes when the file does; its MD5 would have to be computed anew every time."""
    return f"{status.st_mtime_ns:x}-{status.st_ino:x}-{status.st_size:x}"
