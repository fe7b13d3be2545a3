"""CreateTable: a new table with its keys, indexes and settings."""

import re
from typing import Any

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.keys.table_encryption import keeper, with_key
from hashrange.api.protocol.kinds import Sent, Violation
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Response
from hashrange.api.resource_policies import documents
from hashrange.api.results import Described
from hashrange.api.tables import states
from hashrange.api.tables.description import TableDescription, describe
from hashrange.api.tables.new_tables import TableDefinition, new_table
from hashrange.api.tables.wording import busy
from hashrange.core.schema import TABLE_POLICY, ResourcePolicy, Table, changed
from hashrange.core.table_life import gone, settled
from hashrange.storage import backup_rows, catalogue, stream_rows
from hashrange.storage.engine import Transaction


class CreateTable(TableDefinition, kw_only=True):
    """The request."""

    resource_policy: str | None = None


def _narrowed(sent: Sent, violations: list[Violation]) -> list[Violation]:
    """The service asks for this one member in a sentence of its own."""
    if "TableName" not in sent:
        raise errors.validation("The parameter 'TableName' is required but was not present in the request")
    return violations


class _CreateTableShape(Shape[CreateTable]):
    """Takes capacity units as text from the forms of graphical clients; see docs/compatibility.md."""

    def explain(self, sent: Sent) -> CreateTable:
        """Read the request slowly; text of digits counts as a number where all else that a table needs is there."""
        if all(sent.get(name) for name in ("TableName", "KeySchema", "AttributeDefinitions")):
            indexes_sent = sent.get("GlobalSecondaryIndexes")
            elements = [sent, *(indexes_sent if isinstance(indexes_sent, list) else ())]
            for element in elements:
                _read_units(element)
        return super().explain(sent)


def _read_units(element: Any) -> None:
    units = element.get("ProvisionedThroughput") if isinstance(element, dict) else None
    if not isinstance(units, dict):
        return
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        text = units.get(name)
        if isinstance(text, str) and _UNITS.fullmatch(text):
            units[name] = int(text)


_UNITS = re.compile(r"[0-9]{1,18}", re.ASCII)

SHAPE = _CreateTableShape(CreateTable, narrowed=_narrowed)


class CreateTableOutput(Response, kw_only=True):
    """The answer."""

    table_description: TableDescription


def create_table(context: Context, request: CreateTable) -> Plan:
    """Check the definition, then enter the table into the catalogue."""
    now = context.clock.now()
    new = new_table(context, request, now)
    finder = keeper(context, new.sse_key, new.name)
    if request.resource_policy is not None:
        document = documents.checked(context, request.resource_policy, stream=False)
        policy = ResourcePolicy(
            document=document.text, revision=str(int(now * 1000)), versioned=document.versioned
        )
        new = changed(new, policies={TABLE_POLICY: policy})

    def step(tx: Transaction) -> Described:
        _make_room(tx, new, now)
        table = with_key(tx, finder, new)
        table = changed(table, number=catalogue.next_number(tx), stream_label=_stream_label(tx, new, now))
        table = catalogue.save(tx, table, now)
        description = describe(tx, table, now, created=True)
        return Described(CreateTableOutput(table_description=description))

    return Write(step, after=lambda: context.catalogue.refresh(*catalogue.address(new)))


def _make_room(tx: Transaction, new: Table, now: float) -> None:
    stored = catalogue.stored_table(tx, *catalogue.address(new))
    if stored is None:
        return
    if gone(stored, now):
        backup_rows.remove_table(tx, stored, now)
        return
    if stored.restoring is not None:
        raise busy(f"Table is being used: {stored.name}")
    if settled(stored, now).status == "CREATING":
        states.check_changeable(stored)
    raise errors.in_use(f"Table already exists: {stored.name}")


def _stream_label(tx: Transaction, new: Table, now: float) -> str | None:
    """The label of the new table's stream: streams of a deleted table of the same name may still be read."""
    if new.stream_view_type is None:
        return None
    return stream_rows.label_at(now, stream_rows.latest_label(tx, *catalogue.address(new)))
