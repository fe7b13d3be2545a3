"""Names of types in statements: those of PartiQL after IS, those of the service in attribute_type."""

import msgspec

from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.resolved import Known, Values, known_value
from hashrange.core.values import TYPE_NAMES

# The attribute types that a type of PartiQL covers; its types of time and its symbols cover none.
TYPE_CODES: dict[str, tuple[str, ...]] = {
    "NULL": ("NULL",),
    **dict.fromkeys(("BOOL", "BOOLEAN"), ("BOOL",)),
    **dict.fromkeys(("INT", "INT2", "INT4", "INT8", "INTEGER", "SMALLINT", "BIGINT"), ("N",)),
    **dict.fromkeys(("FLOAT", "REAL", "DEC", "DECIMAL", "NUMERIC"), ("N",)),
    **dict.fromkeys(("STRING", "CHAR", "CHARACTER", "VARCHAR"), ("S",)),
    "BLOB": ("B",),
    "LIST": ("L",),
    **dict.fromkeys(("STRUCT", "TUPLE"), ("M",)),
    "BAG": ("SS", "NS", "BS"),
}
# PartiQL prints the types in another order than the expressions do (recorded).
_SHOWN = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"


class TypeName(msgspec.Struct, frozen=True):
    """The second argument of attribute_type must name a type."""

    operand: Known

    def run(self, values: Values) -> None:
        """The value must be the name of a type."""
        name = known_value(self.operand, values)["S"]
        if name not in TYPE_NAMES:
            raise Flaw(f"Invalid attribute type name found; type: {name}, valid types: {_SHOWN}")
