"""Folders and buckets of the command line, as the server's own object stores."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from hashrange.objects.folder import FolderBucket
from hashrange.objects.interface import Bucket, ObjectInfo
from hashrange.objects.s3_address import S3Address, s3_address
from hashrange.objects.s3_store import S3Store
from hashrange.transfer.errors import TransferError
from hashrange.transfer.places import BucketPlace, FolderPlace

_EXPORTS = "AWSDynamoDB"
_REGION = "us-east-1"


class Objects(msgspec.Struct, frozen=True):
    """The objects whose keys begin with a prefix, or the one that has this key."""

    bucket: Bucket
    prefix: str
    description: str

    def list(self) -> Iterator[ObjectInfo]:
        """The objects: those of the prefix `a/b` are `a/b` itself and what is below it, not `a/bc`."""
        for info in self.bucket.list(self.prefix):
            rest = info.key[len(self.prefix) :]
            if not self.prefix or self.prefix.endswith("/") or not rest or rest.startswith("/"):
                yield info


def open_source(place: FolderPlace | BucketPlace, s3: str | None, environment: Mapping[str, str]) -> Objects:
    """The objects to read."""
    if isinstance(place, BucketPlace):
        return Objects(_s3_bucket(place, s3, environment), place.prefix, place.description)
    path = Path(place.path).resolve()
    if not path.exists():
        raise TransferError(f"there is no {place.path}")
    if not path.is_dir():
        return Objects(FolderBucket(path.parent.name, path.parent), path.name, place.path)
    # The data files of incremental exports are not below the folder of their manifests, but beside it.
    if path.parent.name == _EXPORTS:
        root = path.parents[1]
        return Objects(FolderBucket(root.name, root), f"{_EXPORTS}/{path.name}/", place.path)
    return Objects(FolderBucket(path.name, path), "", place.path)


def open_target(place: FolderPlace | BucketPlace, s3: str | None, environment: Mapping[str, str]) -> Objects:
    """Where to write objects; a folder is made."""
    if isinstance(place, BucketPlace):
        prefix = place.prefix.rstrip("/")
        return Objects(_s3_bucket(place, s3, environment), prefix, place.description)
    path = Path(place.path).resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TransferError(f"cannot make the folder {place.path}: {error.strerror}") from None
    return Objects(FolderBucket(path.name, path), "", place.path)


def _s3_bucket(place: BucketPlace, s3: str | None, environment: Mapping[str, str]) -> Bucket:
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or _REGION
    address = (
        s3_address(s3, environment, region) if s3 else S3Address(f"https://s3.{region}.amazonaws.com", region)
    )
    try:
        return S3Store(address).bucket(place.bucket)
    except ImportError:
        raise TransferError("this needs AWS's client library: pip install 'hashrange[s3]'") from None
