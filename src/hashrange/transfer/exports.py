"""Finding the exports below a prefix, and the order in which they make a table."""

from datetime import datetime
from itertools import pairwise

import msgspec

from hashrange.formats import limits, manifest
from hashrange.formats.errors import Damaged
from hashrange.formats.export_names import checksum_name
from hashrange.formats.manifest import DataFile, Summary
from hashrange.objects.errors import NoSuchKey
from hashrange.objects.interface import Bucket
from hashrange.transfer.buckets import Objects
from hashrange.transfer.errors import TransferError

SUMMARY = "manifest-summary.json"
_STARTED = "_started"
SCHEMA = "table-schema.json"  # only our own exports have it


class Export(msgspec.Struct, frozen=True):
    """An export that is complete; the keys of its files are where they are now."""

    folder: str  # of the manifests, with a slash at its end
    summary: Summary
    files: list[DataFile]


def find_exports(objects: Objects) -> list[Export]:
    """The exports of a table: a full one and the incremental ones behind it, in order; none if there is no manifest."""
    keys = [info.key for info in objects.list() if info.key.rpartition("/")[2] in (SUMMARY, _STARTED)]
    folders = [key.removesuffix(SUMMARY) for key in keys if not key.endswith(_STARTED)]
    if keys and not folders:
        raise TransferError(f"the export in {objects.description} is not complete: it has no {SUMMARY}")
    return _chain([read_export(objects.bucket, folder) for folder in folders])


def read_small(bucket: Bucket, key: str) -> bytes:
    """The whole of an object that should be small."""
    parts: list[bytes] = []
    size = 0
    for part in bucket.read(key):
        parts.append(part)
        size += len(part)
        if size > limits.MANIFEST_BYTES_MAX:
            raise Damaged(f"{key} is larger than {limits.MANIFEST_BYTES_MAX} bytes")
    return b"".join(parts)


def read_export(bucket: Bucket, folder: str) -> Export:
    """The export whose manifests are in a folder; `Damaged` if one of its files is not there."""
    key = folder + SUMMARY
    summary = manifest.read_summary(read_small(bucket, key), read_small(bucket, checksum_name(key)))
    # An export may have been copied: its files are found from where the manifest is now.
    key = folder + summary.manifest_files_s3_key.rpartition("/")[2]
    files = manifest.read_files(read_small(bucket, key), read_small(bucket, checksum_name(key)), summary)
    data = f"{_parent(folder)}data/" if summary.is_incremental else f"{folder}data/"
    return Export(folder, summary, [_located(bucket, file, data) for file in files])


def _parent(folder: str) -> str:
    parent = folder.rstrip("/").rpartition("/")[0]
    return f"{parent}/" if parent else ""


def _located(bucket: Bucket, file: DataFile, data: str) -> DataFile:
    key = data + file.data_file_s3_key.rpartition("/")[2]
    for candidate in (key, file.data_file_s3_key):
        try:
            bucket.head(candidate)
        except NoSuchKey:
            continue
        return msgspec.structs.replace(file, data_file_s3_key=candidate)
    raise Damaged(f"the export has no file {key}, which its manifest names")


def _chain(exports: list[Export]) -> list[Export]:
    full = [export for export in exports if not export.summary.is_incremental]
    later = [export for export in exports if export.summary.is_incremental]
    if len(full) > 1:
        names = ", ".join(export.folder for export in full)
        raise TransferError(f"there are several full exports; name the folder of one of them: {names}")
    if len({export.summary.table_arn for export in exports}) > 1:
        raise TransferError("the exports are of different tables")
    later.sort(
        key=lambda export: (_time(export.summary.export_from_time), _time(export.summary.export_to_time))
    )
    for before, after in pairwise(full + later):
        if _time(after.summary.export_from_time) > _end(before.summary):
            raise TransferError(
                f"an incremental export is missing: {after.folder} begins at {after.summary.export_from_time}, "
                f"but {before.folder} ends at {_end(before.summary).isoformat()}"
            )
    return full + later


def _end(summary: Summary) -> datetime:
    return _time(summary.export_to_time if summary.is_incremental else summary.export_time)


def _time(text: str | msgspec.UnsetType) -> datetime:
    try:
        moment = datetime.fromisoformat(text if isinstance(text, str) else "")
    except ValueError:
        raise Damaged(f"manifest-summary.json has no valid time: {text}") from None
    if moment.tzinfo is None:
        raise Damaged(f"manifest-summary.json has a time without its zone: {text}")
    return moment
