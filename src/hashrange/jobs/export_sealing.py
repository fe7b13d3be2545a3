"""Exports under the root key: which are encrypted, under which key, and how imports read them."""

from functools import partial

import msgspec

from hashrange.core.schema import changed
from hashrange.formats.export_names import ExportNames, export_folder
from hashrange.jobs.long_runs import JobFailure
from hashrange.kms.errors import NotAuthentic, OtherRootKey
from hashrange.kms.interface import FileSeals
from hashrange.objects.interface import Bucket, ObjectStore, exists
from hashrange.objects.opened_bucket import OpenedBucket
from hashrange.objects.sealed_exports import KEY_NAME, ExportKey, ExportSeal, SealingBucket
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.export_rows import EXPORTS, Export
from hashrange.storage.job_rows import JobPlace

_FOLDERS_MAX = 1000  # that are remembered


def is_sealed(objects: ObjectStore, seals: FileSeals | None) -> bool:
    """Whether new exports are encrypted: where rows are, and we keep the files. Others' stores encrypt themselves."""
    return seals is not None and seals.seals_new and objects.is_local


def with_keys(engine: Engine, place: JobPlace, export: Export, seals: FileSeals) -> Export:
    """An export with the key of its files; one that has begun in the clear stays so."""
    if export.keys or export.progress.files:
        return export
    return engine.write(partial(_choose_keys, place=place, export=export, new_keys=seals.new_keys()))


def _choose_keys(tx: Transaction, *, place: JobPlace, export: Export, new_keys: dict[str, bytes]) -> Export:
    """The key of the first who chose one: what is in finished files is under it."""
    stored = EXPORTS.find(tx, place)
    if stored is None or stored.keys or stored.status != "IN_PROGRESS":
        return export if stored is None else stored
    chosen = changed(stored, keys=new_keys, sealed=True)
    EXPORTS.save(tx, place, chosen, active=True)
    return chosen


def sealing_bucket(
    bucket: Bucket, names: ExportNames, place: JobPlace, export: Export, seals: FileSeals | None
) -> SealingBucket:
    """The bucket for an export's files; their key is there before them."""
    if seals is None:
        raise _cannot_go_on("there is no root key")
    try:
        cipher = seals.cipher(export.keys)
    except OtherRootKey as problem:
        raise _cannot_go_on(str(problem)) from None
    except NotAuthentic:
        raise _cannot_go_on("the key of its files was changed") from None
    key = ExportKey(account_id=place.account_id, export_id=place.id, keys=export.keys)
    bucket.put(names.folder + KEY_NAME, msgspec.json.encode(key))
    return SealingBucket(bucket, ExportSeal(cipher, account_id=place.account_id, export_id=place.id))


def _cannot_go_on(reason: str) -> JobFailure:
    text = "The files of the export are encrypted, and it cannot go on under the root key of this server"
    return JobFailure("UNKNOWN", text, reason)


def opened_input(engine: Engine, bucket: Bucket, seals: FileSeals | None, account_id: str) -> Bucket:
    """A bucket to import from: encrypted exports of this account are read as if they were in the clear."""
    return OpenedBucket(
        bucket, seals, account_id=account_id, must_be_sealed=_SealedFolders(engine, bucket).has
    )


class _SealedFolders:
    """Which folders have only encrypted objects: whoever can write to the disk might put others in their place."""

    def __init__(self, engine: Engine, bucket: Bucket) -> None:
        self._engine = engine
        self._bucket = bucket
        self._known: dict[str, bool] = {}

    def has(self, key: str) -> bool:
        """Whether the object is in such a folder."""
        found = export_folder(key)
        if found is None:
            return False
        folder, export_id = found
        if folder not in self._known:
            if len(self._known) >= _FOLDERS_MAX:
                self._known.clear()
            self._known[folder] = exists(self._bucket, folder + KEY_NAME) or self._engine.read(
                partial(self._is_recorded, folder=folder, export_id=export_id)
            )
        return self._known[folder]

    def _is_recorded(self, reader: Reader, *, folder: str, export_id: str) -> bool:
        """Whether the database knows that an export was encrypted there. Decrypted copies may be anywhere else."""
        return any(
            export.sealed
            and export.bucket == self._bucket.name
            and ExportNames(export.prefix, export_id).folder == folder
            for export in EXPORTS.with_id(reader, export_id)
        )
