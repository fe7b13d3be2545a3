"""The files of a backup: blocks of items, compressed, each with a checksum; a manifest that names them comes last.

A backup without a manifest was never finished. The manifest is one line of JSON and one of its SHA-256, so that it can
be checked without a database, and has all that a database needs to know of the backup. A data file is a row of blocks:
four bytes of length, four of CRC-32, and so many bytes of zlib data, which unfold to rows: two bytes of length of the
key, four of the item's, then both. The document of record is docs/design/016-backups.md.

Where rows are encrypted, blocks and the manifest are, too, under a key that the manifest has wrapped. A block opens
only as that number of that file.
"""

import hashlib
import re
import secrets
from collections.abc import Iterator
from struct import Struct
from struct import error as StructError  # noqa: N812
from types import TracebackType
from typing import Self

import msgspec
from zlib_ng import zlib_ng

from hashrange.jobs import sealed_files
from hashrange.jobs.long_runs import JobFailure
from hashrange.jobs.sealed_files import SEALED_FORMAT, SealedFile
from hashrange.kms.errors import NotAuthentic, OtherRootKey
from hashrange.kms.interface import BlockCipher, FileSeals
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


class _Head(msgspec.Struct, frozen=True):
    """What every manifest begins with."""

    format: int


class BackupPlace(msgspec.Struct, frozen=True):
    """Where all backups are."""

    bucket: Bucket
    prefix: str  # empty, or with a slash at its end
    seals: FileSeals | None = None  # None: there is no root key

    def folder(self, place: JobPlace, table_name: str) -> str:
        """The beginning of the keys of one backup."""
        return f"{self.prefix}{place.account_id}/{place.region}/{table_name}/{place.id}/"

    def owner(self, key: str) -> JobPlace | None:
        """The backup that a file belongs to by its name; None for everything else."""
        folder = folder_of(key)
        return self.folder_owner(folder) if _NAME.fullmatch(key[len(folder) :]) else None

    def new_keys(self) -> dict[str, bytes]:
        """The wrapped key for a new backup; none if backups are kept in the clear."""
        return {} if self.seals is None or not self.seals.seals_new else self.seals.new_keys()

    def put_report(self, key: str, content: bytes) -> None:
        """Write a report for the operator beside the backups, encrypted if they are."""
        keys = self.new_keys()
        cipher = self.cipher(keys, key)
        if cipher is not None:
            key += sealed_files.SUFFIX
            content = sealed_files.sealed(content, cipher, keys)
        self.bucket.put(key, content)

    def cipher(self, keys: dict[str, bytes], name: str) -> BlockCipher | None:
        """What opens a backup with these wrapped keys; None for one in the clear."""
        if not keys:
            return None
        if self.seals is None:
            raise DamagedBackup(f"{name} is encrypted, and there is no root key: name it with --root-key")
        try:
            return self.seals.cipher(keys)
        except OtherRootKey as problem:
            raise DamagedBackup(f"{name} cannot be read: {problem}") from None
        except NotAuthentic:
            raise DamagedBackup(f"{name} has a key that was changed") from None

    def folder_owner(self, folder: str) -> JobPlace | None:
        """The backup whose files are in a folder."""
        match = _FOLDER.fullmatch(folder.removeprefix(self.prefix))
        return None if match is None else JobPlace(*match.groups())


class FileWriter:
    """A data file on its way."""

    def __init__(
        self, place: BackupPlace, folder: str, number: int, cipher: BlockCipher | None = None
    ) -> None:
        # No two writers have one name: a server that lost its lease unnoticed must not replace its successor's file.
        self.name = f"data-{number:06d}-{secrets.token_hex(4)}.blocks"
        self._writer = place.bucket.writer(folder + self.name)
        self._cipher = cipher
        self._digest = hashlib.sha256()
        self._blocks = 0
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
        if self._cipher is not None:
            packed = self._cipher.seal(packed, self.name, str(self._blocks))
        self._blocks += 1
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


def write_manifest(
    backups: BackupPlace, place: JobPlace, backup: Backup, keys: dict[str, bytes] | None = None
) -> None:
    """Make a backup whole; `keys` are the wrapped ones of its files, if these are encrypted."""
    manifest = Manifest(
        format=FORMAT, account_id=place.account_id, region=place.region, id=place.id, backup=backup
    )
    body = msgspec.json.encode(manifest)
    key = backups.folder(place, backup.source.name) + _MANIFEST
    cipher = backups.cipher(keys or {}, key)
    if keys and cipher is not None:
        body = sealed_files.sealed(body, cipher, keys)
    backups.bucket.put(key, with_digest(body))


def with_digest(body: bytes) -> bytes:
    """A manifest as it is in its file."""
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n"


def read_manifest(backups: BackupPlace, folder: str) -> Manifest:
    """The manifest of a backup."""
    return _opened_manifest(backups, folder)[0]


