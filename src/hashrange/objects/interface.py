"""What an object store can do. All calls wait; jobs make them on threads of their own."""

import re
from collections.abc import Iterator
from typing import Protocol, Self

import msgspec

from hashrange.objects.errors import InvalidKey, KeyTooLong, NoSuchBucket, NoSuchKey

# The service's own pattern (API_ExportTableToPointInTime). None of these names leads out of a folder.
_BUCKET_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,253}[a-zA-Z0-9])?")
KEY_BYTES_MAX = 1024  # S3 user guide: object key names
CHUNK_BYTES = 1024 * 1024  # a read gives pieces of at most so many


class ObjectInfo(msgspec.Struct, frozen=True):
    """An object as a listing shows it."""

    key: str
    size: int
    # What changes when the object does. It is the MD5 only of small objects on S3.
    etag: str


class Written(msgspec.Struct, frozen=True):
    """An object that has been stored."""

    key: str
    size: int
    etag: str
    md5: bytes


class BucketOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What requests say about a bucket; a folder has no use for it."""

    sse_algorithm: str | None = None  # AES256 or KMS
    sse_kms_key_id: str | None = None
    owner: str | None = None  # an account id: S3 refuses to touch a bucket of anybody else


class Writer(Protocol):
    """An object on its way: nobody sees it before `commit`, and never if that is not called."""

    def write(self, data: bytes | memoryview) -> None:
        """Add to the object's end."""

    def commit(self) -> Written:
        """Make the object visible, whole and durable."""

    def abort(self) -> None:
        """Throw away what was written; does nothing after a commit."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None:
        """Abort what was not committed."""


class Bucket(Protocol):
    """A bucket and its objects."""

    name: str

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        """Give the objects whose keys begin with the prefix and come after a key, in the order of the keys' bytes."""

    def head(self, key: str) -> ObjectInfo:
        """Look at an object; `NoSuchKey` if there is none."""

    def read(self, key: str, *, offset: int = 0, etag: str | None = None) -> Iterator[bytes]:
        """Give the object's bytes from an offset on; `Changed` if it is, or becomes, another than that of the ETag."""

    def put(self, key: str, data: bytes) -> Written:
        """Store a small object, or replace one."""

    def writer(self, key: str) -> Writer:
        """Store a large object piece by piece."""

    def delete(self, key: str) -> None:
        """Remove an object, if there is one."""


class ObjectStore(Protocol):
    """Where the buckets are."""

    @property
    def description(self) -> str:
        """Say for people where it is, without secrets."""

    @property
    def is_local(self) -> bool:
        """Whether its buckets are folders of this machine, which nobody else keeps or encrypts."""

    def bucket(self, name: str, options: BucketOptions | None = None) -> Bucket:
        """A bucket by its name; `NoSuchBucket` comes at the first use at the latest."""

    def close(self) -> None:
        """Let go of connections and of whatever was temporary."""


def exists(bucket: Bucket, key: str) -> bool:
    """Whether the bucket has the object."""
    try:
        bucket.head(key)
    except NoSuchKey:
        return False
    return True


def check_bucket_name(name: str) -> None:
    """Refuse a name that no bucket has."""
    if not _BUCKET_NAME.fullmatch(name):
        raise NoSuchBucket("no bucket can have this name")


def check_key(key: str) -> None:
    """Refuse a key that S3 would not have."""
    try:
        length = len(key.encode("utf-8"))
    except UnicodeEncodeError:
        raise InvalidKey("the key is no UTF-8") from None
    if not length:
        raise InvalidKey("the key is empty")
    if length > KEY_BYTES_MAX:
        raise KeyTooLong
