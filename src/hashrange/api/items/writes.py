"""What PutItem, UpdateItem and DeleteItem have in common: conditions, and running one command."""

from functools import partial
from typing import Any, Protocol

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.items.parameters import (
    Valued,
    members_present,
    mixing,
    refuse_idle_names,
    refuse_idle_values,
    resolver,
)
from hashrange.api.items.prepared import Key
from hashrange.api.items.structures import Expected
from hashrange.api.protocol.plan import Write
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Charge, CollectionSize, ItemWritten
from hashrange.api.throttling.gate import Tab
from hashrange.core import capacity
from hashrange.core.errors import Invalid, RequestInvalid
from hashrange.core.expressions import Condition, legacy, select_paths
from hashrange.core.items import StoredItem
from hashrange.core.limits import NEWER_FORM_NESTING_LEVELS_MAX
from hashrange.core.mutation import Command, Origin, Outcome, PutCommand, Rejected
from hashrange.core.schema import Table
from hashrange.core.values import Item, check_names, nests_beyond
from hashrange.storage import catalogue, store
from hashrange.storage.engine import Reader, Transaction

_EXPRESSION = ("condition_expression",)


class Conditional(Valued, Protocol):
    """A write that may have a condition."""

    condition_expression: str | None
    expected: Expected | None
    conditional_operator: Any


class Reporting(Protocol):
    """A write that may report what it has done."""

    table_name: str
    return_values: Any
    return_item_collection_metrics: Any
    return_values_on_condition_check_failure: Any


class WriteRequest(Conditional, Reporting, Protocol):
    """What PutItem, UpdateItem and DeleteItem have in common."""


def check_parameters(request: Request) -> None:
    """The first checks of PutItem and DeleteItem, before anything is read from the request."""
    conditional: Any = request
    text = conditional.condition_expression
    if conditional.expected is not None or conditional.conditional_operator is not None:
        old = members_present(request, ("expected", "conditional_operator"))
        if text is not None:
            raise mixing(old, ["ConditionExpression"])
    if text is not None:
        return
    if conditional.expression_attribute_names is not None:
        refuse_idle_names(conditional)
    if conditional.expression_attribute_values is not None:
        refuse_idle_values(conditional, _EXPRESSION, named=False)


OLD_VALUES_ONLY = "ReturnValues can only be ALL_OLD or NONE"


def check_return_values(request: WriteRequest) -> None:
    """PutItem and DeleteItem give back the old item or nothing."""
    if request.return_values not in (None, "ALL_OLD", "NONE"):
        raise RequestInvalid(OLD_VALUES_ONLY)


def check_return_values_of_deep(request: WriteRequest, attributes: Item) -> None:
    """The same before the nesting of very deep a request is looked at, in the older layer's words (measured)."""
    if request.return_values in (None, "ALL_OLD", "NONE"):
        return
    sent = [*attributes.values(), *(request.expression_attribute_values or {}).values()]
    for expectation in (request.expected or {}).values():
        sent += [expectation.value or {}, *(expectation.attribute_value_list or ())]
    if nests_beyond(sent, NEWER_FORM_NESTING_LEVELS_MAX):
        raise Invalid(OLD_VALUES_ONLY)


def prepared_key(table: Table, request: Conditional, update: str | None = None) -> Key:
    """Everything about a write's expressions that its values do not change."""
    names, values = request.expression_attribute_names, request.expression_attribute_values
    return (
        table.number,
        update,
        request.condition_expression,
        None if names is None else tuple(names.items()),
        None if values is None else tuple(values),
    )


def condition(request: Conditional) -> Condition | None:
    """The condition of a single-item write without an update expression."""
    text = request.condition_expression
    if text is not None:
        binding = resolver(request)
        resolved = binding.condition("ConditionExpression", text)
        binding.finish()
        return resolved
    return expected(request)


