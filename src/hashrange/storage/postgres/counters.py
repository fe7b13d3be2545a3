"""Counters: sums of rows, of which each has a complement, as in `checksums`."""

from psycopg.pq.abc import PGresult

from hashrange.storage.checksums import checked_counter, counter_complement
from hashrange.storage.postgres import statements
from hashrange.storage.postgres.arrays import bytea_array, int4, int8, int8_array, read_int8
from hashrange.storage.postgres.pipeline import Call


def add_call(adds: dict[bytes, int], shard: int) -> Call:
    """Add to counters."""
    complements = [counter_complement(key, amount) for key, amount in adds.items()]
    amounts = int8_array(list(adds.values()))
    return Call(statements.ADD, (bytea_array(list(adds)), int4(shard), amounts, int8_array(complements)))


def lock_calls(key: bytes) -> list[Call]:
    """Make all rows of a counter, and lock them."""
    fill = Call(statements.COUNTER_FILL, (key, int8(counter_complement(key, 0))))
    return [fill, Call(statements.COUNTER_LOCK, (key,))]


def locked_counter(key: bytes, rows: PGresult) -> int:
    """The counter whose rows were locked; raises if one of them is damaged."""
    return sum(
        checked_counter(key, read_int8(rows.get_value(number, 0)), read_int8(rows.get_value(number, 1)))
        for number in range(rows.ntuples)
    )


def summed_counter(key: bytes, sums: PGresult, number: int = 0) -> int:
    """The counter that the database has added up; raises if one of its rows is damaged."""
    for column in (1, 2):
        if (checksum := sums.get_value(number, column)) is not None:
            checked_counter(key, 0, read_int8(checksum))
    return read_int8(sums.get_value(number, 0))


def summed_counters(sums: PGresult) -> list[tuple[bytes, int]]:
    """All counters that are not zero."""
    keys = [sums.get_value(number, 3) or b"" for number in range(sums.ntuples)]
    counters = [(key, summed_counter(key, sums, number)) for number, key in enumerate(keys)]
    return [(key, count) for key, count in counters if count]
