"""The files of a backup: blocks of items, compressed, each with a checksum; a manifest that names them comes last.

A backup without a manifest was never finished. The manifest is one line of JSON and one of its SHA-256, so that it can
be checked without a database, and has all that a database needs to know of the backup. A data file is a row of blocks:
four bytes of length, four of CRC-32, and so many bytes of zlib data, which unfold to rows: two bytes of length of the
key, four of the item's, then both. The document of record is docs/design/016-backups.md.
"""

import hashlib
import re
import secrets
from collections.abc import Iterator
from struct import Struct
from types import TracebackType
from typing import Self

import msgspec
from zlib_ng import zlib_ng

from hashrange.jobs.long_runs import JobFailure
from hashrange.objects.errors import NoSuchKey
from hashrange.objects.interface import Bucket
from hashrange.storage.backup_rows import Backup, BackupFile
from hashrange.storage.history import Row
from hashrange.storage.job_rows import JobPlace

FORMAT = 1
FILE_BYTES = 32 * 1024 * 1024  # of compressed data, after which the next file begins
BLOCK_BYTES_MAX = 64 * 1024 * 1024  # no block of ours is as large
_LEVEL = 1
_BLOCK = Struct(">II")
_ROW = Struct(">HI")
_MANIFEST = "manifest.json"
_FOLDER = re.compile(r"([0-9]{12})/([^/]+)/[a-zA-Z0-9_.-]{3,255}/([0-9]{14}-[0-9a-f]{8})/")
_NAME = re.compile(r"manifest\.json|data-[0-9]{6}-[0-9a-f]{8}\.blocks")


class DamagedBackup(JobFailure):
    """A backup's files are not what they were; the message says which and how."""

    def __init__(self, message: str) -> None:
        super().__init__("DamagedBackup", message)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """All that is to be known of a finished backup."""

    format: int
    account_id: str
    region: str
    id: str
    backup: Backup

    @property
    def place(self) -> JobPlace:
        """What identifies the backup."""
        return JobPlace(self.account_id, self.region, self.id)


class BackupPlace(msgspec.Struct, frozen=True):
    """Where all backups are."""

    bucket: Bucket
    prefix: str  # empty, or with a slash at its end

    def folder(self, place: JobPlace, table_name: str) -> str:
        """The beginning of the keys of one backup."""
        return f"{self.prefix}{place.account_id}/{place.region}/{table_name}/{place.id}/"

    def owner(self, key: str) -> JobPlace | None:
        """The backup that a file belongs to by its name; None for everything else."""
        folder = folder_of(key)
        return self.folder_owner(folder) if _NAME.fullmatch(key[len(folder) :]) else None

    def folder_owner(self, folder: str) -> JobPlace | None:
        """The backup whose files are in a folder."""
        match = _FOLDER.fullmatch(folder.removeprefix(self.prefix))
        return None if match is None else JobPlace(*match.groups())


class FileWriter:
    """A data file on its way."""

    def __init__(self, place: BackupPlace, folder: str, number: int) -> None:
        # No two writers have one name: a server that lost its lease unnoticed must not replace its successor's file.
        self.name = f"data-{number:06d}-{secrets.token_hex(4)}.blocks"
        self._writer = place.bucket.writer(folder + self.name)
        self._digest = hashlib.sha256()
        self._items = 0
        self.size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.abort()

    def write(self, rows: list[Row]) -> None:
        """Add a block."""
        plain = b"".join(
            part for key, stored in rows for part in (_ROW.pack(len(key), len(stored)), key, stored)
        )
        packed = zlib_ng.compress(plain, _LEVEL)
        block = _BLOCK.pack(len(packed), zlib_ng.crc32(packed)) + packed
        self._writer.write(block)
        self._digest.update(block)
        self._items += len(rows)
        self.size += len(block)

    def commit(self) -> BackupFile:
        """Make the file durable."""
        self._writer.commit()
        return BackupFile(self.name, self.size, self._digest.hexdigest(), self._items)

    def abort(self) -> None:
        """Throw the file away."""
        self._writer.abort()


def write_manifest(backups: BackupPlace, place: JobPlace, backup: Backup) -> None:
    """Make a backup whole."""
    manifest = Manifest(
        format=FORMAT, account_id=place.account_id, region=place.region, id=place.id, backup=backup
    )
    body = msgspec.json.encode(manifest)
    digest = hashlib.sha256(body).hexdigest().encode()
    key = backups.folder(place, backup.source.name) + _MANIFEST
    backups.bucket.put(key, body + b"\n" + digest + b"\n")


