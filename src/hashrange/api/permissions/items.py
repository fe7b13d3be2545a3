"""What the operations on items ask for."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from hashrange.api.context import Context
from hashrange.api.permissions import addressed, named, targets
from hashrange.api.permissions.needs import ItemKeys, Need
from hashrange.api.permissions.targets import Target

SELECT = "dynamodb:select"
RETURN_VALUES = "dynamodb:returnvalues"
CONSUMED = "dynamodb:returnconsumedcapacity"
ENCLOSING = "dynamodb:enclosingoperation"
ALL, SPECIFIC, PROJECTED = "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"
NONE, ALL_OLD = "NONE", "ALL_OLD"


def get_item(context: Context, request: Any) -> Iterator[Need]:
    """One item."""
    target = targets.table(context, request.table_name)
    yield _item_need("dynamodb:GetItem", target, partial(_read, request), request, request.key)


def put_item(context: Context, request: Any) -> Iterator[Need]:
    """The item's key is part of it."""
    return _write("dynamodb:PutItem", context, request, request.item)


def update_item(context: Context, request: Any) -> Iterator[Need]:
    """One item."""
    return _write("dynamodb:UpdateItem", context, request, request.key)


def delete_item(context: Context, request: Any) -> Iterator[Need]:
    """One item."""
    return _write("dynamodb:DeleteItem", context, request, request.key)


def query(context: Context, request: Any) -> Iterator[Need]:
    """One partition of a table or of an index, which is then the only resource."""
    target = targets.table(context, request.table_name, request.index_name)
    keys = ItemKeys(
        partial(_read, request),
        partitions=lambda: addressed.of_clauses(target, named.key_clauses(request)),
        attributes=partial(named.by, request),
    )
    yield target.need("dynamodb:Query", keys, crosses=True)


def scan(context: Context, request: Any) -> Iterator[Need]:
    """No partition in particular: a policy about leading keys cannot limit it, only leave it out."""
    target = targets.table(context, request.table_name, request.index_name)
    keys = ItemKeys(partial(_read, request), attributes=partial(named.by, request))
    yield target.need("dynamodb:Scan", keys, crosses=True)


def batch_get_item(context: Context, request: Any) -> Iterator[Need]:
    """Every table with the keys and names that are sent to it."""
    for name, wanted in (request.request_items or {}).items():
        target = targets.table(context, name)
        keys = ItemKeys(
            {SELECT: selected(wanted), CONSUMED: consumed(request)},
            partitions=partial(addressed.of_keys, target, wanted.keys),
            attributes=partial(_names_and_keys, wanted),
        )
        yield target.need("dynamodb:BatchGetItem", keys, crosses=True)


def batch_write_item(context: Context, request: Any) -> Iterator[Need]:
    """Every table with what is put into it and deleted from it."""
    for name, writes in (request.request_items or {}).items():
        target = targets.table(context, name)
        sent = [item for write in writes for item in _written(write)]
        keys = ItemKeys(
            {CONSUMED: consumed(request)},
            partitions=partial(addressed.of_keys, target, sent),
            attributes=partial(named.by_keys, sent),
        )
        yield target.need("dynamodb:BatchWriteItem", keys, crosses=True)


_TRANSACTED = {
    "put": ("dynamodb:PutItem", "item"),
    "update": ("dynamodb:UpdateItem", "key"),
    "delete": ("dynamodb:DeleteItem", "key"),
    "condition_check": ("dynamodb:ConditionCheckItem", "key"),
}


def transact_write_items(context: Context, request: Any) -> Iterator[Need]:
    """The actions of its members: those of one action on one table together, with each of their return values."""
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for element in request.transact_items:
        for field in _TRANSACTED:
            member = getattr(element, field)
            if member is not None:
                for returned in _returned(member):
                    groups.setdefault((field, member.table_name, returned), []).append(member)
    for (field, name, returned), members in groups.items():
        action, keyed = _TRANSACTED[field]
        known = {RETURN_VALUES: returned, CONSUMED: consumed(request)}
        # The authorization reference lists this key for all of the four but the check.
        if field != "condition_check":
            known[ENCLOSING] = "TransactWriteItems"
        yield _members_need(action, targets.table(context, name), known, members, keyed)


def transact_get_items(context: Context, request: Any) -> Iterator[Need]:
    """The items of a table together; those with all their attributes apart from those with some."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for element in request.transact_items:
        groups.setdefault((element.get.table_name, selected(element.get)), []).append(element.get)
    for (name, select), members in groups.items():
        known = {SELECT: select, CONSUMED: consumed(request), ENCLOSING: "TransactGetItems"}
        yield _members_need("dynamodb:GetItem", targets.table(context, name), known, members, "key")


def _write(action: str, context: Context, request: Any, key: Any) -> Iterator[Need]:
    target = targets.table(context, request.table_name)
    for returned in _returned(request):
        known = partial(_wrote, request, returned)
        yield _item_need(action, target, known, request, key)


def _read(request: Any) -> dict[str, str]:
    return {SELECT: selected(request), CONSUMED: consumed(request)}


def _wrote(request: Any, returned: str) -> dict[str, str]:
    return {RETURN_VALUES: returned, CONSUMED: consumed(request)}


def _item_need(
    action: str, target: Target, known: Callable[[], dict[str, str]], request: Any, key: Any
) -> Need:
    keys = ItemKeys(
        known,
        partitions=partial(addressed.of_keys, target, (key,)),
        attributes=partial(named.by, request),
    )
    return target.need(action, keys, crosses=True)


def _members_need(
    action: str, target: Target, known: dict[str, str], members: Sequence[Any], keyed: str
) -> Need:
    keys = ItemKeys(
        known,
        partitions=lambda: addressed.of_keys(target, (getattr(member, keyed) for member in members)),
        attributes=lambda: chain.from_iterable(named.by(member) for member in members),
    )
    return target.need(action, keys, crosses=True)


def _returned(request: Any) -> tuple[str, ...]:
    """What a write returns; one whose condition fails may return the old item, which needs to be allowed as well."""
    asked = getattr(request, "return_values", None) or NONE
    if asked != ALL_OLD and request.return_values_on_condition_check_failure == ALL_OLD:
        return asked, ALL_OLD
    return (asked,)


def _written(write: Any) -> Iterator[Any]:
    if write.put_request is not None:
        yield write.put_request.item
    if write.delete_request is not None:
        yield write.delete_request.key


def _names_and_keys(wanted: Any) -> Iterator[str]:
    yield from named.by_keys(wanted.keys)
    yield from named.by(wanted)


def selected(request: Any) -> str:
    """What a read returns of its items: said, or the default."""
    said: str | None = getattr(request, "select", None)
    if said is not None:
        return said
    if request.projection_expression is not None or getattr(request, "attributes_to_get", None) is not None:
        return SPECIFIC
    return ALL if getattr(request, "index_name", None) is None else PROJECTED


def consumed(request: Any) -> str:
    """Whether the caller wants to know what the request costs."""
    said: str | None = request.return_consumed_capacity
    return said or NONE
