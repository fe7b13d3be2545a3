"""The rows in which services beside DynamoDB keep their settings, per account and region."""

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

import msgspec

from hashrange.core import effort
from hashrange.core.keys import encoding
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

T = TypeVar("T", bound=msgspec.Struct)


class Place(NamedTuple):
    """Whose settings they are."""

    account_id: str
    region: str


class SettingRows(Generic[T]):
    """All settings of one kind, in the order of their ids, which may have any characters but a zero byte at the end."""

    def __init__(self, kind: str, record: type[T]) -> None:
        self._kind = kind
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(record)

    def save(self, tx: Transaction, place: Place, setting_id: str, record: T) -> None:
        """Write a record, whatever was there."""
        tx.put(self.row_key(place, setting_id), self._encoder.encode(record))

    def remove(self, tx: Transaction, place: Place, setting_id: str) -> None:
        """Delete a record, if it is there."""
        tx.delete(self.row_key(place, setting_id))

    def find(self, reader: Reader, place: Place, setting_id: str) -> T | None:
        """The record with this id."""
        stored = reader.get(self.row_key(place, setting_id))
        return None if stored is None else self._decoder.decode(stored)

    def of_region(
        self, reader: Reader, place: Place, *, beginning: str = "", after: str = "", reverse: bool = False
    ) -> Iterator[tuple[str, T]]:
        """The records whose ids begin so, in order, from behind an id; or in reverse order, up to it."""
        region = self.row_key(place, "")
        prefix = region + beginning.encode()
        start, end = prefix, encoding.prefix_end(prefix)
        if after and reverse:
            end = min(end, region + after.encode())
        elif after:
            start = max(start, region + after.encode() + b"\0")
        for key, stored in effort.counted(reader.scan(start, end, reverse=reverse)):
            yield key[len(region) :].decode(), self._decoder.decode(stored)

    def everywhere(self, reader: Reader) -> Iterator[tuple[Place, str, T]]:
        """The records of all regions."""
        prefix = layout.SETTING + f"{self._kind}\0".encode()
        for key, stored in reader.scan(prefix, encoding.prefix_end(prefix)):
            account_id, region, setting_id = key[len(prefix) :].decode().split("\0", 2)
            yield Place(account_id, region), setting_id, self._decoder.decode(stored)

    def count(self, reader: Reader, place: Place) -> int:
        """How many records there are; none of them is decoded."""
        prefix = self.row_key(place, "")
        return sum(1 for _ in effort.counted(reader.scan(prefix, encoding.prefix_end(prefix))))

    def address(self, key: bytes) -> tuple[Place, str] | None:
        """Whose record a row is, and its id; None if it is of another kind."""
        prefix = layout.SETTING + f"{self._kind}\0".encode()
        if not key.startswith(prefix):
            return None
        account_id, region, setting_id = key[len(prefix) :].decode().split("\0", 2)
        return Place(account_id, region), setting_id

    def places(self, reader: Reader) -> Iterator[Place]:
        """Where there are records; one row is read for each of the places, however many records it has."""
        prefix = layout.SETTING + f"{self._kind}\0".encode()
        start, end = prefix, encoding.prefix_end(prefix)
        while first := list(reader.scan(start, end, limit=1)):
            account_id, region, _ = first[0][0][len(prefix) :].decode().split("\0", 2)
            place = Place(account_id, region)
            yield place
            start = encoding.prefix_end(self.row_key(place, ""))

    def row_key(self, place: Place, setting_id: str) -> bytes:
        """Where a record is."""
        return layout.SETTING + "\0".join((self._kind, *place, setting_id)).encode()
