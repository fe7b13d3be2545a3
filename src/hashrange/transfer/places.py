"""What `--from` and `--to` name: a table at an endpoint, a folder or file, or a part of a bucket."""

import re
from urllib.parse import unquote, urlsplit

import msgspec

from hashrange.passwords import masked
from hashrange.transfer.errors import BadArguments

_TABLE_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
_AWS_HOST = re.compile(r"dynamodb(?:-fips)?\.([a-z0-9-]+)\.(amazonaws\.com(?:\.cn)?)")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_S3 = "s3://"
_REGION = "us-east-1"


class TablePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A table at an endpoint. Without keys of its own, those are taken that AWS's tools would find."""

    endpoint: str
    table: str
    region: str
    access_key_id: str | None = None
    secret_access_key: str | None = None
    profile: str | None = None

    def __repr__(self) -> str:
        """Leave out the secret."""
        return f"TablePlace({self.description!r})"

    @property
    def description(self) -> str:
        """For people, and to tell one place from another."""
        return f"{self.endpoint}/{self.table}"

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine, where servers take any keys."""
        return urlsplit(self.endpoint).hostname in _LOOPBACK

    @property
    def streams_endpoint(self) -> str:
        """AWS has another host for streams; everybody else has them on the same."""
        parts = urlsplit(self.endpoint)
        aws = _AWS_HOST.fullmatch(parts.hostname or "")
        return f"https://streams.dynamodb.{aws[1]}.{aws[2]}" if aws else self.endpoint


class FolderPlace(msgspec.Struct, frozen=True):
    """A folder or a file on this machine."""

    path: str

    @property
    def description(self) -> str:
        return self.path

    @property
    def root(self) -> str:
        """Where the keys of objects begin."""
        return self.path


class BucketPlace(msgspec.Struct, frozen=True):
    """The objects of a bucket whose keys begin with a prefix, which is empty or ends with a slash or a file's name."""

    bucket: str
    prefix: str

    @property
    def description(self) -> str:
        return f"{_S3}{self.bucket}/{self.prefix}"

    @property
    def root(self) -> str:
        """Where the keys of objects begin."""
        return f"{_S3}{self.bucket}"


Place = TablePlace | FolderPlace | BucketPlace


def place(text: str, *, region: str | None, profile: str | None) -> Place:
    """The place that a word of the command line names."""
    if text.startswith(_S3):
        bucket, _, prefix = text.removeprefix(_S3).partition("/")
        if not bucket:
            raise BadArguments(f"{text} names no bucket: s3://BUCKET/PREFIX")
        return BucketPlace(bucket, prefix)
    if text.startswith(("http://", "https://")):
        return _table(text, region, profile)
    if "://" in text:
        raise BadArguments(
            f"{masked(text)} is neither a folder nor an s3:// URL nor an http(s):// URL of a table"
        )
    if not text:
        raise BadArguments("a place is empty")
    return FolderPlace(text)


def _table(text: str, region: str | None, profile: str | None) -> TablePlace:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise BadArguments(f"{masked(text)} is no URL: {error}") from None
    path, _, table = parts.path.rpartition("/")
    if not parts.hostname or not _TABLE_NAME.fullmatch(table):
        raise BadArguments(
            f"{masked(text)} names no table: an endpoint's URL ends with one, such as http://localhost:8000/TABLE"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    aws = _AWS_HOST.fullmatch(parts.hostname)
    return TablePlace(
        endpoint=f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{path}",
        table=table,
        region=aws[1] if aws else region or _REGION,
        access_key_id=None if parts.username is None else unquote(parts.username),
        secret_access_key=None if parts.password is None else unquote(parts.password),
        profile=profile,
    )
