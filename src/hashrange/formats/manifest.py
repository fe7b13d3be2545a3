"""The manifests of an export: what it is, which files it has, and the checksums by which a reader knows it is whole."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from hashrange.formats import limits
from hashrange.formats.errors import Damaged, Garbage
from hashrange.formats.lines import lines

FULL_VERSION = "2020-06-30"
INCREMENTAL_VERSION = "2023-08-01"


class Summary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """manifest-summary.json. What a kind of export has not, it leaves out; what was not asked for is null."""

    version: str
    export_arn: str
    start_time: str
    end_time: str
    table_arn: str
    table_id: str
    export_time: str | msgspec.UnsetType = msgspec.UNSET
    export_from_time: str | msgspec.UnsetType = msgspec.UNSET
    export_to_time: str | msgspec.UnsetType = msgspec.UNSET
    s3_bucket: str = msgspec.field(name="s3Bucket")
    s3_prefix: str | None = msgspec.field(name="s3Prefix")
    s3_sse_algorithm: str | None = msgspec.field(name="s3SseAlgorithm")
    s3_sse_kms_key_id: str | None = msgspec.field(name="s3SseKmsKeyId")
    manifest_files_s3_key: str = msgspec.field(name="manifestFilesS3Key")
    billed_size_bytes: int
    item_count: int
    output_format: Literal["DYNAMODB_JSON", "ION"]
    output_view: str | msgspec.UnsetType = msgspec.UNSET
    export_type: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_incremental(self) -> bool:
        """Full exports need not say that they are."""
        return self.export_type == "INCREMENTAL_EXPORT"


class DataFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of manifest-files.json. The checksum is that of the object as it is stored."""

    item_count: int
    md5_checksum: str = msgspec.field(name="md5Checksum")
    etag: str | None = None
    data_file_s3_key: str = msgspec.field(name="dataFileS3Key")


_summary = msgspec.json.Decoder(Summary)
_data_file = msgspec.json.Decoder(DataFile)


def md5_text(digest: bytes) -> str:
    """An MD5 as manifests and their checksum files have it."""
    return base64.b64encode(digest).decode("ascii")


def checksum(content: bytes) -> bytes:
    """The content of the `.md5` object beside a manifest."""
    return md5_text(hashlib.md5(content, usedforsecurity=False).digest()).encode("ascii")


def encode_summary(summary: Summary) -> bytes:
    """One line: some readers take only the first."""
    return msgspec.json.encode(summary)


def encode_files(files: Iterable[DataFile]) -> bytes:
    """A line for each file."""
    return b"".join(msgspec.json.encode(file) + b"\n" for file in files)


def read_summary(content: bytes, md5: bytes) -> Summary:
    """A summary that is what was written."""
    _check(content, md5, "manifest-summary.json")
    try:
        return _summary.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Damaged(f"manifest-summary.json cannot be read: {error}") from None


def read_files(content: bytes, md5: bytes, summary: Summary) -> list[DataFile]:
    """The files of an export, which have as many items as its summary says."""
    _check(content, md5, "manifest-files.json")
    try:
        files = [_data_file.decode(line) for line in lines([content]) if line.strip()]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, Garbage) as error:
        raise Damaged(f"manifest-files.json cannot be read: {error}") from None
    total = sum(file.item_count for file in files)
    if total != summary.item_count:
        raise Damaged(f"manifest-files.json has {total} items, manifest-summary.json {summary.item_count}")
    return files


def _check(content: bytes, md5: bytes, name: str) -> None:
    if len(content) > limits.MANIFEST_BYTES_MAX:
        raise Damaged(f"{name} is larger than {limits.MANIFEST_BYTES_MAX} bytes")
    if checksum(content) != md5.strip():
        raise Damaged(f"{name} does not have the checksum that stands beside it")


def verified(chunks: Iterable[bytes], file: DataFile) -> Iterator[bytes]:
    """The bytes of a data file; `Damaged` at its end if they are not those that were written."""
    digest = hashlib.md5(usedforsecurity=False)
    for chunk in chunks:
        digest.update(chunk)
        yield chunk
    if md5_text(digest.digest()) != file.md5_checksum:
        raise Damaged(f"{file.data_file_s3_key} does not have the checksum in manifest-files.json")


def check_count(file: DataFile, item_count: int) -> None:
    """Refuse a data file that had more or fewer items than its line says."""
    if item_count != file.item_count:
        raise Damaged(
            f"{file.data_file_s3_key} has {item_count} items, manifest-files.json says {file.item_count}"
        )
