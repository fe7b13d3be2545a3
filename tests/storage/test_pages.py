"""Pages read in one piece are the pages that would be read row by row."""

import random
from typing import Any

import pytest

import schemas
from hashrange.core import items, partitions
from hashrange.core.keys import encoding, ranges
from hashrange.core.limits import PAGE_BYTES_MAX
from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.pages import Page, PageRequest, read_page
from hashrange.storage.sqlite import SqliteEngine
from schemas import table

pytestmark = pytest.mark.slow

MUSIC = table("artist:S", "song:S")


class RowByRow:
    """A reader that joins nothing."""

    joined = None

    def __init__(self, reader: Reader) -> None:
        self.get, self.scan, self.counter = reader.get, reader.scan, reader.counter


def fill(engine: SqliteEngine, draw: random.Random, sizes: list[int], collections: int) -> None:
    prefix = layout.rows_prefix(MUSIC.number, layout.BASE_SLOT)

    def step(tx: Transaction) -> None:
        for number, size in enumerate(sizes):
            artist, song = {"S": f"a{draw.randrange(collections)}"}, {"S": f"{number:05d}"}
            item = {"artist": artist, "song": song, "x": {"S": "é" * 7}}
            tx.put(prefix + schemas.item_key(artist, song), items.encode(item, size, 0.0))

    engine.write(step)


def pages(reader: Reader, request: dict[str, Any]) -> list[Page]:
    """All pages, one after the other."""
    found, start = [], None
    while True:
        page = read_page(reader, PageRequest(table=MUSIC, index=None, start_after=start, **request))
        found.append(page)
        if page.last is None:
            return found
        start = schemas.item_key(page.last["artist"], page.last["song"])


def told(page: Page) -> tuple[Any, ...]:
    return b",".join(page.rows), page.count, page.scanned, page.last, page.sizes


@pytest.mark.parametrize("seed", range(12))
def test_joined_pages_are_the_same_pages(sqlite: SqliteEngine, seed: int) -> None:
    draw = random.Random(seed)
    largest = draw.choice([50, 400, 5_000, 60_000, 409_600])
    fill(sqlite, draw, [draw.randint(1, largest) for _ in range(700)], draw.choice([1, 3, 500]))
    for _ in range(8):
        is_scan = draw.random() < 0.5
        segments = draw.choice([1, 1, 3])
        request: dict[str, Any] = {"limit": draw.choice([None, None, 1, 7, 8, 32, 33, 100, 160, 161])}
        if is_scan:
            request["key_range"] = ranges.segment_range(draw.randrange(segments), segments)
            request["partitions"] = partitions.even(draw.choice([1, 4, 7]))
        else:
            prefix = encoding.partition_prefix([{"S": f"a{draw.randrange(3)}"}])
            request["key_range"] = ranges.KeyRange(prefix, encoding.prefix_end(prefix))
            request["reverse"] = draw.random() < 0.5
        compare(sqlite, request)


def compare(engine: SqliteEngine, request: dict[str, Any]) -> None:
    joined = engine.read(lambda reader: pages(reader, request))
    plain = engine.read(lambda reader: pages(RowByRow(reader), request))
    assert [told(page) for page in joined] == [told(page) for page in plain]


@pytest.mark.parametrize("last_size", [1, 2, 3])
def test_a_page_ends_with_the_item_that_fills_it(sqlite: SqliteEngine, last_size: int) -> None:
    fill(sqlite, random.Random(1), [PAGE_BYTES_MAX // 32] * 31 + [PAGE_BYTES_MAX // 32 - 2, last_size, 5], 1)
    compare(sqlite, {"key_range": ranges.segment_range(0, 1), "partitions": partitions.even(4)})


def test_rows_in_one_piece_are_the_rows_of_a_scan(sqlite: SqliteEngine) -> None:
    rows = {bytes([number]): b"head%d" % (number % 10) + b"x" * number for number in range(200)}

    def store(tx: Transaction) -> None:
        for key, value in rows.items():
            tx.put(key, value)

    sqlite.write(store)
    for start, end, limit, reverse in [
        (0, 200, 50, False),
        (3, 9, 50, True),
        (9, 3, 5, False),
        (0, 200, 200, True),
    ]:
        bounds = bytes([start]), bytes([end])

        def look(reader: Any) -> tuple[Any, list[tuple[bytes, bytes]]]:
            joined = reader.joined(*bounds, head=5, limit=limit, reverse=reverse)  # noqa: B023 - used at once
            return joined, list(reader.scan(*bounds, limit=limit, reverse=reverse))  # noqa: B023

        joined, scanned = sqlite.read(look)
        assert joined.rows == len(scanned)
        assert joined.last == (scanned[-1][0] if scanned else b"")
        assert joined.heads == b"".join(value[:5] for _, value in scanned)
        assert joined.rest == b",".join(value[5:] for _, value in scanned)
