"""A model of live tables at any endpoint: their descriptions, and entities inferred from a sample of their items."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hashrange.modeling.exchange.descriptions import TableDescription, converted, table_of
from hashrange.modeling.exchange.inference import SAMPLE_DEFAULT, SAMPLE_MAX, Item, entities_of
from hashrange.modeling.exchange.placeholders import model_of, placeholder
from hashrange.modeling.model import Entity, Model, Table
from hashrange.modeling.problems import refused
from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.errors import EndpointError, TransferError
from hashrange.transfer.places import TablePlace, place
from hashrange.transfer.rates import Rate
from hashrange.transfer.stopping import Stop
from hashrange.transfer.wire_values import from_wire

TABLES_MAX = 50
UNITS_DEFAULT = 100.0
_SEGMENTS = 10  # a Scan's first page is of one part of the table; segments begin all over it


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTables:
    """Which tables to read, where, and how much of them: so many items of each, at so many read units per second."""

    endpoint: str
    tables: Sequence[str]
    region: str | None = None
    profile: str | None = None
    sample: int = SAMPLE_DEFAULT
    units_per_second: float = UNITS_DEFAULT


def read(source: LiveTables) -> Model:
    """The model of the tables, in the order in which they are named."""
    _check(source)
    try:
        places = [_place(source, table) for table in dict.fromkeys(source.tables)]
        read_tables = [_Reading(where, source).table_and_entities() for where in places]
    except TransferError as error:
        raise refused(str(error)) from None
    model = model_of([table for table, _ in read_tables], places[0].table, places[0].region)
    entities = _distinctly_named(entity for _, found in read_tables for entity in found)
    return replace(model, entities=entities)


def _check(source: LiveTables) -> None:
    if not 1 <= source.sample <= SAMPLE_MAX:
        raise refused(f"a sample of {source.sample} items", f"choose 1 to {SAMPLE_MAX}")
    if not 0.1 <= source.units_per_second <= 1_000_000:
        raise refused(f"{source.units_per_second} read units per second", "choose 0.1 to 1000000")
    if not 1 <= len(source.tables) <= TABLES_MAX:
        raise refused(f"{len(source.tables)} tables", f"name 1 to {TABLES_MAX} of them with --table")


def _place(source: LiveTables, table: str) -> TablePlace:
    url = f"{source.endpoint.rstrip('/')}/{table}"
    where = place(url, region=source.region, profile=source.profile)
    if not isinstance(where, TablePlace) or where.table != table:
        raise refused("this is no endpoint", "write --endpoint http://localhost:8000 --table TABLE")
    return where


def _distinctly_named(entities: Iterable[Entity]) -> dict[str, Entity]:
    """Entities by name; of two tables' Users, the second is User2."""
    by_name: dict[str, Entity] = {}
    uses: Counter[str] = Counter()
    for entity in entities:
        uses[entity.name] += 1
        name = entity.name
        while name in by_name:
            name = f"{entity.name}{uses[entity.name]}"
            uses[entity.name] += 1
        by_name[name] = replace(entity, name=name)
    return by_name


class _Reading:
    """The requests for one table."""

    def __init__(self, where: TablePlace, source: LiveTables) -> None:
        stop = Stop()
        self._where = where
        self._endpoint = Endpoint(where, stop)
        self._sample = source.sample
        self._rate = Rate(source.units_per_second, stop)

    def table_and_entities(self) -> tuple[Table, list[Entity]]:
        answer = self._endpoint.call("describe_table", TableName=self._where.table)["Table"]
        table = self._table(answer)
        items = self._items()
        if not items:
            return table, [placeholder(table)]
        # The description's count is hours old at AWS; there are never fewer than the sample has.
        factor = max(int(answer.get("ItemCount", 0)), len(items)) / len(items)
        entities = entities_of(table, items)
        return table, [replace(entity, count=round(entity.count * factor)) for entity in entities]

    def _table(self, answer: dict[str, Any]) -> Table:
        described = converted(answer, TableDescription, self._where.table)
        return replace(
            table_of(described, self._where.table, self._where.region),
            ttl_attribute=self._ttl(),
            point_in_time_recovery=self._recovers(),
        )

    def _items(self) -> list[Item]:
        """A sample from all over the table: one page of each segment, which is 1 MB at most."""
        items: list[Item] = []
        for segment in range(_SEGMENTS):
            left = self._sample - len(items)
            if left <= 0:
                break
            self._rate.wait()
            page = self._endpoint.call(
                "scan",
                TableName=self._where.table,
                Segment=segment,
                TotalSegments=_SEGMENTS,
                Limit=max(1, left // (_SEGMENTS - segment)),
                ReturnConsumedCapacity="TOTAL",
            )
            items += [from_wire(item) for item in page["Items"]]
            self._rate.spend(float(page.get("ConsumedCapacity", {}).get("CapacityUnits", 1)))
        return items

    def _ttl(self) -> str | None:
        described = self._asked("describe_time_to_live").get("TimeToLiveDescription", {})
        is_on = described.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
        return str(described["AttributeName"]) if is_on and described.get("AttributeName") else None

    def _recovers(self) -> bool:
        described = self._asked("describe_continuous_backups").get("ContinuousBackupsDescription", {})
        recovery = described.get("PointInTimeRecoveryDescription", {})
        return bool(recovery.get("PointInTimeRecoveryStatus") == "ENABLED")

    def _asked(self, operation: str) -> dict[str, Any]:
        """An answer that not every endpoint has, nor every caller may see."""
        try:
            return self._endpoint.call(operation, TableName=self._where.table)
        except EndpointError:
            return {}
