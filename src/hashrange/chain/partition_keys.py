"""The partition keys that queries and PartiQL statements address, which no member of their requests has by itself.

Policies look at the same ones (`dynamodb:LeadingKeys`), so what they compare is what the audit log shows.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.permissions import items, statements
from hashrange.api.permissions.needs import Need, Undetermined
from hashrange.core.errors import Refused
from hashrange.core.schema import KeyAttribute
from hashrange.core.values import Malformed
from hashrange.storage.errors import StorageError

VALUES_MAX = 100  # of a request; a key may have 2 KB
_INDEX = "/index/"
# The condition keys of the four hash attributes that an index may have.
_BY_POSITION = tuple(
    f"dynamodb:{number}partitionkeyvalues" for number in ("first", "second", "third", "fourth")
)


class PartitionKey(NamedTuple):
    """A value of a hash attribute of a table or of an index."""

    resource: str
    attribute: str
    value: dict[str, str]  # {"S": "x"}


def partition_keys(operation: str, context: Context, request: Any) -> list[PartitionKey]:
    """Those of a request, each once, as many as fit; none of what cannot be told."""
    found = (key for needs in _needs(operation, context, request) for key in _keys(needs))
    unique = {(key.resource, key.attribute, *key.value.items()): key for key in islice(found, VALUES_MAX)}
    return list(unique.values())


def _keys(needs: Iterable[Need]) -> Iterator[PartitionKey]:
    try:
        for need in needs:
            yield from _of_need(need)
    except (ApiError, Refused, Malformed, StorageError):
        return  # the query or statement is refused for what is wrong with it; the other ones of a batch may not be


def _needs(operation: str, context: Context, request: Any) -> Iterator[Iterable[Need]]:
    """What each query or statement of a request needs."""
    match operation:
        case "Query":
            yield items.query(context, request)
        case "ExecuteStatement":
            yield statements.statement_needs(context, request)
        case "BatchExecuteStatement":
            yield from (statements.statement_needs(context, member) for member in request.statements)
        case "ExecuteTransaction":
            yield from (statements.statement_needs(context, member) for member in request.transact_statements)
        case _:
            pass


def _of_need(need: Need) -> Iterator[PartitionKey]:
    for attribute, key in zip(_hash_attributes(need), _BY_POSITION, strict=False):
        try:
            values = need.keys.get(key) or ()
        except Undetermined:
            return
        for text in (values,) if isinstance(values, str) else values:
            yield PartitionKey(need.resource, attribute.name, {attribute.type: text})


def _hash_attributes(need: Need) -> tuple[KeyAttribute, ...]:
    if need.table is None:
        return ()
    index_name = need.resource.partition(_INDEX)[2]
    if not index_name:
        return (need.table.hash,)
    index = need.table.index_by_name.get(index_name)
    return () if index is None else index.hash
