"""What PutItem, UpdateItem and DeleteItem have in common: conditions, and running one command."""

from typing import Any

from hashrange.api import answers, errors
from hashrange.api.errors import ApiError
from hashrange.api.parameters import legacy_map, refuse_idle_placeholders, refuse_mixing, resolver
from hashrange.api.plan import Write
from hashrange.core.errors import Invalid, RequestInvalid
from hashrange.core.expressions import Condition, legacy, select_paths
from hashrange.core.mutation import Change, Command, Delete, Outcome, Put
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import catalogue, store
from hashrange.storage.engine import Transaction

Request = dict[str, Any]

_CONDITION = ("ConditionExpression",)


def check_parameters(request: Request) -> None:
    """The first checks of PutItem and DeleteItem, before anything is read from the request."""
    refuse_mixing(request, ("Expected", "ConditionalOperator"), _CONDITION)
    refuse_idle_placeholders(request, _CONDITION, _CONDITION)


def check_return_values(request: Request) -> bool:
    """Whether the old item is wanted; PutItem and DeleteItem know no other choice."""
    wanted = request.get("ReturnValues", "NONE")
    if wanted not in ("ALL_OLD", "NONE"):
        raise RequestInvalid("ReturnValues can only be ALL_OLD or NONE")
    return bool(wanted == "ALL_OLD")


def condition(request: Request) -> Condition | None:
    """The condition of a single-item write without an update expression."""
    text = request.get("ConditionExpression")
    if text is not None:
        binding = resolver(request)
        found = binding.condition("ConditionExpression", text)
        binding.finish()
        return found
    return expected(request)


def expected(request: Request) -> Condition | None:
    """The condition of the legacy parameters."""
    if "Expected" not in request and "ConditionalOperator" not in request:
        return None
    try:
        return legacy.expected(legacy_map(request.get("Expected")), request.get("ConditionalOperator"))
    except Invalid as invalid:
        # The newer layer announces this family like the expressions'.
        raise RequestInvalid(invalid.message) from None


def run(tx: Transaction, table: Table, command: Command, request: Request) -> tuple[Table, Outcome]:
    """Apply the command to the table as it is now; conditions and full collections become the service's errors."""
    current = catalogue.current(tx, table)
    if current is None:
        raise errors.not_found()
    try:
        return current, store.apply(tx, current, command)
    except store.Rejected as rejected:
        wants_item = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
        raise errors.condition_failed(rejected.stored if wants_item else None) from None
    except store.CollectionFull:
        raise ApiError("ItemCollectionSizeLimitExceededException", "Collection size exceeded.") from None


def write(table: Table, command: Put | Delete, request: Request, key_item: Item, *, wants_old: bool) -> Write:
    """The plan of PutItem and DeleteItem."""

    def step(tx: Transaction) -> bytes:
        current, outcome = run(tx, table, command, request)
        members = answers.write_members(tx, request, current, outcome, key_item, command.key)
        if wants_old and outcome.before is not None:
            members["Attributes"] = outcome.before
        return answers.body(members)

    return Write(step, reads=lambda: store.reads(table, command.key))


def change(table: Table, command: Change, request: Request) -> Write:
    """The plan of UpdateItem."""
    key, key_item = command.key, command.key_item

    def step(tx: Transaction) -> bytes:
        current, outcome = run(tx, table, command, request)
        members = answers.write_members(tx, request, current, outcome, key_item, key)
        attributes = returned(request.get("ReturnValues", "NONE"), outcome)
        if attributes:
            members["Attributes"] = attributes
        return answers.body(members)

    return Write(step, reads=lambda: store.reads(table, key))


def returned(wanted: str, outcome: Outcome) -> Item | None:
    """The Attributes member for each of the five choices."""
    paths = () if outcome.applied is None else outcome.applied.paths
    match wanted:
        case "ALL_OLD":
            return outcome.before
        case "ALL_NEW":
            return outcome.after
        case "UPDATED_OLD":
            return None if outcome.before is None else select_paths(paths, outcome.before)
        case "UPDATED_NEW":
            return None if outcome.after is None else select_paths(paths, outcome.after)
        case _:
            return None
