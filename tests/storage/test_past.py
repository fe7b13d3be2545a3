"""The recent past of rows: whatever moment is read, it shows exactly what was there then."""

from hypothesis import given
from hypothesis import strategies as st

from hashrange.clock import ManualClock
from hashrange.jobs.forget_past import ForgetPast
from hashrange.storage import layout
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.past import PastReader, past_key, split_past_key
from hashrange.storage.remembering import RememberingEngine
from hashrange.storage.sqlite import MemoryEngine

PREFIX = layout.rows_prefix(1, layout.BASE_SLOT)
Rows = dict[bytes, bytes]

# Keys with zeros and with each other as beginnings are where an order could go wrong.
KEYS = [PREFIX + tail for tail in (b"", b"\0", b"\0\0", b"\0\xff", b"a", b"a\0", b"a\0\1", b"ab", b"\xff")]
changes = st.lists(st.tuples(st.sampled_from(KEYS), st.booleans(), st.integers(0, 2)), max_size=30)


def us(seconds: float) -> int:
    return int(seconds * 1_000_000)


def write(engine: Engine, key: bytes, value: bytes | None) -> None:
    def step(tx: Transaction) -> None:
        if value is None:
            tx.delete(key)
        else:
            tx.put(key, value)

    engine.write(step)


def check(reader: Reader, rows: Rows, keys: list[bytes]) -> None:
    """Hold a reader against what was there."""
    whole = sorted(rows.items())
    end = PREFIX + b"\xff\xff"
    assert list(reader.scan(PREFIX, end)) == whole
    assert list(reader.scan(PREFIX, end, reverse=True)) == whole[::-1]
    for limit in (0, 1, 3):
        assert list(reader.scan(PREFIX, end, limit=limit)) == whole[:limit]
        assert list(reader.scan(PREFIX, end, reverse=True, limit=limit)) == whole[::-1][:limit]
    for start in keys:
        assert reader.get(start) == rows.get(start)
        for stop in keys:
            between = [row for row in whole if start <= row[0] < stop]
            assert list(reader.scan(start, stop)) == between
            assert list(reader.scan(start, stop, reverse=True)) == between[::-1]


@given(changes)
def test_every_moment_is_as_it_was(history: list[tuple[bytes, bool, int]]) -> None:
    clock = ManualClock(1000.0)
    engine = RememberingEngine(MemoryEngine(), clock)
    rows: Rows = {}
    moments: dict[int, Rows] = {us(999.0): {}}
    for number, (key, is_put, pause) in enumerate(history):
        clock.advance(pause)
        value = b"%d" % number if is_put else None
        write(engine, key, value)
        if value is None:
            rows.pop(key, None)
        else:
            rows[key] = value
        moments[us(clock.now())] = dict(rows)
    for moment, expected in moments.items():
        engine.read(lambda reader, at=moment, then=expected: check(PastReader(reader, at), then, KEYS))
    engine.close()


@given(st.lists(st.binary(max_size=5), min_size=2, max_size=8, unique=True))
def test_the_past_lies_in_the_order_of_the_rows(rows: list[bytes]) -> None:
    ordered = sorted(rows)
    keys = [past_key(row, time_us) for row in ordered for time_us in (1, 2**40)]
    assert keys == sorted(keys)
    assert [split_past_key(key) for key in keys] == [(row, time) for row in ordered for time in (1, 2**40)]


def test_every_engine_shows_the_past(engine: Engine) -> None:
    clock = ManualClock(1000.0)
    remembering = RememberingEngine(engine, clock)
    rows: Rows = {}
    for number, key in enumerate(KEYS):
        write(remembering, key, b"%d" % number)
        rows[key] = b"%d" % number
    clock.advance(1)
    write(remembering, KEYS[0], b"other")
    write(remembering, KEYS[1], None)
    write(remembering, PREFIX + b"new", b"new")
    engine.read(lambda reader: check(PastReader(reader, us(1000.5)), rows, KEYS))
    engine.read(lambda reader: check(PastReader(reader, us(999.5)), {}, KEYS))


def test_only_the_rows_of_tables_are_kept(engine: Engine) -> None:
    remembering = RememberingEngine(engine, ManualClock(1000.0))
    write(remembering, layout.CLOCK, b"x")
    assert engine.read(lambda reader: list(reader.scan(layout.PAST, layout.PAST_END))) == []


def test_the_past_is_forgotten_when_nobody_reads_it_any_more() -> None:
    clock = ManualClock(1000.0)
    engine = MemoryEngine()
    remembering = RememberingEngine(engine, clock)
    for number in range(1200):
        write(remembering, PREFIX + b"%d" % number, b"old")
    clock.advance(60)
    write(remembering, PREFIX + b"late", b"new")
    job = ForgetPast(engine, lag_seconds=5.0)
    while job.step(clock.now()) == 0:
        pass
    left = engine.read(lambda reader: [key for key, _ in reader.scan(layout.PAST, layout.PAST_END)])
    assert [split_past_key(key)[0] for key in left] == [PREFIX + b"late"]
    without = ForgetPast(engine, lag_seconds=0.0)
    while without.step(clock.now()) == 0:
        pass
    assert engine.read(lambda reader: list(reader.scan(layout.PAST, layout.PAST_END))) == []
    engine.close()