def read_manifest(backups: BackupPlace, folder: str) -> Manifest:
    """The manifest of a backup."""
    try:
        stored = b"".join(backups.bucket.read(folder + _MANIFEST))
    except NoSuchKey:
        raise DamagedBackup(f"{folder}{_MANIFEST} is missing") from None
    body, _, digest = stored.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest.strip():
        raise DamagedBackup(f"{folder}{_MANIFEST} has a wrong checksum")
    try:
        manifest = msgspec.json.decode(body, type=Manifest)
    except msgspec.MsgspecError as error:
        raise DamagedBackup(f"{folder}{_MANIFEST} cannot be read: {error}") from None
    if manifest.format != FORMAT:
        raise DamagedBackup(f"{folder}{_MANIFEST} has format {manifest.format}, this version reads {FORMAT}")
    return manifest


def folder_of(key: str) -> str:
    """The folder that a file of a backup is in."""
    return key[: key.rfind("/") + 1]


def is_manifest(key: str) -> bool:
    """Whether this is the file that makes a backup whole."""
    return key.endswith(f"/{_MANIFEST}")


def is_finished(backups: BackupPlace, folder: str) -> bool:
    """Whether a backup has its manifest."""
    try:
        backups.bucket.head(folder + _MANIFEST)
    except NoSuchKey:
        return False
    return True


def delete(backups: BackupPlace, folder: str) -> None:
    """Remove a backup's files, the manifest first: what is left without one is nobody's."""
    backups.bucket.delete(folder + _MANIFEST)
    for found in list(backups.bucket.list(folder)):
        backups.bucket.delete(found.key)


class BackupSource:
    """The items of a backup in key order."""

    def __init__(self, backups: BackupPlace, folder: str) -> None:
        self._backups = backups
        self._folder = folder

    def verify(self) -> Iterator[None]:
        """Read all files and compare them with the manifest, a piece at a time."""
        for file in self._files():
            digest, size = hashlib.sha256(), 0
            for piece in self._pieces(file.name):
                digest.update(piece)
                size += len(piece)
                yield
            if (size, digest.hexdigest()) != (file.size, file.sha256):
                raise DamagedBackup(f"{self._folder}{file.name} has a wrong length or checksum")

    def chunks(self, after: bytes | None = None) -> Iterator[list[Row]]:
        """All items behind a key."""
        for file in self._files():
            for rows in self._blocks(file):
                wanted = rows if after is None else [row for row in rows if row[0] > after]
                if wanted:
                    yield wanted

    def close(self) -> None:
        """Nothing is held."""

    def _files(self) -> tuple[BackupFile, ...]:
        return read_manifest(self._backups, self._folder).backup.files

    def _pieces(self, name: str) -> Iterator[bytes]:
        try:
            yield from self._backups.bucket.read(self._folder + name)
        except NoSuchKey:
            raise DamagedBackup(f"{self._folder}{name} is missing") from None

    def _blocks(self, file: BackupFile) -> Iterator[list[Row]]:
        buffered = bytearray()
        name = f"{self._folder}{file.name}"
        for piece in self._pieces(file.name):
            buffered += piece
            while len(buffered) >= _BLOCK.size:
                length, checksum = _BLOCK.unpack_from(buffered)
                if length > BLOCK_BYTES_MAX:
                    raise DamagedBackup(f"{name} has a block that is too long")
                end = _BLOCK.size + length
                if len(buffered) < end:
                    break
                packed = bytes(buffered[_BLOCK.size : end])
                del buffered[:end]
                if zlib_ng.crc32(packed) != checksum:
                    raise DamagedBackup(f"{name} has a block with a wrong checksum")
                yield _rows(zlib_ng.decompress(packed))
        if buffered:
            raise DamagedBackup(f"{name} ends in the middle of a block")


def _rows(plain: bytes) -> list[Row]:
    rows: list[Row] = []
    at = 0
    while at < len(plain):
        key_length, stored_length = _ROW.unpack_from(plain, at)
        key_at = at + _ROW.size
        stored_at = key_at + key_length
        at = stored_at + stored_length
        rows.append((plain[key_at:stored_at], plain[stored_at:at]))
    return rows
