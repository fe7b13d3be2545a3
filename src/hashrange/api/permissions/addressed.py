"""Which partitions a request addresses, as texts that policies compare: numbers in canonical form, binary as base64."""

from collections.abc import Iterable, Sequence

from hashrange.api.permissions.needs import Partitions, Undetermined
from hashrange.api.permissions.targets import Target
from hashrange.core import values
from hashrange.core.expressions.key_clauses import KeyClause
from hashrange.core.schema import KeyAttribute
from hashrange.core.values import Item, Value


def of_keys(target: Target, keys: Iterable[Item]) -> Partitions:
    """Those of whole keys or items, as sent, of a table."""
    hash_keys = _hash_keys(target)
    if len(hash_keys) == 1:
        key = hash_keys[0]
        return [(_text(key, item.get(key.name)),) for item in keys]
    return [tuple(_text(key, item.get(key.name)) for key in hash_keys) for item in keys]


def of_clauses(target: Target, clauses: Sequence[KeyClause]) -> Partitions:
    """The one of a query's key conditions, which must fix every hash attribute."""
    by_name = {clause.attribute: clause for clause in clauses}
    if len(by_name) != len(clauses):
        raise Undetermined
    texts = []
    for key in _hash_keys(target):
        clause = by_name.get(key.name)
        if clause is None or clause.operator != "=":
            raise Undetermined
        texts.append(_text(key, clause.operands[0]))
    return [tuple(texts)]


def of_values(target: Target, partitions: Iterable[Value]) -> Partitions:
    """Those of values of the only hash attribute."""
    (key,) = _hash_keys(target)
    return [(_text(key, value),) for value in partitions]


def _hash_keys(target: Target) -> tuple[KeyAttribute, ...]:
    table = target.table
    if table is None:
        # Whether there is such a table is not told to those who may see some of its items only.
        raise Undetermined
    if target.index_name is None:
        return (table.hash,)
    if target.index is None:
        raise Undetermined
    return target.index.hash


def _text(key: KeyAttribute, sent: Value | None) -> str:
    if sent is None:
        raise Undetermined
    if key.type == "S" and type(sent) is dict and len(sent) == 1 and type(text := sent.get("S")) is str:
        return text  # which is canonical, as most keys are
    ((kind, content),) = values.canonical(sent).items()
    if kind != key.type or not isinstance(content, str):
        raise Undetermined
    return content
