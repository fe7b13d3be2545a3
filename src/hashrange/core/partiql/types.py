"""Names of types in statements: those of PartiQL after IS, those of the service in attribute_type."""

from dataclasses import dataclass

from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.tree import Literal, Parameter, Values, known_value
from hashrange.core.values import type_names

_NUMBER = ("N",)
_STRING = ("S",)

# The attribute types that each PartiQL type covers.
TYPE_CODES: dict[str, tuple[str, ...]] = {
    "NULL": ("NULL",),
    **dict.fromkeys(("BOOL", "BOOLEAN"), ("BOOL",)),
    **dict.fromkeys(("INT", "INTEGER", "SMALLINT", "BIGINT", "FLOAT", "REAL", "DOUBLE"), _NUMBER),
    **dict.fromkeys(("DECIMAL", "NUMERIC", "NUMBER"), _NUMBER),
    **dict.fromkeys(("STRING", "CHAR", "CHARACTER", "VARCHAR", "SYMBOL", "CLOB"), _STRING),
    **dict.fromkeys(("BLOB", "BINARY"), ("B",)),
    "LIST": ("L",),
    **dict.fromkeys(("STRUCT", "TUPLE", "MAP"), ("M",)),
    **dict.fromkeys(("BAG", "SET"), ("SS", "NS", "BS")),
}
# PartiQL prints the types in another order than the expressions do (recorded).
_SHOWN = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"


@dataclass(frozen=True, slots=True)
class TypeName:
    """The second argument of attribute_type must name a type."""

    operand: Literal | Parameter

    def run(self, values: Values) -> None:
        """The value must be the name of a type."""
        name = known_value(self.operand, values)["S"]
        if name not in type_names:
            raise Flaw(f"Invalid attribute type name found; type: {name}, valid types: {_SHOWN}")
