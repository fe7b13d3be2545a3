"""The names of an export's objects (developer guide: DynamoDB table export output format)."""

import base64
import re
from datetime import UTC, datetime

import msgspec

from hashrange.formats.compression import Compression

_FOLDER = "AWSDynamoDB"
_ENDINGS = {"DYNAMODB_JSON": ".json", "ION": ".ion"}
_PACKED = {"NONE": "", "GZIP": ".gz", "ZSTD": ".zst"}
RANDOM_NAME_BYTES = 16
EXPORT_ID_LENGTH = 23
_EXPORT_ID = re.compile(r"[0-9]{14}-[0-9a-f]{8}")
_EXPORT_FOLDER = re.compile(rf"(?:.*/)?{_FOLDER}/({_EXPORT_ID.pattern})/", re.DOTALL)


def job_id(epoch_ms: int, random_bytes: bytes) -> str:
    """The last part of an ARN of an export, import or bulk operation: when it began, and four random bytes."""
    return f"{epoch_ms:014d}-{random_bytes[:4].hex()}"


def is_export_id(text: str) -> bool:
    """Whether an export may have this id."""
    return _EXPORT_ID.fullmatch(text) is not None


def export_folder(key: str) -> tuple[str, str] | None:
    """The folder of the export that an object is in by its key, and the export's id."""
    match = _EXPORT_FOLDER.match(key)
    return None if match is None else (match[0], match[1])


def data_file_name(random_bytes: bytes, export_format: str, compression: Compression = "GZIP") -> str:
    """26 characters that nobody else has, and endings that say what is inside."""
    name = base64.b32encode(random_bytes[:RANDOM_NAME_BYTES]).decode("ascii").rstrip("=").lower()
    return name + _ENDINGS[export_format] + _PACKED[compression]


class ExportNames(msgspec.Struct, frozen=True):
    """The keys of an export below a prefix."""

    prefix: str | None
    export_id: str
    incremental: bool = False

    @property
    def folder(self) -> str:
        """Where its manifests are."""
        return f"{self._top}/{self.export_id}/"

    @property
    def started(self) -> str:
        """The empty object that is written first."""
        return self.folder + "_started"

    @property
    def summary(self) -> str:
        """What the export is."""
        return self.folder + "manifest-summary.json"

    @property
    def files(self) -> str:
        """Which data files it has."""
        return self.folder + "manifest-files.json"

    def data(self, file_name: str) -> str:
        """A data file; all incremental exports under a prefix share one folder."""
        return f"{self._top}/data/{file_name}" if self.incremental else f"{self.folder}data/{file_name}"

    @property
    def _top(self) -> str:
        prefix = (self.prefix or "").rstrip("/")
        return f"{prefix}/{_FOLDER}" if prefix else _FOLDER


def checksum_name(manifest: str) -> str:
    """The object with the MD5 of a manifest."""
    return manifest.removesuffix(".json") + ".md5"


def iso_time(epoch_seconds: float) -> str:
    """A time as manifests have it: rounded like those of DescribeExport, so that both are the same."""
    moment = datetime.fromtimestamp(round(epoch_seconds, 3), UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