def read_unknown_manifest(backups: BackupPlace, folder: str) -> Manifest:
    """The manifest of a backup that the database does not know.

    Where new backups are encrypted one in the clear is refused: anybody who can write there could have made it. The
    database vouches for those that it knows.
    """
    manifest, cipher = _opened_manifest(backups, folder)
    if cipher is None and backups.seals is not None and backups.seals.seals_new:
        raise DamagedBackup(f"{folder}{_MANIFEST} is in the clear, and the data is encrypted")
    return manifest


def _opened_manifest(backups: BackupPlace, folder: str) -> tuple[Manifest, BlockCipher | None]:
    """The manifest, and what opens the files."""
    body = _manifest_body(backups, folder)
    name = f"{folder}{_MANIFEST}"
    cipher = None
    try:
        if msgspec.json.decode(body, type=_Head).format == SEALED_FORMAT:
            stored = msgspec.json.decode(body, type=SealedFile)
            cipher = backups.cipher(stored.keys, name)
            if cipher is None:
                raise DamagedBackup(f"{name} has no key")
            body = sealed_files.unsealed(stored, cipher)
        manifest = msgspec.json.decode(body, type=Manifest)
    except msgspec.MsgspecError as error:
        raise DamagedBackup(f"{name} cannot be read: {error}") from None
    except NotAuthentic:
        raise DamagedBackup(f"{name} was changed") from None
    if manifest.format != FORMAT:
        raise DamagedBackup(f"{name} has format {manifest.format}, this version reads {FORMAT}")
    return manifest, cipher


def _manifest_body(backups: BackupPlace, folder: str) -> bytes:
    try:
        stored = b"".join(backups.bucket.read(folder + _MANIFEST))
    except NoSuchKey:
        raise DamagedBackup(f"{folder}{_MANIFEST} is missing") from None
    body, _, digest = stored.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest.strip():
        raise DamagedBackup(f"{folder}{_MANIFEST} has a wrong checksum")
    return body


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

    def __init__(
        self, backups: BackupPlace, folder: str, expected: tuple[BackupFile, ...] | None = None
    ) -> None:
        """`expected` are the files that the database knows of: a manifest that names others was exchanged."""
        self._backups = backups
        self._folder = folder
        self._expected = expected

    def verify(self) -> Iterator[None]:
        """Read all files and compare them with the manifest, a piece at a time."""
        for file in self._opened()[0]:
            digest, size = hashlib.sha256(), 0
            for piece in self._pieces(file.name):
                digest.update(piece)
                size += len(piece)
                yield
            if (size, digest.hexdigest()) != (file.size, file.sha256):
                raise DamagedBackup(f"{self._folder}{file.name} has a wrong length or checksum")

    def chunks(self, after: bytes | None = None) -> Iterator[list[Row]]:
        """All items behind a key."""
        files, cipher = self._opened()
        for file in files:
            for rows in self._blocks(file, cipher):
                wanted = rows if after is None else [row for row in rows if row[0] > after]
                if wanted:
                    yield wanted

    def close(self) -> None:
        """Nothing is held."""

    def _opened(self) -> tuple[tuple[BackupFile, ...], BlockCipher | None]:
        manifest, cipher = _opened_manifest(self._backups, self._folder)
        files = manifest.backup.files
        if self._expected is not None and files != self._expected:
            raise DamagedBackup(f"{self._folder}{_MANIFEST} names other files than the database")
        return files, cipher

    def _pieces(self, name: str) -> Iterator[bytes]:
        try:
            yield from self._backups.bucket.read(self._folder + name)
        except NoSuchKey:
            raise DamagedBackup(f"{self._folder}{name} is missing") from None

    def _blocks(self, file: BackupFile, cipher: BlockCipher | None) -> Iterator[list[Row]]:
        name = f"{self._folder}{file.name}"
        items = 0
        for number, packed in enumerate(self._packed(file.name, name)):
            try:
                plain = packed if cipher is None else cipher.unseal(packed, file.name, str(number))
            except NotAuthentic:
                raise DamagedBackup(f"{name} has a block that was changed or is in the wrong place") from None
            rows = _unpacked(plain, name)
            items += len(rows)
            yield rows
        if items != file.items:
            raise DamagedBackup(f"{name} has {items} items and not {file.items}")

    def _packed(self, file_name: str, name: str) -> Iterator[bytes]:
        """The blocks as they are in a file."""
        buffered = bytearray()
        for piece in self._pieces(file_name):
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
                yield packed
        if buffered:
            raise DamagedBackup(f"{name} ends in the middle of a block")


def _unpacked(packed: bytes, name: str) -> list[Row]:
    try:
        return _rows(zlib_ng.decompress(packed))
    except (zlib_ng.error, StructError):  # type: ignore[misc]  # its stub says that it is an instance
        # Encrypted blocks under a manifest that says nothing of it, for example.
        raise DamagedBackup(f"{name} has a block that is none") from None


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
