"""How consumed units are reported."""

from hashrange.api.results import Charge
from hashrange.core.schema import Index
from hashrange.wire.capacity_reports import Consumed
from schemas import index, table

LOCAL = index("local", "pk:S", "l:S", local=True)
GLOBAL = index("global", "g:S")
TABLE = table("pk:S", "sk:S", indexes=(LOCAL, GLOBAL))


def charge(units: float, owner: Index | None = None) -> Charge:
    return Charge(TABLE, owner, b"key", units, write=True)


def test_the_report_tells_indexes_apart() -> None:
    consumed = Consumed(TABLE, "name")
    for units, owner in ((2, None), (1, LOCAL), (3, GLOBAL), (0.5, GLOBAL)):
        consumed.add_charge(charge(units, owner))
    assert consumed.report("TOTAL") == {"TableName": "name", "CapacityUnits": 6.5}
    assert consumed.report("INDEXES") == {
        "TableName": "name",
        "CapacityUnits": 6.5,
        "Table": {"CapacityUnits": 2.0},
        "LocalSecondaryIndexes": {"local": {"CapacityUnits": 1.0}},
        "GlobalSecondaryIndexes": {"global": {"CapacityUnits": 3.5}},
    }


def test_transactions_tell_reads_from_writes() -> None:
    consumed = Consumed(TABLE, "name", "Write")
    consumed.add_charge(charge(2))
    assert consumed.report("INDEXES") == {
        "TableName": "name",
        "CapacityUnits": 2.0,
        "WriteCapacityUnits": 2.0,
        "Table": {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
    }


def test_what_only_counts_for_the_total_is_not_the_tables() -> None:
    consumed = Consumed(TABLE, "name")
    consumed.add_charge(charge(1))
    consumed.add_to_total(4)
    assert consumed.report("INDEXES") == {
        "TableName": "name",
        "CapacityUnits": 5.0,
        "Table": {"CapacityUnits": 1.0},
    }
