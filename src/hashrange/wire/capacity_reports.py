"""The ConsumedCapacity and ItemCollectionMetrics members of answers."""

from collections.abc import Iterable
from typing import Literal, Required, TypedDict

import orjson

from hashrange.api.partiql.execute_statement import StatementRead
from hashrange.api.results import (
    Charge,
    CollectionSize,
    ItemRead,
    ItemWritten,
    PageRead,
    PlainWritten,
    Result,
)
from hashrange.core.schema import Table
from hashrange.core.values import Item

_GB = 1024**3

UnitKind = Literal["Read", "Write"]


class Units(TypedDict, total=False):
    """Units of a table or an index."""

    CapacityUnits: Required[float]
    ReadCapacityUnits: float
    WriteCapacityUnits: float


class ConsumedCapacity(Units, total=False):
    """The report of one table."""

    TableName: Required[str]
    Table: Units
    LocalSecondaryIndexes: dict[str, Units]
    GlobalSecondaryIndexes: dict[str, Units]


class ItemCollectionMetrics(TypedDict):
    """The report of one item collection."""

    ItemCollectionKey: Item
    SizeEstimateRangeGB: list[float]


class Consumed:
    """Units of one table, added up over a request. Transactions also tell reads from writes."""

    __slots__ = ("_indexes", "_kind", "_name", "_table", "_total_only", "_units")

    def __init__(self, table: Table, name: str, kind: UnitKind | None = None) -> None:
        """`name` is the table's as the request has it: an ARN is echoed. `kind` is Read or Write in transactions."""
        self._table = table
        self._name = name
        self._kind = kind
        self._units = 0.0
        self._total_only = 0.0
        self._indexes: dict[str, float] = {}

    def add(self, result: Result) -> None:
        """The units of a result."""
        for charge in result.charges():
            self.add_charge(charge)

    def add_charge(self, charge: Charge) -> None:
        """Units of the table itself or of one of its indexes."""
        if charge.index is None:
            self._units += charge.units
        else:
            name = charge.index.name
            self._indexes[name] = self._indexes.get(name, 0.0) + charge.units

    def add_to_total(self, units: float) -> None:
        """Units that count for the total, but neither for the table itself nor for an index."""
        self._total_only += units

    def report(self, mode: str) -> ConsumedCapacity:
        """The ConsumedCapacity member for TOTAL or INDEXES."""
        total = self._units + self._total_only + sum(self._indexes.values())
        body: ConsumedCapacity = {"TableName": self._name, "CapacityUnits": float(total)}
        self._split(body)
        if mode == "INDEXES":
            body["Table"] = self._shown(self._units)
            if local := self._index_units(local=True):
                body["LocalSecondaryIndexes"] = local
            if distant := self._index_units(local=False):
                body["GlobalSecondaryIndexes"] = distant
        return body

    def _index_units(self, *, local: bool) -> dict[str, Units]:
        return {
            name: self._shown(units)
            for name, units in self._indexes.items()
            if self._table.index_by_name[name].local == local
        }

    def _shown(self, units: float) -> Units:
        shown: Units = {"CapacityUnits": float(units)}
        self._split(shown)
        return shown

    def _split(self, shown: Units) -> None:
        if self._kind == "Read":
            shown["ReadCapacityUnits"] = shown["CapacityUnits"]
        elif self._kind == "Write":
            shown["WriteCapacityUnits"] = shown["CapacityUnits"]


def of_one(
    result: ItemRead | ItemWritten | PlainWritten | PageRead | StatementRead, mode: str
) -> ConsumedCapacity:
    """The report of a request for one table."""
    consumed = Consumed(result.table, result.table_name)
    consumed.add(result)
    return consumed.report(mode)


def by_table(
    results: Iterable[ItemRead | ItemWritten | PlainWritten], mode: str, kind: UnitKind | None = None
) -> list[ConsumedCapacity]:
    """A report for each table, in the order in which the request names them."""
    tables: dict[str, Consumed] = {}
    for result in results:
        name = result.table_name
        consumed = tables.get(name)
        if consumed is None:
            consumed = tables[name] = Consumed(result.table, name, kind)
        consumed.add(result)
    return [consumed.report(mode) for consumed in tables.values()]


def collection(size: CollectionSize) -> ItemCollectionMetrics:
    """ItemCollectionMetrics: the collection's key and the whole gigabytes its size lies between."""
    low = size.size // _GB
    return {"ItemCollectionKey": size.key, "SizeEstimateRangeGB": [float(low), float(low + 1)]}


def collections(results: Iterable[ItemWritten | PlainWritten]) -> dict[str, list[ItemCollectionMetrics]]:
    """One entry per item collection touched, by table; the latest size of each counts."""
    tables: dict[str, dict[bytes, ItemCollectionMetrics]] = {}
    for result in results:
        if result.collection is not None:
            entries = tables.setdefault(result.table_name, {})
            entries[orjson.dumps(result.collection.key)] = collection(result.collection)
    return {name: list(entries.values()) for name, entries in tables.items()}
