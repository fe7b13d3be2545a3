"""Where the bytes of a large value are: in many items, or in an object of a bucket."""

import msgspec

from hashrange.patterns.errors import Incomplete, Refused
from hashrange.patterns.retries import Retry, send
from hashrange.patterns.steps import SdkCall, Steps
from hashrange.patterns.tables import BATCH_WRITES_MAX, Table
from hashrange.patterns.values import Item

_READ_AT_ONCE = 40  # about what fits BatchGetItem's 16 MB
_PIECE_BYTES_MAX = 400_000  # an item may have 409,600 bytes, its key and names included


class ItemPieces(msgspec.Struct, frozen=True):
    """Pieces (`PIECE#name#number`, `PIECE`): every one has a partition key of its own, so none is hot."""

    table: Table
    piece_bytes: int = 380_000

    def count(self, size: int) -> int:
        """The pieces of a value. Values keep their own count: another size of pieces may be chosen later."""
        if not 1 <= self.piece_bytes <= _PIECE_BYTES_MAX:
            raise ValueError(f"a piece has 1 to {_PIECE_BYTES_MAX} bytes")
        return -(-size // self.piece_bytes)

    def store(self, name: str, content: bytes) -> Steps[None]:
        keys = self._keys(name, self.count(len(content)))
        for first in range(0, len(keys), BATCH_WRITES_MAX):
            numbers = range(first, min(first + BATCH_WRITES_MAX, len(keys)))
            items = [{**keys[number], "content": self._piece(content, number)} for number in numbers]
            yield from self.table.write_many(puts=items)

    def load(self, name: str, count: int, size: int) -> Steps[bytes]:
        """Put the pieces together again, or raise Incomplete."""
        keys = self._keys(name, count)
        pieces: dict[str, bytes] = {}
        for first in range(0, len(keys), _READ_AT_ONCE):
            for item in (yield from self.table.get_many(keys[first : first + _READ_AT_ONCE])):
                pieces[item[self.table.partition_key]] = item["content"]
        if len(pieces) < len(keys):
            raise Incomplete(name)
        return b"".join(pieces[key[self.table.partition_key]] for key in keys)

    def discard(self, name: str, count: int) -> Steps[None]:
        yield from self.table.write_many(deletes=self._keys(name, count))

    def _keys(self, name: str, count: int) -> list[Item]:
        return [self.table.key(f"PIECE#{name}#{number}", "PIECE") for number in range(count)]

    def _piece(self, content: bytes, number: int) -> bytes:
        return content[number * self.piece_bytes : (number + 1) * self.piece_bytes]


class BucketPieces(msgspec.Struct, frozen=True):
    """One object per value in S3, under a prefix. The runner needs a client for S3, too."""

    bucket: str
    prefix: str = "large-values/"
    retry: Retry = Retry()

    def count(self, size: int) -> int:
        return 1

    def store(self, name: str, content: bytes) -> Steps[None]:
        yield from send(self._call("put_object", name, Body=content), self.retry)

    def load(self, name: str, count: int, size: int) -> Steps[bytes]:
        call = self._call("get_object", name)
        try:
            answer = yield from send(msgspec.structs.replace(call, body_bytes_max=size + 1), self.retry)
        except Refused as refused:
            if refused.code in {"NoSuchKey", "404"}:
                raise Incomplete(name) from refused
            raise
        content: bytes = answer["Body"]
        return content

    def discard(self, name: str, count: int) -> Steps[None]:
        yield from send(self._call("delete_object", name), self.retry)

    def _call(self, operation: str, name: str, **parameters: object) -> SdkCall:
        place = {"Bucket": self.bucket, "Key": self.prefix + name}
        return SdkCall(operation, {**place, **parameters}, service="s3")
