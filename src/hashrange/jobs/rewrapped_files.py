"""Rotating the root key of files beside the database: only their heads are written again.

A head has the key of its file under both root keys while the rotation is under way, so that an interruption leaves
files that open with whichever key the database has.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from hashrange.core.schema import changed
from hashrange.jobs import backup_files, sealed_files
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.sealed_files import SealedFile
from hashrange.kms.errors import NotAuthentic, OtherRootKey
from hashrange.kms.file_seals import RootFileSeals
from hashrange.objects.errors import NoSuchBucket, NoSuchKey

_Keys = dict[str, bytes]


class FileHeads:
    """The heads of all encrypted files of one place."""

    def __init__(self, backups: BackupPlace, old: RootFileSeals, new: RootFileSeals) -> None:
        self._backups = backups
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
        for key, file in self._files():
            try:
                keys = change(file.keys)
            except (OtherRootKey, NotAuthentic):
                self.left.append(key)
                continue
            count += 1
            if keys != file.keys:
                body = msgspec.json.encode(changed(file, keys=keys))
                is_manifest = backup_files.is_manifest(key)
                self._backups.bucket.put(key, backup_files.with_digest(body) if is_manifest else body)
        return count

    def _files(self) -> Iterator[tuple[str, SealedFile]]:
        with suppress(NoSuchBucket):  # then there are none
            for info in list(self._backups.bucket.list(self._backups.prefix)):
                if backup_files.is_manifest(info.key) or info.key.endswith(sealed_files.SUFFIX):
                    with suppress(NoSuchKey, msgspec.MsgspecError):  # it is in the clear, or damaged
                        body = b"".join(self._backups.bucket.read(info.key)).partition(b"\n")[0]
                        yield info.key, msgspec.json.decode(body, type=SealedFile)
