"""Requests that were accepted before, ready for other values: what a request's texts and names alone decide.

The long path of an operation enters what it resolved; the next request with the same texts and names for the same
record of the table only has its values checked. Where those are not plainly right, the long path judges them, so
errors always come from there.
"""

import msgspec

from hashrange.api.protocol.structures import AttributeMap
from hashrange.caches import BoundedCache
from hashrange.core import plain_items, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Binder, Condition, QueryTemplate, Update, WriteTemplate
from hashrange.core.keys.template import KeyTemplate
from hashrange.core.partiql.prepared import Prepared
from hashrange.core.schema import Index, Table
from hashrange.core.values import Malformed, Value

_ENTRIES_MAX = 1024
_CHARS_MAX = 1024  # of all texts and names together; longer requests are judged each time

Key = tuple[object, ...]
Values = AttributeMap | None  # as sent


class PreparedWrite(msgspec.Struct, frozen=True):
    """An update or a condition that was accepted for this very record of its table."""

    table: Table
    template: WriteTemplate

    def bind(self, sent: Values) -> tuple[Update | None, Condition | None] | None:
        """The two with these values; None if the long path has to judge them."""
        bound = canonical_or_none(sent)
        return None if bound is None else self.template.bind_or_none(bound)


class PreparedQuery(msgspec.Struct, frozen=True):
    """A query that was accepted for this very record of its table."""

    table: Table
    index: Index | None
    keys: KeyTemplate
    template: QueryTemplate
    fetch: bool
    # Whether it gives the item of a whole key, as it is; unless there is a limit of one, of which the answer would say
    # that it is reached.
    single: bool


class PreparedRequests:
    """The cache of one server."""

    def __init__(self, entries_max: int = _ENTRIES_MAX) -> None:
        self.writes: BoundedCache[Key, PreparedWrite] = BoundedCache(entries_max)
        self.queries: BoundedCache[Key, PreparedQuery] = BoundedCache(entries_max)
        self.statements: BoundedCache[str, Prepared] = BoundedCache(entries_max)

    def add_write(
        self, key: Key, table: Table, binding: Binder, update: Update | None, condition: Condition | None
    ) -> None:
        """Remember what a binding has resolved."""
        if _chars(key) <= _CHARS_MAX:
            template = WriteTemplate(update, condition, binding.value_checks())
            self.writes.put(key, PreparedWrite(table, template))

    def add_query(self, key: Key, prepared: PreparedQuery) -> None:
        """Remember a query."""
        if _chars(key) <= _CHARS_MAX:
            self.queries.put(key, prepared)

    def add_statement(self, text: str, prepared: Prepared) -> None:
        """Remember a statement that was accepted; it says nothing about the table, which may change."""
        if len(text) <= _CHARS_MAX:
            self.statements.put(text, prepared)


def canonical_or_none(sent: Values) -> dict[str, Value] | None:
    """All values in canonical form; None if one of them is not right."""
    if sent is None:
        return {}
    if plain_items.measured_or_none(sent) is not None:
        return sent
    try:
        return {name: values.canonical(value) for name, value in sent.items()}
    except (Invalid, Malformed):
        return None


def _chars(key: Key) -> int:
    return sum(
        _chars(part) if isinstance(part, tuple) else len(part) if isinstance(part, str) else 0 for part in key
    )
