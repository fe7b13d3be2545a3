"""Exports that a server with a root key has encrypted: read with that key, and copied in the clear."""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from hashrange import wrapped_root_key
from hashrange.kms import root_key
from hashrange.kms.interface import FileSeals
from hashrange.kms.root_key import RootKey, RootKeyInvalid
from hashrange.objects import file_names
from hashrange.objects.folder import FolderBucket
from hashrange.objects.interface import Bucket, ObjectInfo
from hashrange.objects.opened_bucket import OpenedBucket
from hashrange.objects.sealed_exports import KEY_NAME
from hashrange.transfer.buckets import Objects
from hashrange.transfer.errors import BadArguments, TransferError
from hashrange.transfer.exports import SUMMARY, read_export

_KMS = "kms:"
_PLAIN = ("_started",)


def opened(objects: Objects, place: str | None) -> Objects:
    """The objects, in the clear if they are encrypted; with a root key they must be."""
    seals = None if place is None else _seals(place)
    bucket = OpenedBucket(objects.bucket, seals, must_be_sealed=lambda _key: seals is not None)
    return msgspec.structs.replace(objects, bucket=bucket)


def _seals(place: str) -> FileSeals:
    from hashrange.kms.file_seals import RootFileSeals  # noqa: PLC0415 - it loads the cipher

    try:
        return RootFileSeals(_root_key(place), seals_new=False)
    except RootKeyInvalid as problem:
        raise BadArguments(str(problem)) from None


def _root_key(place: str) -> RootKey:
    if place.startswith(_KMS):
        return wrapped_root_key.load(Path(place.removeprefix(_KMS)))
    return root_key.load(place, os.environ)


def decrypt(folder: Path, copy: Path, seals: FileSeals) -> int:
    """Copy a folder with encrypted exports in the clear; gives the number of files that were encrypted.

    Every export whose manifest is there must be whole.
    """
    if not folder.is_dir():
        raise TransferError(f"{folder} is no folder")
    folder, copy = folder.resolve(), copy.resolve()
    if copy.is_relative_to(folder):
        raise TransferError("the copy would be in the folder that is copied")
    source = OpenedBucket(FolderBucket(folder.name, folder), seals, must_be_sealed=_must_be_sealed)
    target = _new_folder(copy)
    count = 0
    for info in source.list():
        if info.key.rpartition("/")[2] != KEY_NAME:
            _copy(source, info, target)
            count += not _is_plain(info.key)
    with suppress(OSError):
        (copy / file_names.UPLOADS).rmdir()
    for info in target.list():
        if info.key.rpartition("/")[2] == SUMMARY:
            read_export(target, info.key.removesuffix(SUMMARY))
    return count


def _is_plain(key: str) -> bool:
    return key.rpartition("/")[2] in _PLAIN


def _must_be_sealed(key: str) -> bool:
    return not _is_plain(key)


def _new_folder(copy: Path) -> FolderBucket:
    try:
        copy.mkdir(parents=True, exist_ok=True)
        if any(copy.iterdir()):
            raise TransferError(f"{copy} is not empty")
    except OSError as error:
        raise TransferError(f"cannot make the folder {copy}: {error.strerror}") from None
    return FolderBucket(copy.name, copy)


def _copy(source: Bucket, info: ObjectInfo, target: Bucket) -> None:
    with target.writer(info.key) as writer:
        for piece in source.read(info.key, etag=info.etag):
            writer.write(piece)
        writer.commit()
