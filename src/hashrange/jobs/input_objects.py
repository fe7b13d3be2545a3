"""The objects that an import or a bulk operation reads, cut into what one commit takes."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import msgspec

from hashrange.formats.bulk_records import BulkRecord
from hashrange.formats.errors import Rejection
from hashrange.formats.records import Row
from hashrange.jobs import piece_sizes
from hashrange.objects.errors import Changed
from hashrange.objects.interface import Bucket, ObjectInfo
from hashrange.storage.import_rows import Position

_PIECE_REJECTIONS = 500
_IDLE_ROWS = 500
_CONDITION_BYTES = piece_sizes.BYTES_MAX // 10  # evaluating a condition may take as long as writing much

R = TypeVar("R", Row, BulkRecord)

ReadObject = Callable[[Iterator[bytes]], Iterator[R | Rejection]]


class Piece(msgspec.Struct, Generic[R]):
    """A few items in a row, and where the job is behind them."""

    key: str
    rows: list[R]
    rejections: list[Rejection]
    position: Position
    is_idle: bool = False  # nothing is to be written: others may have their turn


def pieces(
    bucket: Bucket, prefix: str, position: Position, read: ReadObject[R], *, rows_max: int
) -> Iterator[Piece[R]]:
    """All items of the objects under a prefix, behind a position."""
    for info in bucket.list(prefix, after=position.finished_key):
        if info.key == position.key and info.etag != position.etag:
            raise Changed("the object was replaced while it was read")
        counted = _Counted(bucket.read(info.key, etag=info.etag))
        for piece in _object_pieces(info, read(iter(counted)), position, rows_max):
            if piece.position.key == info.key:
                piece.position = msgspec.structs.replace(piece.position, read=counted.size)
            yield piece
        position = _behind(info, position)


class _Counted:
    """The bytes of an object, and how many of them have been taken."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.size += len(chunk)
            yield chunk


def _behind(info: ObjectInfo, position: Position) -> Position:
    return Position(finished_key=info.key, size=position.size + info.size)


def _object_pieces(
    info: ObjectInfo, rows: Iterator[R | Rejection], position: Position, rows_max: int
) -> Iterator[Piece[R]]:
    skipped = position.index if info.key == position.key else 0
    piece: Piece[R] = Piece(info.key, [], [], position)
    size = 0
    for row in rows:
        if row.index < skipped:
            # What was written before a crash is read again, which may take long.
            if row.index % _IDLE_ROWS == _IDLE_ROWS - 1:
                yield Piece(info.key, [], [], position, is_idle=True)
            continue
        if isinstance(row, Rejection):
            piece.rejections.append(row)
        else:
            piece.rows.append(row)
            size += row.command.size if row.command.condition is None else _CONDITION_BYTES
        if (
            len(piece.rows) >= rows_max
            or size >= piece_sizes.BYTES_MAX
            or len(piece.rejections) >= _PIECE_REJECTIONS
        ):
            piece.position = msgspec.structs.replace(
                position, key=info.key, etag=info.etag, index=row.index + 1
            )
            yield piece
            piece = Piece(info.key, [], [], position)
            size = 0
    piece.position = _behind(info, position)
    yield piece
