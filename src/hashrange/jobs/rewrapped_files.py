"""Rotating the root key of files beside the database: only their heads are written again.

A head has the key of its file under both root keys while the rotation is under way, so that an interruption leaves
files that open with whichever key the database has.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import NamedTuple

import msgspec

from hashrange.core.schema import changed
from hashrange.jobs import backup_files, sealed_files
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.sealed_files import SealedFile
from hashrange.kms.errors import NotAuthentic, OtherRootKey
from hashrange.kms.file_seals import RootFileSeals
from hashrange.objects.errors import NoSuchBucket, NoSuchKey, Tampered
from hashrange.objects.folder import FolderStore
from hashrange.objects.interface import Bucket
from hashrange.objects.opened_bucket import read_export_key
from hashrange.objects.sealed_exports import KEY_NAME, ExportKey

_Keys = dict[str, bytes]


class _Head(NamedTuple):
    """What a file, or the files of an export, are opened with."""

    name: str
    keys: _Keys
    save: Callable[[_Keys], None]


class FileHeads:
    """The heads of all encrypted files: backups and reports, and exports in folders that stand for buckets."""

    def __init__(
        self,
        backups: BackupPlace | None,
        exports: FolderStore | None,
        old: RootFileSeals,
        new: RootFileSeals,
    ) -> None:
        self._backups = backups
        self._exports = exports
        self._old = old
        self._new = new
        self.left: list[str] = []  # the files that neither key opens

    def share(self) -> int:
        """Put every file under the new key as well; gives how many are under it."""
        return self._rewrite(lambda keys: self._old.shared_with(self._new, keys))

    def drop_old(self) -> int:
        """Take the old key out of every file that is under the new one; gives how many are."""
        return self._rewrite(self._only_new)

    def _only_new(self, keys: _Keys) -> _Keys:
        new_id = self._new.key_id
        if new_id not in keys:
            raise OtherRootKey(keys, new_id)
        return {new_id: keys[new_id]}

    def _rewrite(self, change: Callable[[_Keys], _Keys]) -> int:
        self.left = []
        count = 0
        for head in chain(_of_backups(self._backups), _of_exports(self._exports)):
            try:
                keys = change(head.keys)
            except (OtherRootKey, NotAuthentic):
                self.left.append(head.name)
                continue
            count += 1
            if keys != head.keys:
                head.save(keys)
        return count


def _of_backups(backups: BackupPlace | None) -> Iterator[_Head]:
    if backups is None:
        return
    with suppress(NoSuchBucket):  # then there are none
        for info in list(backups.bucket.list(backups.prefix)):
            if backup_files.is_manifest(info.key) or info.key.endswith(sealed_files.SUFFIX):
                with suppress(NoSuchKey, msgspec.MsgspecError):  # it is in the clear, or damaged
                    body = b"".join(backups.bucket.read(info.key)).partition(b"\n")[0]
                    file = msgspec.json.decode(body, type=SealedFile)
                    yield _Head(info.key, file.keys, partial(_save_file, backups.bucket, info.key, file))


def _save_file(bucket: Bucket, key: str, file: SealedFile, keys: _Keys) -> None:
    body = msgspec.json.encode(changed(file, keys=keys))
    bucket.put(key, backup_files.with_digest(body) if backup_files.is_manifest(key) else body)


def _of_exports(store: FolderStore | None) -> Iterator[_Head]:
    """The objects with the keys of exports. Those of exports that the database has forgotten are there, too."""
    for bucket in () if store is None else store.buckets():
        for key in [info.key for info in bucket.list() if info.key.rpartition("/")[2] == KEY_NAME]:
            with suppress(NoSuchKey, Tampered):  # it is damaged, or somebody else's
                stored = read_export_key(bucket, key)
                yield _Head(f"{bucket.name}/{key}", stored.keys, partial(_save_key, bucket, key, stored))


def _save_key(bucket: Bucket, key: str, stored: ExportKey, keys: _Keys) -> None:
    bucket.put(key, msgspec.json.encode(changed(stored, keys=keys)))
