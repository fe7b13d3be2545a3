"""Which files a source has, and how they are to be read: by their manifests, or by their names and the flags."""

import msgspec

from hashrange.formats.compression import Compression
from hashrange.formats.csv_rows import CsvOptions
from hashrange.objects.errors import NoSuchKey
from hashrange.objects.interface import ObjectInfo, exists
from hashrange.transfer import table_schema
from hashrange.transfer.buckets import Objects
from hashrange.transfer.errors import TransferError
from hashrange.transfer.exports import SCHEMA, Export, find_exports, read_small
from hashrange.transfer.reading import FileFormat, FilesSource, SourceFile
from hashrange.transfer.table_schema import TableSchema

_PACKED: dict[str, Compression] = {".gz": "GZIP", ".gzip": "GZIP", ".zst": "ZSTD", ".zstd": "ZSTD"}
_FORMS: dict[str, FileFormat] = {
    ".csv": "csv",
    ".ion": "ion",
    ".json": "dynamodb-json",
    ".jsonl": "dynamodb-json",
    ".ndjson": "dynamodb-json",
}
_EXPORT_FORMS: dict[str, FileFormat] = {"DYNAMODB_JSON": "dynamodb-json", "ION": "ion"}


class FileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line says about files."""

    form: FileFormat | None = None
    json_plain: bool = False
    csv: CsvOptions = CsvOptions()


def files_source(objects: Objects, options: FileOptions) -> FilesSource:
    """The files below a prefix: those of exports, or else all of them."""
    if exports := find_exports(objects):
        return _of_exports(objects, exports)
    listed = [info for info in objects.list() if _is_data(info)]
    if not listed:
        raise TransferError(f"there are no files in {objects.description}")
    files = [_file(info, options) for info in listed]
    return FilesSource(bucket=objects.bucket, files=files, description=objects.description)


def _is_data(info: ObjectInfo) -> bool:
    name = info.key.rpartition("/")[2]
    return bool(name) and not name.startswith((".", "_"))


def _file(info: ObjectInfo, options: FileOptions) -> SourceFile:
    name = info.key.lower()
    compression: Compression = "NONE"
    for ending, packed in _PACKED.items():
        if name.endswith(ending):
            name, compression = name.removesuffix(ending), packed
    form = options.form or next((form for ending, form in _FORMS.items() if name.endswith(ending)), None)
    if options.json_plain and form in (None, "dynamodb-json"):
        form = "json-plain"
    if form is None:
        raise TransferError(f"{info.key}: its name does not say what it is; say it with --format")
    return SourceFile(key=info.key, etag=info.etag, form=form, compression=compression, csv=options.csv)


def _of_exports(objects: Objects, exports: list[Export]) -> FilesSource:
    bucket = objects.bucket
    files = [
        SourceFile(
            key=file.data_file_s3_key,
            etag=bucket.head(file.data_file_s3_key).etag,
            form=_EXPORT_FORMS[export.summary.output_format],
            compression="GZIP",
            data_file=file,
            incremental=export.summary.is_incremental,
        )
        for export in exports
        for file in export.files
    ]
    return FilesSource(
        bucket=bucket,
        files=files,
        description=objects.description,
        item_count=sum(export.summary.item_count for export in exports),
        unique=len(exports) == 1 and not exports[0].summary.is_incremental,
        schema=_schema(objects, exports[0].folder),
    )


def _schema(objects: Objects, folder: str) -> TableSchema | None:
    try:
        if not exists(objects.bucket, folder + SCHEMA):
            return None
        return table_schema.of_json(read_small(objects.bucket, folder + SCHEMA), folder + SCHEMA)
    except NoSuchKey:
        return None
