"""What the three PartiQL operations have in common: their members, and binding a statement to its parameters."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Protocol

from msgspec import Meta

from hashrange.api.protocol.structures import AttributeValue
from hashrange.core import values
from hashrange.core.errors import Invalid
from hashrange.core.limits import STATEMENT_CHARS_MAX
from hashrange.core.partiql import Bound, bind, decimals, prepare
from hashrange.core.partiql.syntax import Exists
from hashrange.core.values import Value

Statement = Annotated[str, Meta(min_length=1, max_length=STATEMENT_CHARS_MAX)]
Parameters = Annotated[list[AttributeValue], Meta(min_length=1)]


class Parameterized(Protocol):
    """A statement and its parameters, as sent."""

    statement: str
    parameters: list[dict[str, Any]] | None


def parameters(request: Parameterized) -> list[Value]:
    """The parameters in canonical form; they may be one level deeper than an attribute."""
    canonical = []
    for raw in request.parameters or ():
        decimals.check_all(raw)
        canonical.append(values.canonical(raw, wording="coral", depth=0))
    return canonical


def bound(request: Parameterized) -> Bound:
    """A statement of ExecuteStatement or BatchExecuteStatement; a bad parameter is found before a bad statement."""
    statement = bind(request.statement, parameters(request))
    if isinstance(statement.statement, Exists):
        raise Invalid("EXISTS can only be used in ExecuteTransaction write requests.")
    return statement


def tables(requests: Iterable[Parameterized]) -> Iterator[str]:
    """The tables that statements name; one that cannot be read names none."""
    for request in requests:
        try:
            statement = prepare(request.statement).statement
        except Invalid:
            continue
        yield statement.target.table
