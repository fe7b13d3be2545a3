"""Names of types in statements: those of PartiQL after IS, those of the service in attribute_type."""

import msgspec

from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.resolved import Known, Values, known_value
from hashrange.core.values import TYPE_NAMES

# The types of PartiQL that can be asked for, besides MISSING, and the attribute types they are.
TYPE_CODES = {
    "NULL": "NULL",
    "BOOLEAN": "BOOL",
    "BLOB": "B",
    "STRING": "S",
    "NUMERIC": "N",
    "STRUCT": "M",
    "TUPLE": "M",
    "LIST": "L",
}
SUPPORTED_TYPES = f"[MISSING, {', '.join(TYPE_CODES)}]"
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
