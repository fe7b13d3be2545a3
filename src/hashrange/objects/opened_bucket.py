"""A bucket whose encrypted exports are read as if they were in the clear."""

from collections.abc import Callable, Iterator
from itertools import chain

import msgspec

from hashrange.formats.export_names import export_folder
from hashrange.kms.errors import NotAuthentic, OtherRootKey
from hashrange.kms.interface import FileSeals
from hashrange.objects import sealed_exports
from hashrange.objects.errors import Encrypted, NoSuchKey, Tampered
from hashrange.objects.interface import Bucket, ObjectInfo, Writer, Written
from hashrange.objects.sealed_exports import HEAD_BYTES, KEY_NAME, ExportKey, ExportSeal

_KEY_BYTES_MAX = 64 * 1024  # of the object with a key
_NO_ROOT_KEY = "there is no root key: name it with --root-key"
_NO_KEY = (
    f"there is no {KEY_NAME} of its export: it is beside the manifests, and an export is read by its folder"
)
_OTHER_ACCOUNT = "another account exported it"
_PLAIN = "it is in the clear, and its export is encrypted"


class OpenedBucket:
    """The objects of a bucket in the clear. Listings have their sizes as they are stored."""

    def __init__(
        self,
        bucket: Bucket,
        seals: FileSeals | None,
        *,
        account_id: str | None = None,
        must_be_sealed: Callable[[str], bool] = lambda _key: False,
    ) -> None:
        """`seals` opens the keys of exports, None if there is no root key; `account_id`: only exports of this account.

        `must_be_sealed` says of an object whether it is refused in the clear.
        """
        self.name = bucket.name
        self._bucket = bucket
        self._seals = seals
        self._account_id = account_id
        self._must_be_sealed = must_be_sealed
        self._last: tuple[tuple[str, str], ExportSeal] | None = (
            None  # the objects of an export follow each other
        )

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        return self._bucket.list(prefix, after=after)

    def head(self, key: str) -> ObjectInfo:
        return self._bucket.head(key)

    def read(self, key: str, *, offset: int = 0, etag: str | None = None) -> Iterator[bytes]:
        """Give the object's bytes in the clear; `Encrypted` or `Tampered` instead of any that are not to be trusted."""
        pieces = self._bucket.read(key, etag=etag)
        head = _beginning(pieces)
        export_id = sealed_exports.export_of(head)
        if export_id is not None:
            yield from _behind(offset, self._opened(chain((head[HEAD_BYTES:],), pieces), key, export_id))
            return
        if self._must_be_sealed(key):
            raise Tampered(key, _PLAIN)
        yield from _behind(offset, chain((head,), pieces))

    def put(self, key: str, data: bytes) -> Written:
        return self._bucket.put(key, data)

    def writer(self, key: str) -> Writer:
        return self._bucket.writer(key)

    def delete(self, key: str) -> None:
        self._bucket.delete(key)

    def _opened(self, pieces: Iterator[bytes], key: str, export_id: str) -> Iterator[bytes]:
        folder = export_folder(key)
        if not export_id or (folder is not None and folder[1] != export_id):
            raise Tampered(key, "it is of another export than its folder")
        seal = self._seal(key, export_id)
        try:
            yield from seal.opened(pieces, key)
        except NotAuthentic:
            raise Tampered(key, "a part of it was changed, moved or cut off") from None

    def _seal(self, key: str, export_id: str) -> ExportSeal:
        place = (key.rpartition("/")[0], export_id)
        if self._last is None or self._last[0] != place:
            self._last = (place, self._new_seal(key, export_id))
        return self._last[1]

    def _new_seal(self, key: str, export_id: str) -> ExportSeal:
        if self._seals is None:
            raise Encrypted(key, _NO_ROOT_KEY)
        stored = self._export_key(key, export_id)
        if self._account_id not in (None, stored.account_id):
            raise Encrypted(key, _OTHER_ACCOUNT)
        try:
            cipher = self._seals.cipher(stored.keys)
        except OtherRootKey as problem:
            raise Encrypted(key, str(problem)) from None
        except NotAuthentic:
            raise Tampered(key, "the key of its export was changed") from None
        return ExportSeal(cipher, account_id=stored.account_id, export_id=export_id)

    def _export_key(self, key: str, export_id: str) -> ExportKey:
        """The key beside the manifests: for a data file one folder up, for those of incremental exports beside that."""
        folder = key[: key.rfind("/") + 1]
        above = folder[: folder.rstrip("/").rfind("/") + 1]
        for candidate in (folder, above, f"{above}{export_id}/"):
            try:
                stored = read_export_key(self._bucket, candidate + KEY_NAME)
            except NoSuchKey:
                continue
            if stored.export_id == export_id:
                return stored
        raise Encrypted(key, _NO_KEY)


def read_export_key(bucket: Bucket, key: str) -> ExportKey:
    """The object with an export's key."""
    body = b""
    for piece in bucket.read(key):
        body += piece
        if len(body) > _KEY_BYTES_MAX:
            raise Tampered(key, "it is too large for a key")
    try:
        stored = msgspec.json.decode(body, type=ExportKey)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Tampered(key, "it is no key of an export") from None
    if stored.format != sealed_exports.FORMAT:
        raise Tampered(key, f"it has format {stored.format}, this version reads {sealed_exports.FORMAT}")
    return stored


def _beginning(pieces: Iterator[bytes]) -> bytes:
    """As many pieces as it takes to know whether an object is encrypted."""
    head = b""
    while len(head) < HEAD_BYTES and (piece := next(pieces, None)) is not None:
        head += piece
    return head


def _behind(offset: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        if offset < len(piece):
            yield piece[offset:] if offset else piece
        offset = max(0, offset - len(piece))
