"""What the three PartiQL operations have in common: their members, and binding a statement to its parameters."""

from typing import Any

from hashrange.api import shapes
from hashrange.api.kinds import VALUE, Flag, ListOf, Member, Text
from hashrange.core import values
from hashrange.core.errors import Invalid
from hashrange.core.limits import STATEMENT_CHARS_MAX
from hashrange.core.partiql import Bound, bind, decimals
from hashrange.core.partiql.syntax import Exists
from hashrange.core.values import Value

Asked = dict[str, Any]

STATEMENT = Member(Text(least=1, most=STATEMENT_CHARS_MAX), required=True)
PARAMETERS = Member(ListOf(VALUE, least=1))
RETURN_VALUES_ON_FAILURE = Member(shapes.RETURN_VALUES_ON_FAILURE)
CONSISTENT_READ = Member(Flag())


def parameters(asked: Asked) -> list[Value]:
    """The parameters in canonical form; they may be one level deeper than an attribute."""
    found = []
    for raw in asked.get("Parameters", ()):
        decimals.check_all(raw)
        found.append(values.canonical(raw, wording="coral", depth=0))
    return found


def bound(asked: Asked) -> Bound:
    """A statement of ExecuteStatement or BatchExecuteStatement; a bad parameter is found before a bad statement."""
    found = bind(asked["Statement"], parameters(asked))
    if isinstance(found.statement, Exists):
        raise Invalid("EXISTS can only be used in ExecuteTransaction write requests.")
    return found
