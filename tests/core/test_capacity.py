"""Capacity units and how they are reported."""

import pytest

from hashrange.core import capacity
from hashrange.core.capacity import Consumed
from schemas import index, table


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (1024, 1), (1025, 2), (409_600, 400)])
def test_write_units(size: int, units: int) -> None:
    assert capacity.write_units(size) == units


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (4096, 1), (4097, 2), (409_600, 100)])
def test_read_units(size: int, units: int) -> None:
    assert capacity.read_units(size, consistent=True) == units
    assert capacity.read_units(size, consistent=False) == units / 2


LOCAL = index("local", "pk:S", "l:S", local=True)
GLOBAL = index("global", "g:S")
TABLE = table("pk:S", "sk:S", indexes=(LOCAL, GLOBAL))


def test_the_report_tells_indexes_apart() -> None:
    consumed = Consumed(TABLE, "name")
    consumed.add(2)
    consumed.add_index(LOCAL, 1)
    consumed.add_index(GLOBAL, 3)
    consumed.add_index(GLOBAL, 0.5)
    assert consumed.report("TOTAL") == {"TableName": "name", "CapacityUnits": 6.5}
    assert consumed.report("INDEXES") == {
        "TableName": "name",
        "CapacityUnits": 6.5,
        "Table": {"CapacityUnits": 2.0},
        "LocalSecondaryIndexes": {"local": {"CapacityUnits": 1.0}},
        "GlobalSecondaryIndexes": {"global": {"CapacityUnits": 3.5}},
    }


def test_transactions_tell_reads_from_writes() -> None:
    consumed = Consumed(TABLE, "name", 2, kind="Write")
    assert consumed.report("INDEXES") == {
        "TableName": "name",
        "CapacityUnits": 2.0,
        "WriteCapacityUnits": 2.0,
        "Table": {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
    }
