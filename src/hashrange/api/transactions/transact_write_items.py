"""TransactWriteItems: up to a hundred puts, updates, deletes and checks, all or nothing."""

from operator import attrgetter
from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.items.parameters import refuse_idle_names, refuse_idle_values, resolver
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import (
    AttributeMap,
    AttributeNames,
    Request,
    ReturnConsumedCapacity,
    ReturnItemCollectionMetrics,
    ReturnValuesOnConditionCheckFailure,
    Structure,
    TableName,
)
from hashrange.api.table_names import data_table
from hashrange.api.transactions import cancellation, run
from hashrange.api.transactions.cancellation import Reason
from hashrange.api.transactions.run import Action
from hashrange.core import indexes, mutation, plain_items, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import Condition
from hashrange.core.expressions import Update as UpdateExpression
from hashrange.core.keys import key_paths, primary_key
from hashrange.core.limits import CLIENT_REQUEST_TOKEN_CHARS_MAX, TRANSACT_BYTES_MAX, TRANSACT_ITEMS_MAX
from hashrange.core.mutation import CheckCommand, Command, DeleteCommand, PutCommand, UpdateCommand
from hashrange.core.schema import Table
from hashrange.core.values import Item


class ConditionCheck(Structure, kw_only=True):
    """A condition on an item that is not written."""

    table_name: TableName
    condition_expression: str
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None
    key: AttributeMap


class ConditionalWrite(Structure, kw_only=True):
    """What the three writes have in common, in the order in which the service reports what is wrong with it."""

    table_name: TableName
    condition_expression: str | None = None
    expression_attribute_names: AttributeNames | None = None
    expression_attribute_values: AttributeMap | None = None
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None


class Put(ConditionalWrite, kw_only=True):
    """An item to put."""

    item: AttributeMap


class Delete(ConditionalWrite, kw_only=True):
    """An item to delete."""

    key: AttributeMap


class Update(ConditionalWrite, kw_only=True):
    """An item to update."""

    key: AttributeMap
    update_expression: str


class TransactWriteItem(Structure, kw_only=True):
    """One element of the transaction: precisely one of the four."""

    condition_check: ConditionCheck | None = None
    put: Put | None = None
    delete: Delete | None = None
    update: Update | None = None


class TransactWriteItems(Request, kw_only=True):
    """The request."""

    client_request_token: (
        Annotated[str, Meta(min_length=1, max_length=CLIENT_REQUEST_TOKEN_CHARS_MAX)] | None
    ) = None
    return_consumed_capacity: ReturnConsumedCapacity | None = None
    return_item_collection_metrics: ReturnItemCollectionMetrics | None = None
    transact_items: Annotated[list[TransactWriteItem], Meta(min_length=1, max_length=TRANSACT_ITEMS_MAX)]


SHAPE = Shape(TransactWriteItems)

_size, _table_name = attrgetter("size"), attrgetter("action.table_name")
_CONDITION = ("condition_expression",)
_BOTH = ("update_expression", "condition_expression")


class _Draft:
    """An action checked as far as that goes without its table."""

    __slots__ = ("action", "condition", "item", "json", "size", "update")

    def __init__(self, element: TransactWriteItem) -> None:
        self.action = action = _only_action(element)
        self.update: UpdateExpression | None = None
        self.condition: Condition | None = None
        self.size = 0
        self.json: bytes | None = None
        # What is wrong with an expression is told before what is wrong with a key, but after an item (measured).
        if isinstance(action, Put):
            is_bare = _is_bare(action)
            if not is_bare:
                self._refuse_idle(_CONDITION)
            self.item: Item
            self.item, self.size, self.json = plain_items.canonical(action.item, wording="coral")
            mutation.refuse_large(self.size)
            if not is_bare:
                self._read_expressions()
        else:
            self._refuse_idle(_BOTH if isinstance(action, Update) else _CONDITION)
            self._read_expressions()
            self.item = values.canonical_item(action.key, wording="coral")

    def _refuse_idle(self, expressions: tuple[str, ...]) -> None:
        refuse_idle_names(self.action, *(getattr(self.action, field) for field in expressions))
        refuse_idle_values(self.action, expressions)

    def _read_expressions(self) -> None:
        action = self.action
        binding = resolver(action, wording="coral")
        if isinstance(action, Update):
            self.update = binding.update(action.update_expression)
        if action.condition_expression is not None:
            self.condition = binding.condition("ConditionExpression", action.condition_expression)
        binding.finish()


def _is_bare(action: ConditionalWrite) -> bool:
    """Whether there is no expression, and nothing that only expressions use."""
    return (
        action.condition_expression is None
        and action.expression_attribute_names is None
        and action.expression_attribute_values is None
    )


def _only_action(element: TransactWriteItem) -> ConditionCheck | Put | Delete | Update:
    put = element.put
    is_alone = element.update is None and element.delete is None and element.condition_check is None
    if put is not None and is_alone:
        return put
    present = [
        action
        for action in (element.condition_check, element.put, element.delete, element.update)
        if action is not None
    ]
    if not present:
        raise Invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
    if len(present) > 1:
        raise Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
    return present[0]


def transact_write_items(context: Context, request: TransactWriteItems) -> Plan:
    """Check all actions, then find the tables."""
    token = run.make_token(context, request.client_request_token, request.transact_items)
    drafts = [_Draft(element) for element in request.transact_items]
    if sum(map(_size, drafts)) > TRANSACT_BYTES_MAX:
        raise Invalid(f"Transaction request size cannot exceed {TRANSACT_BYTES_MAX} bytes")
    names = list(map(_table_name, drafts))
    tables = {name: data_table(context, name) for name in dict.fromkeys(names)}
    outcomes = list(map(_bind, drafts, map(tables.__getitem__, names)))
    actions = [outcome for outcome in outcomes if type(outcome) is Action]
    cancellation.refuse_duplicates([(action.table, action.command.key) for action in actions])
    if len(actions) < len(outcomes):
        cancellation.cancel_on(cancellation.first_only(outcomes))
    return run.plan(context, actions, token, sized=request.return_item_collection_metrics == "SIZE")


def _bind(draft: _Draft, table: Table) -> Action | Reason:
    """The action on its table, or why it cancels the transaction; an empty key is an error of the whole request."""
    try:
        command = _command(draft, table)
        if draft.update is not None or draft.condition is not None:
            key_paths.refuse_nested(table, table.indexes, draft.update, draft.condition)
    except Invalid as error:
        return cancellation.invalid(error)
    wants_item = draft.action.return_values_on_condition_check_failure == "ALL_OLD"
    return Action(table, draft.action.table_name, command, draft.item, wants_item)


def _command(draft: _Draft, table: Table) -> Command:
    if isinstance(draft.action, Put):
        key = primary_key.of_item(table, draft.item)
        if table.indexes:
            indexes.check_index_keys(table, draft.item)
        return PutCommand(key, draft.item, draft.size, draft.condition, draft.json)
    key = primary_key.of_key(table, draft.item)
    if draft.update is not None:
        mutation.refuse_key_update(table, draft.update)
        return UpdateCommand(key, draft.item, draft.update, draft.condition)
    if isinstance(draft.action, Delete) or draft.condition is None:
        return DeleteCommand(key, draft.condition)
    return CheckCommand(key, draft.condition)
