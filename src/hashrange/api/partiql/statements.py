"""What the three PartiQL operations have in common: their members, and binding a statement to its parameters."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Protocol

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol.structures import AttributeValue
from hashrange.api.table_names import ready_table
from hashrange.core import values
from hashrange.core.errors import Invalid
from hashrange.core.limits import STATEMENT_CHARS_MAX
from hashrange.core.partiql import Bound, bind, decimals, prepare, selection
from hashrange.core.partiql.errors import Untranslatable
from hashrange.core.partiql.syntax import Exists, Target
from hashrange.core.partiql.translation import ONLY_IN_TRANSACTIONS
from hashrange.core.values import Value

Statement = Annotated[str, Meta(min_length=1, max_length=STATEMENT_CHARS_MAX)]
Parameters = Annotated[list[AttributeValue], Meta(min_length=1)]


class Parameterized(Protocol):
    """A statement and its parameters, as sent."""

    statement: str
    parameters: list[AttributeValue] | None


def parameters(request: Parameterized) -> list[Value]:
    """The parameters in canonical form; they may be one level deeper than an attribute."""
    canonical = []
    for raw in request.parameters or ():
        decimals.check_all(raw)
        canonical.append(values.canonical(raw, wording="coral", depth=0))
    return canonical


def bound(context: Context, request: Parameterized) -> Bound:
    """A statement of ExecuteStatement or BatchExecuteStatement; a bad parameter is found before a bad statement."""
    given = parameters(request)
    try:
        statement = bind(request.statement, given)
    except Untranslatable as fault:
        # An index that PartiQL cannot read is found before a column or condition that means nothing (recorded).
        refuse_multi_attribute(context, fault.target)
        raise
    if isinstance(statement.statement, Exists):
        raise Invalid(ONLY_IN_TRANSACTIONS)
    return statement


def refuse_multi_attribute(context: Context, target: Target | None) -> None:
    """Refuse to read an index whose key has several hash or range attributes, if there is such an index."""
    if target is None or target.index is None:
        return
    table = ready_table(context, target.table)
    index = None if table is None else table.index_by_name.get(target.index)
    if index is not None:
        selection.refuse_multi_attribute(index)


def tables(requests: Iterable[Parameterized]) -> Iterator[str]:
    """The tables that statements name; one that cannot be read names none."""
    for request in requests:
        try:
            statement = prepare(request.statement).statement
        except Invalid:
            continue
        if statement.target.table:
            yield statement.target.table