def expected(request: Conditional) -> Condition | None:
    """The condition of the legacy parameters."""
    if request.expected is None and request.conditional_operator is None:
        return None
    check_names(request.expected or ())
    expectations = {name: value.canonical() for name, value in (request.expected or {}).items()}
    try:
        return legacy.expected(expectations, request.conditional_operator)
    except Invalid as invalid:
        # The newer layer announces this family like the expressions'.
        raise RequestInvalid(invalid.message) from None


def run(
    tx: Transaction,
    table: Table,
    command: Command,
    origin: Origin,
    *,
    wants_item: bool,
    inserts: bool = False,
    tab: Tab | None = None,
) -> tuple[Table, Outcome]:
    """Apply the command to the table as it is now; conditions and full collections become the service's errors.

    Where a PartiQL statement `inserts`, its condition fails because the key is taken.
    """
    current = admitted(tx, table, command.key, tab)
    try:
        return current, store.apply(tx, current, command, origin)
    except Rejected as rejected:
        units = attempted_units(command, rejected.before)
        charge = Charge(current, None, command.key, units, write=True)
        if inserts:
            error = ApiError("DuplicateItemException", "Duplicate primary key exists in table")
        else:
            error = errors.condition_failed(rejected.item if wants_item else None)
        raise errors.charged(error, charge) from None
    except store.CollectionFull:
        raise collection_full() from None


def tab(context: Context, table: Table) -> Tab | None:
    """A tab for a write to this table, if it may be refused for want of capacity."""
    gate = context.gate
    return gate.tab(table) if gate is not None and (table.tags or gate.guards_all) else None


def admitted(tx: Transaction, table: Table, key: bytes, tab: Tab | None) -> Table:
    """The table as it is now, if it has capacity for a write to this key."""
    current = catalogue.current(tx, table)
    if current is None:
        raise errors.not_found()
    if tab is not None:
        tab.demand_write(current, key)
    return current


def attempted_units(command: Command, before: StoredItem | None) -> float:
    """A write that failed is charged like one that replaces the stored item by what it carried (recorded)."""
    carried = command.size if isinstance(command, PutCommand) else 0
    return float(capacity.write_units(max(carried, 0 if before is None else before.size)))


def collection_full() -> ApiError:
    """The refusal of a write that would grow an item collection past 10 GB."""
    return ApiError("ItemCollectionSizeLimitExceededException", "Collection size exceeded.")


def plan(context: Context, table: Table, command: Command, request: Reporting, key_item: Item) -> Write:
    """The plan of a write of one item."""
    origin = Origin(context.clock.now())
    wants_item = request.return_values_on_condition_check_failure == "ALL_OLD"
    return_values = request.return_values
    sized = request.return_item_collection_metrics == "SIZE"
    guard = tab(context, table)

    def step(tx: Transaction) -> ItemWritten:
        current, outcome = run(tx, table, command, origin, wants_item=wants_item, tab=guard)
        attributes = None if return_values is None else returned(return_values, outcome)
        collection = collection_size(tx, current, key_item, command.key) if sized else None
        return ItemWritten(current, request.table_name, outcome, attributes, collection)

    if guard is not None:
        return Write(partial(guard.write, step), reads=lambda: store.reads(table, command.key))
    return Write(step, reads=lambda: store.reads(table, command.key))


def collection_size(reader: Reader, table: Table, item: Item, key: bytes) -> CollectionSize | None:
    """The item collection of an item, for tables that have such."""
    if not table.local_indexes:
        return None
    return CollectionSize({table.hash.name: item[table.hash.name]}, store.collection_size(reader, table, key))


def returned(return_values: str, outcome: Outcome) -> Item | None:
    """The Attributes member for each of the five choices."""
    match return_values:
        case "ALL_OLD":
            return outcome.before_item
        case "ALL_NEW":
            return outcome.after
        case "UPDATED_OLD":
            item = outcome.before_item
        case "UPDATED_NEW":
            item = outcome.after
        case _:
            return None
    paths = () if outcome.applied is None else outcome.applied.paths
    return None if item is None else select_paths(paths, item)
