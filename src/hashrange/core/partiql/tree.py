"""What the grammar reads: expressions and statements as written, before anything is asked about their meaning."""

from typing import Literal as OneOf

import msgspec

from hashrange.core.partiql.lexer import Token
from hashrange.core.partiql.syntax import Returning
from hashrange.core.values import Value


class Name(msgspec.Struct, frozen=True):
    """An attribute's name, or a table's."""

    token: Token


class Constant(msgspec.Struct, frozen=True):
    """Text, a number as written, a boolean or null."""

    token: Token
    value: Value


class Missing(msgspec.Struct, frozen=True):
    """MISSING."""

    token: Token


class Ion(msgspec.Struct, frozen=True):
    """A literal in back quotes."""

    token: Token


class Placeholder(msgspec.Struct, frozen=True):
    """`?`: they count from the left."""

    token: Token
    number: int


class Sequence(msgspec.Struct, frozen=True):
    """[…], <<…>>, or the same as a call."""

    token: Token
    kind: OneOf["List", "Bag", "Sexp"]
    members: tuple["Node", ...]


class Fields(msgspec.Struct, frozen=True):
    """{…}: keys and values, both still expressions."""

    token: Token
    pairs: tuple[tuple["Node", "Node"], ...]


class Step(msgspec.Struct, frozen=True):
    """One step of a path; without a key it is an asterisk."""

    token: Token
    key: "Node | None"
    dotted: bool = False


class Path(msgspec.Struct, frozen=True):
    """Steps into something."""

    root: "Node"
    steps: tuple[Step, ...]

    @property
    def token(self) -> Token:
        """Where the path begins."""
        return self.root.token


class Call(msgspec.Struct, frozen=True):
    """A function's call; the token is its name."""

    token: Token
    arguments: tuple["Node", ...]

    @property
    def name(self) -> str:
        """The function's name, which has no case."""
        return self.token.text.lower()


class Operation(msgspec.Struct, frozen=True):
    """An operator and its operands: AND and OR have any number, a sign and NOT one, BETWEEN three."""

    token: Token
    operator: str
    operands: tuple["Node", ...]


class TypeTest(msgspec.Struct, frozen=True):
    """operand IS [NOT] type."""

    token: Token
    operand: "Node"
    type_name: str
    negated: bool


class Column(msgspec.Struct, frozen=True):
    """One element of a SELECT list; without a node it is an asterisk."""

    node: "Node | None"
    aliased: bool = False
    spread: bool = False  # path.*


class Source(msgspec.Struct, frozen=True):
    """What stands behind FROM or UPDATE."""

    node: "Node"
    aliased: bool = False
    joined: bool = False


class Clause(msgspec.Struct, frozen=True):
    """A clause of SELECT that the service does not have; some of its messages say where it stands."""

    name: str
    token: Token | None = None


class Select(msgspec.Struct, frozen=True):
    """SELECT."""

    token: Token
    columns: tuple[Column, ...]
    source: Source
    where: "Node | None"
    order: tuple[tuple["Node", bool], ...]  # with true: descending
    clauses: tuple[Clause, ...]
    distinct: bool = False
    single_value: bool = False  # SELECT VALUE


class Insert(msgspec.Struct, frozen=True):
    """INSERT INTO; without VALUE it inserts any expression, which the service does not have."""

    token: Token
    target: "Node"
    value: "Node | None"
    clause: OneOf["", "AT", "ON CONFLICT", "RETURNING"] = ""


class Assignment(msgspec.Struct, frozen=True):
    """SET path = value."""

    target: "Node"
    value: "Node"


class Removal(msgspec.Struct, frozen=True):
    """REMOVE path."""

    target: "Node"


Action = Assignment | Removal | Insert


class Returned(msgspec.Struct, frozen=True):
    """One element of RETURNING."""

    what: Returning
    everything: bool  # an asterisk follows


class Change(msgspec.Struct, frozen=True):
    """UPDATE … SET … WHERE, or FROM … WHERE … SET; a bare SET has no source."""

    token: Token
    source: Source | None
    actions: tuple[Action, ...]
    where: "Node | None" = None
    returning: tuple[Returned, ...] = ()


class Erasure(msgspec.Struct, frozen=True):
    """DELETE FROM."""

    token: Token
    source: Source
    where: "Node | None"
    returning: tuple[Returned, ...]


class Special(msgspec.Struct, frozen=True):
    """CASE and CAST: the parser knows them, the service has no use for them."""

    token: Token
    name: OneOf["CASE", "cast"]


class Definition(msgspec.Struct, frozen=True):
    """CREATE or DROP."""

    token: Token
    name: str


Statement = Select | Insert | Change | Erasure | Definition
Node = (
    Name
    | Constant
    | Missing
    | Ion
    | Placeholder
    | Sequence
    | Fields
    | Path
    | Call
    | Operation
    | TypeTest
    | Special
    | Statement
)

_OPERATIONS = {
    "=": "Eq",
    "<>": "Ne",
    "<": "Lt",
    "<=": "Lte",
    ">": "Gt",
    ">=": "Gte",
    "AND": "And",
    "OR": "Or",
    "NOT": "Not",
    "+": "Plus",
    "-": "Minus",
    "*": "Times",
    "/": "Divide",
    "%": "Modulo",
    "||": "Concat",
    "IN": "InCollection",
    "LIKE": "Like",
    "BETWEEN": "Between",
    "UNION": "Union",
    "EXCEPT": "Except",
    "INTERSECT": "Intersect",
}
_CLASSES: dict[type, str] = {
    Name: "Id",
    Constant: "Lit",
    Ion: "Lit",
    Placeholder: "Parameter",
    Fields: "Struct",
    TypeTest: "IsType",
    Change: "Dml",
    Erasure: "Dml",
    Insert: "Dml",
}


def class_name(node: Node) -> str:
    """What the service's messages call a node: its class in the open-source parser (recorded: IsType, Parameter)."""
    match node:
        case Operation(_, "+" | "-" as sign, (_,)):
            return "Pos" if sign == "+" else "Neg"
        case Operation(_, operator):
            return _OPERATIONS[operator]
        case Sequence(_, kind):
            return kind
        case Definition(_, name):
            return name
        case Special(_, name):
            return "Cast" if name == "cast" else "SearchedCase"
        case _:
            return _CLASSES.get(type(node), type(node).__name__)
