"""The names of a request while an expression is resolved, and the checks that this leaves for its values."""

from collections.abc import Mapping

from hashrange.core.expressions import syntax
from hashrange.core.expressions.resolved import Parameter, Path
from hashrange.core.expressions.value_checks import Check, Defined, Fault

_OPERAND_COUNTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}


class Scope:
    """Gives the names of a request; collects what an expression uses and, in the service's order, its checks."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self.used_names: set[str] = set()
        self.used_values: set[str] = set()
        self.checks: list[Check] = []

    def fault(self, detail: str) -> None:
        """Add a check that always fails."""
        self.checks.append(Fault(detail))

    def path(self, path: syntax.PathRef) -> Path:
        """The path with real names in it."""
        parts: list[str | int] = []
        for part in path.parts:
            if isinstance(part, str) and part[0] == "#":
                name = self._names.get(part)
                if name is None:
                    self.fault(
                        "An expression attribute name used in the document path is not defined; "
                        f"attribute name: {part}"
                    )
                else:
                    self.used_names.add(part)
                    parts.append(name)
            else:
                parts.append(part)
        return Path(tuple(parts))

    def value(self, value: syntax.ValueRef) -> Parameter:
        """The parameter for a `:placeholder`."""
        self.used_values.add(value.name)
        self.checks.append(Defined(value.name))
        return Parameter(value.name)

    def count(self, function: str, operands: int) -> bool:
        """Whether a function has as many operands as it needs."""
        if operands == _OPERAND_COUNTS[function]:
            return True
        self.fault(
            "Incorrect number of operands for operator or function; "
            f"operator or function: {function}, number of operands: {operands}"
        )
        return False

    def distinct(self, operator: str, first: object, rest: tuple[object, ...]) -> None:
        """The first operand may not be the same document path as one of the others."""
        if isinstance(first, Path) and first in rest:
            self.fault(
                "The first operand must be distinct from the remaining operands for this operator or function; "
                f"operator: {operator}, first operand: {first}"
            )

    def needs_path(self, function: str) -> None:
        """Add the fault that an operand is no document path."""
        self.fault(f"Operator or function requires a document path; operator or function: {function}")
