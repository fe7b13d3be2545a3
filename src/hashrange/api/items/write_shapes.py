"""How PutItem, UpdateItem and DeleteItem word broken constraints: in the newer layer's form, or in the older one's."""

from typing import Any

from hashrange.api.protocol.kinds import Violation
from hashrange.api.protocol.shapes import R, Shape, is_enumeration
from hashrange.core.limits import NEWER_FORM_NESTING_LEVELS_MAX
from hashrange.core.values import nests_beyond

# The newer layer has names of its own for these values; UPDATE_NEW is its spelling.
_GENERIC = {
    "ReturnValues": "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]",
    "ConditionalOperator": "[ALL, OR]",
}
_ORDER = ("ReturnConsumedCapacity", "ReturnValues", "ReturnItemCollectionMetrics", "ConditionalOperator")
_FIRST_OF = ("ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ConditionalOperator")


class WriteShape(Shape[R]):
    """The shape of a write of one item (measured)."""

    def __init__(self, request: type[R], *, first_enumeration_only: bool = False) -> None:
        super().__init__(request, prefixed=True)
        self._first_enumeration_only = first_enumeration_only

    def phrases(self, clean: dict[str, Any], violations: list[Violation]) -> list[str]:
        """An empty table name alone, else what is wrong with enumerations; older words where a request falls back."""
        if _is_read_by_the_older_layer(clean, violations):
            return super().phrases(clean, violations)
        if clean.get("TableName") == "":
            return [
                "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
            ]
        if self._first_enumeration_only:
            violations = _first_enumeration(violations)
        violations = sorted(violations, key=lambda violation: _place(violation, _ORDER))
        return [_generic(violation) or self.phrase(violation) for violation in violations]


def _is_read_by_the_older_layer(clean: dict[str, Any], violations: list[Violation]) -> bool:
    """A member that is missing, a malformed table name or very deep a value bring the older layer in."""
    if any(value is None or (path == "TableName" and value) for value, path, _ in violations):
        return True
    return _is_deep(clean)


def _is_deep(sent: dict[str, Any]) -> bool:
    maps = (sent.get(name) for name in ("Item", "Key", "ExpressionAttributeValues"))
    listed = [value for attributes in maps if attributes for value in attributes.values()]
    for name in ("Expected", "AttributeUpdates"):
        for element in (sent.get(name) or {}).values():
            listed += [element.get("Value"), *(element.get("AttributeValueList") or ())]
    return nests_beyond(listed, NEWER_FORM_NESTING_LEVELS_MAX)


def _first_enumeration(violations: list[Violation]) -> list[Violation]:
    """All violations but those of the second and further enumerations."""
    broken = sorted(filter(is_enumeration, violations), key=lambda violation: _place(violation, _FIRST_OF))
    return [violation for violation in violations if violation not in broken[1:]]


def _place(violation: Violation, order: tuple[str, ...]) -> int:
    return order.index(violation[1]) if violation[1] in order else len(order)


def _generic(violation: Violation) -> str | None:
    values = _GENERIC.get(violation[1])
    if values is None:
        return None
    return f"Failed to satisfy constraint: Member must satisfy enum value set: {values}"
