"""The quick way of UpdateItem: expressions and names that were accepted before for the same table."""

from typing import Any

import msgspec

from hashrange.api import item_writes
from hashrange.api.context import Context
from hashrange.api.parameters import resolver
from hashrange.api.plan import Write
from hashrange.api.table_names import ready_table
from hashrange.core import mutation, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions import WriteTemplate
from hashrange.core.keys import primary_key
from hashrange.core.schema import Table
from hashrange.core.values import Malformed, Value

_MEMBERS = frozenset(
    (
        "TableName",
        "Key",
        "UpdateExpression",
        "ConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "ReturnValues",
    )
)
_RETURN_VALUES = ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
_KNOWN_MAX = 1024  # after so many different updates the cache starts anew
_KNOWN_CHARS_MAX = 1024  # of all texts and names together; longer ones are judged each time

Key = tuple[str, Any, Any, Any, Any]


class _Known(msgspec.Struct, frozen=True):
    """An update that was accepted for this very record of its table; another record asks for a new judgement."""

    table: Table
    template: WriteTemplate


_known: dict[Key, _Known] = {}


def quick_update(context: Context, request: dict[str, Any]) -> Write | None:
    """What update_item would plan, if it is known and its values are right; whatever is not, it has to judge."""
    name = request.get("TableName")
    if type(name) is not str or not request.keys() <= _MEMBERS:
        return None
    table = ready_table(context, name)
    if table is None or request.get("ReturnValues", "NONE") not in _RETURN_VALUES:
        return None
    try:
        known = _known[_key(table, request)]
    except (KeyError, TypeError, AttributeError):  # not known, not hashable, or no map of names
        return None
    key_item: Any = request.get("Key")
    key = primary_key.of_key_or_none(table, key_item)
    if key is None or known.table is not table:
        return None
    try:
        bound = known.template.bind_or_none(_values(request.get("ExpressionAttributeValues")))
        if bound is None:
            return None
        mutation.check_charge(bound[0])
    except (Invalid, Malformed):
        return None
    return item_writes.change(table, mutation.Change(key, key_item, *bound), request)


def _values(sent: dict[str, Any] | None) -> dict[str, Value]:
    return {} if sent is None else {name: values.canonical(value) for name, value in sent.items()}


def _key(table: Table, request: dict[str, Any]) -> Key:
    names, given = request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues")
    return (
        table.table_id,
        request["UpdateExpression"],
        request.get("ConditionExpression"),
        None if names is None else tuple(names.items()),
        None if given is None else tuple(given.keys()),
    )


def learn(request: dict[str, Any], table: Table) -> None:
    """Remember a request that update_item has accepted."""
    if not request.keys() <= _MEMBERS or "UpdateExpression" not in request:
        return
    key = _key(table, request)
    known = _known.get(key)
    if (known is not None and known.table is table) or _chars(request) > _KNOWN_CHARS_MAX:
        return
    if len(_known) >= _KNOWN_MAX:
        _known.clear()
    binding = resolver(request)
    update = binding.update(request["UpdateExpression"])
    text = request.get("ConditionExpression")
    condition = None if text is None else binding.condition("ConditionExpression", text)
    _known[key] = _Known(table, WriteTemplate(update, condition, binding.value_checks()))


def _chars(request: dict[str, Any]) -> int:
    names = request.get("ExpressionAttributeNames") or {}
    texts = (
        request["UpdateExpression"],
        request.get("ConditionExpression") or "",
        *names,
        *names.values(),
        *(request.get("ExpressionAttributeValues") or ()),
    )
    return sum(map(len, texts))
