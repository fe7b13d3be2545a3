"""TransactWriteItems: up to a hundred puts, updates, deletes and checks, all or nothing."""

from typing import Any

from hashrange.api import shapes, transact_writes, transactions
from hashrange.api.context import Context
from hashrange.api.item_shapes import ATTRIBUTES, NAMES
from hashrange.api.kinds import Kind, ListOf, Member, Struct, Text
from hashrange.api.parameters import attribute_map, refuse_idle_placeholders, resolver
from hashrange.api.plan import Plan
from hashrange.api.registry import operation
from hashrange.api.shapes import Shape
from hashrange.api.table_names import data_table
from hashrange.api.transact_writes import Action
from hashrange.api.transactions import Reason
from hashrange.api.update_item import refuse_key_update
from hashrange.core import indexes, mutation, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition, Update
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import CLIENT_REQUEST_TOKEN_CHARS_MAX, TRANSACT_BYTES_MAX, TRANSACT_ITEMS_MAX
from hashrange.core.mutation import Change, Check, Command, Delete, Put
from hashrange.core.schema import Table
from hashrange.core.values import Item


def _action(name: str, members: dict[str, Member | Kind]) -> Member:
    common: dict[str, Member | Kind] = {
        "TableName": Member(shapes.TABLE_NAME, required=True),
        "ConditionExpression": Text(),
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": ATTRIBUTES,
        "ReturnValuesOnConditionCheckFailure": shapes.RETURN_VALUES_ON_FAILURE,
    }
    joined = common | members
    typed = {key: each if isinstance(each, Member) else Member(each) for key, each in joined.items()}
    return Member(Struct(name, typed, as_member=True))


_KEY = Member(ATTRIBUTES, required=True)

_ELEMENT = Struct(
    "TransactWriteItem",
    {
        "ConditionCheck": _action(
            "ConditionCheck", {"Key": _KEY, "ConditionExpression": Member(Text(), required=True)}
        ),
        "Put": _action("Put", {"Item": _KEY}),
        "Delete": _action("Delete", {"Key": _KEY}),
        "Update": _action("Update", {"Key": _KEY, "UpdateExpression": Member(Text(), required=True)}),
    },
)

SHAPE = Shape(
    {
        "ReturnConsumedCapacity": shapes.RETURN_CONSUMED_CAPACITY,
        "ReturnItemCollectionMetrics": shapes.RETURN_ITEM_COLLECTION_METRICS,
        "ClientRequestToken": Text(least=1, most=CLIENT_REQUEST_TOKEN_CHARS_MAX),
        "TransactItems": Member(ListOf(_ELEMENT, least=1, most=TRANSACT_ITEMS_MAX), required=True),
    }
)

_CONDITION = ("ConditionExpression",)
_BOTH = ("UpdateExpression", "ConditionExpression")


class _Draft:
    """An action checked as far as that goes without its table."""

    __slots__ = ("asked", "condition", "item", "kind", "size", "update")

    def __init__(self, element: dict[str, Any]) -> None:
        if len(element) != 1:
            raise Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
        ((self.kind, self.asked),) = element.items()
        expressions = _BOTH if self.kind == "Update" else _CONDITION
        refuse_idle_placeholders(self.asked, expressions, expressions)
        self.update: Update | None = None
        self.condition: Condition | None = None
        # What is wrong with an expression is told before what is wrong with a key, but after an item (measured).
        if self.kind == "Put":
            self.item: Item
            self.item, self.size = values.canonical_sized(self.asked["Item"])
            mutation.refuse_large(self.size)
            self._read_expressions()
        else:
            self.size = 0
            self._read_expressions()
            self.item = attribute_map(self.asked["Key"])

    def _read_expressions(self) -> None:
        binding = resolver(self.asked)
        if self.kind == "Update":
            self.update = binding.update(self.asked["UpdateExpression"])
        if "ConditionExpression" in self.asked:
            self.condition = binding.condition("ConditionExpression", self.asked["ConditionExpression"])
        binding.finish()


@operation("TransactWriteItems", SHAPE)
def transact_write_items(context: Context, request: dict[str, Any]) -> Plan:
    token = transact_writes.token(context, request)
    drafts = [_Draft(_known(element)) for element in request["TransactItems"]]
    if sum(draft.size for draft in drafts) > TRANSACT_BYTES_MAX:
        raise Invalid(f"Transaction request size cannot exceed {TRANSACT_BYTES_MAX} bytes")
    tables = [data_table(context, draft.asked["TableName"]) for draft in drafts]
    actions = [_bind(draft, table) for draft, table in zip(drafts, tables, strict=True)]
    transactions.refuse_duplicates(
        [(each.table, each.command.key) for each in actions if isinstance(each, Action)]
    )
    transactions.cancel_on(transactions.first_only(actions))
    bound = [each for each in actions if isinstance(each, Action)]
    return transact_writes.plan(request, bound, token, lambda answer: answer)


def _known(element: dict[str, Any]) -> dict[str, Any]:
    return {name: element[name] for name in _ELEMENT.members if element.get(name) is not None}


def _bind(draft: _Draft, table: Table) -> Action | Reason:
    """The action on its table, or why it cancels the transaction; an empty key is an error of the whole request."""
    try:
        command = _command(draft, table)
        key_paths.refuse_nested(table, table.indexes, draft.update, draft.condition)
    except Invalid as error:
        return transactions.invalid(error)
    wants_item = draft.asked.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
    return Action(table, draft.asked["TableName"], command, draft.item, wants_item)


def _command(draft: _Draft, table: Table) -> Command:
    if draft.kind == "Put":
        key = primary_key.of_item(table, draft.item)
        indexes.check_index_keys(table, draft.item)
        return Put(key, draft.item, draft.size, draft.condition)
    key = primary_key.of_key(table, draft.item)
    if draft.update is not None:
        refuse_key_update(table, draft.update)
        return Change(key, draft.item, draft.update, draft.condition)
    if draft.kind == "Delete" or draft.condition is None:
        return Delete(key, draft.condition)
    return Check(key, draft.condition)
