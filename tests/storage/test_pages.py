"""Pages read in one piece are the pages that would be read row by row."""

import random
from collections import Counter
from typing import Any

import pytest

import schemas
from hashrange.core import items, partitions
from hashrange.core.expressions import Path, build, projection, resolved
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


def fill(
    engine: SqliteEngine, draw: random.Random, sizes: list[int], collections: int, large_at: int = -1
) -> None:
    prefix = layout.rows_prefix(MUSIC.number, layout.BASE_SLOT)

    def step(tx: Transaction) -> None:
        for number, size in enumerate(sizes):
            artist, song = {"S": f"a{draw.randrange(collections)}"}, {"S": f"{number:05d}"}
            item = {"artist": artist, "song": song, "x": {"S": "é" * 7}, "n": {"N": str(number % 3)}}
            if number == large_at:
                item["large"] = {"S": "x" * 20_000}
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
            request["partitions"] = split_inside(draw)
        compare(sqlite, request)


_THIRD = build.condition(resolved.Compare("=", Path(("n",)), resolved.Literal({"N": "1"})))
_NONE = build.condition(resolved.AttributeExists(Path(("nowhere",))))
_NAMES = projection([Path(("song",)), Path(("large",))])
_NOTHING = projection([Path(("x", "y"))])
_ELEMENT = projection([Path(("x", 0)), Path(("n",))])


@pytest.mark.parametrize("seed", range(6))
def test_filtered_and_projected_pages_are_the_same_in_one_piece(sqlite: SqliteEngine, seed: int) -> None:
    draw = random.Random(seed)
    sizes = [draw.randint(1, draw.choice([50, 5_000])) for _ in range(500)]
    fill(sqlite, draw, sizes, 1, large_at=draw.choice([-1, 0, 40, 300]))
    for keep in (None, _THIRD, _NONE):
        for picker in (None, _NAMES, _NOTHING, _ELEMENT):
            for counted_only in {False, picker is None}:
                compare(
                    sqlite,
                    {
                        "key_range": ranges.segment_range(0, 1),
                        "limit": draw.choice([None, 8, 70, 500]),
                        "reverse": draw.random() < 0.5,
                        "keep": keep,
                        "projection": picker,
                        "counted_only": counted_only,
                        "partitions": partitions.even(draw.choice([1, 4])),
                    },
                )


def split_inside(draw: random.Random) -> partitions.Partitions:
    """Partitions as heat makes them: some bounds are songs of an artist."""
    bounds = partitions.even(draw.choice([1, 4]))
    for _ in range(draw.choice([0, 1, 5])):
        artist, song = {"S": f"a{draw.randrange(3)}"}, {"S": f"{draw.randrange(700):05d}"}
        bounds = partitions.split_at(bounds, schemas.item_key(artist, song)[: draw.choice([12, 99])])
    return bounds


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("limit", [None, 1, 40])
def test_each_partition_is_told_what_was_read_of_it(
    sqlite: SqliteEngine, limit: int | None, reverse: bool
) -> None:
    fill(sqlite, random.Random(7), [3_000] * 500, 1)
    artist = {"S": "a0"}
    bounds = partitions.WHOLE
    for song in ("00100", "00350", "00351", "00990"):
        bounds = partitions.split_at(bounds, schemas.item_key(artist, {"S": song}))
    prefix = encoding.partition_prefix([artist])
    key_range = ranges.KeyRange(prefix, encoding.prefix_end(prefix))
    request = {"key_range": key_range, "partitions": bounds, "reverse": reverse, "limit": limit}
    total: Counter[int] = Counter()
    visits: Counter[int] = Counter()
    for page in sqlite.read(lambda reader: pages(reader, request)):
        assert sum(page.sizes.values()) == 3_000 * page.scanned
        assert list(range(min(page.sizes), max(page.sizes) + 1)) == sorted(page.sizes)
        total.update(page.sizes)
        visits.update(page.sizes.keys())
    assert total == {0: 300_000, 1: 750_000, 2: 3_000, 3: 447_000, 4: 0}
    assert visits[4] == 1, "what is passed without an item counts too, once"


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
            lines = reader.joined(*bounds, head=5, limit=limit, reverse=reverse, separator=b"\n")  # noqa: B023
            assert lines == joined._replace(rest=lines.rest)
            assert lines.rest.split(b"\n") == joined.rest.split(b",")
            return joined, list(reader.scan(*bounds, limit=limit, reverse=reverse))  # noqa: B023

        joined, scanned = sqlite.read(look)
        assert joined.rows == len(scanned)
        assert joined.last == (scanned[-1][0] if scanned else b"")
        assert joined.heads == b"".join(value[:5] for _, value in scanned)
        assert joined.rest == b",".join(value[5:] for _, value in scanned)
