"""How the newer of the service's two validation layers words broken constraints, and which of them it reports together.

Recorded in seven regions in October 2026, of which two still have the older layer. PutItem, UpdateItem, DeleteItem,
GetItem and Query are read by the newer one. It leaves ConditionalOperator, Select and the operators of Expected to the
handlers, which report them after everything else.
"""

from hashrange.api.protocol.kinds import Sent, Violation
from hashrange.api.protocol.shapes import R, Shape, is_enumeration, joined
from hashrange.core.limits import NAME_CHARS_MIN, NEWER_FORM_NESTING_LEVELS_MAX
from hashrange.core.values import nests_beyond

_EMPTY_NAME = (
    "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
)
_SHORT = f"Member must have length greater than or equal to {NAME_CHARS_MIN}"
_LIMIT = "Value at 'Limit' failed to satisfy constraint: "
# This layer has a spelling of its own for these values.
_RETURN_VALUES = (
    "Failed to satisfy constraint: Member must satisfy enum value set: "
    "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
_LEFT_TO_HANDLERS = ("ConditionalOperator", "Select")


class NewerShape(Shape[R]):
    """A request that the newer layer reads, unless something sends it to the older one."""

    # Behind the table's name, in the order in which they are reported; others follow.
    order: tuple[str, ...] = ("ReturnConsumedCapacity",)

    def violations(self, clean: Sent) -> list[Violation]:
        """Beside what the older layer finds, names that are too short for a table."""
        violations = super().violations(clean)
        name = clean.get("TableName", "")
        if 0 < len(name) < NAME_CHARS_MIN:
            violations.append((name, "TableName", _SHORT))
        return violations

    def message(self, sent: Sent, violations: list[Violation]) -> str | None:
        """An empty table name alone, else all that is wrong."""
        if self.is_older(sent, violations):
            return super().message(sent, [broken for broken in violations if broken[2] != _SHORT])
        if sent.get("TableName") == "":
            return joined([_EMPTY_NAME])
        return self.newer_message(sent, [broken for broken in violations if not _is_left_to_handlers(broken)])

    def is_older(self, sent: Sent, violations: list[Violation]) -> bool:
        """Whether the older layer reads the request: it does where a member is missing."""
        return any(value is None for value, _, _ in violations)

    def newer_message(self, sent: Sent, violations: list[Violation]) -> str | None:
        """One thing wrong with the table's name, then all other members."""
        names = sorted((broken for broken in violations if broken[1] == "TableName"), key=_length_first)
        members = sorted((broken for broken in violations if broken[1] != "TableName"), key=self._place)
        phrases = [self.newer_phrase(broken) for broken in (*names[:1], *members)]
        return joined(phrases) if phrases else None

    def newer_phrase(self, violation: Violation) -> str:
        """Most constraints are worded as the older layer does it."""
        return self.phrase(violation)

    def _place(self, violation: Violation) -> int:
        return self.order.index(violation[1]) if violation[1] in self.order else len(self.order)


class QueryShape(NewerShape[R]):
    """Limit is reported before all else but an empty table name, which stands behind it."""

    def is_older(self, sent: Sent, violations: list[Violation]) -> bool:
        """Also where Limit is no whole number, or beyond 32 bits."""
        limit = sent.get("Limit")
        wide = isinstance(limit, int) and not -(2**31) <= limit < 2**31
        return isinstance(limit, float) or wide or super().is_older(sent, violations)

    def message(self, sent: Sent, violations: list[Violation]) -> str | None:
        """Limit and an empty table name, else all other members."""
        limits = [_LIMIT + rule for _, path, rule in violations if path == "Limit"]
        if not limits or self.is_older(sent, violations):
            return super().message(sent, violations)
        return joined([*limits, _EMPTY_NAME] if sent.get("TableName") == "" else limits)


class WriteShape(NewerShape[R]):
    """PutItem and DeleteItem."""

    order = (
        "ReturnConsumedCapacity",
        "ReturnValues",
        "ReturnItemCollectionMetrics",
        "ReturnValuesOnConditionCheckFailure",
    )

    def __init__(self, request: type[R], *, old_values_only: str | None = None) -> None:
        """`old_values_only` is what the operation says of ReturnValues that it does not know, beside other errors."""
        super().__init__(request, prefixed=True)
        self._old_values_only = old_values_only

    def is_older(self, sent: Sent, violations: list[Violation]) -> bool:
        """Also where a value is nested very deeply."""
        return super().is_older(sent, violations) or _is_deep(sent)

    def newer_message(self, sent: Sent, violations: list[Violation]) -> str | None:
        """ReturnValues that DeleteItem does not give come last."""
        if self._old_values_only is not None and sent.get("ReturnValues") in _NEW_OR_UPDATED and violations:
            violations = [*violations, ("", "", self._old_values_only)]
        return super().newer_message(sent, violations)

    def newer_phrase(self, violation: Violation) -> str:
        """ReturnValues without its name; a rule without a member stands for itself."""
        if violation[1] == "ReturnValues":
            return _RETURN_VALUES
        return violation[2] if not violation[1] else super().newer_phrase(violation)


_NEW_OR_UPDATED = ("ALL_NEW", "UPDATED_NEW", "UPDATED_OLD")


class UpdateShape(WriteShape[R]):
    """UpdateItem: everything about the table's name, else one enumeration, two of which are not announced."""

    order = (
        "ReturnValues",
        "ReturnValuesOnConditionCheckFailure",
        "ReturnItemCollectionMetrics",
        "ReturnConsumedCapacity",
    )

    def newer_message(self, sent: Sent, violations: list[Violation]) -> str | None:
        names = [self.newer_phrase(broken) for broken in violations if broken[1] == "TableName"]
        if names:
            return joined(names)
        if not any(map(is_enumeration, violations)):
            return super().newer_message(sent, violations)
        first = min(filter(is_enumeration, violations), key=self._place)
        bare = first[1] in ("ReturnValuesOnConditionCheckFailure", "ReturnConsumedCapacity")
        return self.newer_phrase(first) if bare else joined([self.newer_phrase(first)])


def _is_left_to_handlers(violation: Violation) -> bool:
    path = violation[1]
    return is_enumeration(violation) and (path in _LEFT_TO_HANDLERS or path.startswith("Expected."))


def _length_first(violation: Violation) -> bool:
    return "length" not in violation[2]


def _is_deep(sent: Sent) -> bool:
    """Whether one of these members nests very deeply; the operation need not know it, so that it can be anything."""
    attributes = [
        value
        for name in ("Item", "Key", "ExpressionAttributeValues")
        for value in _members(sent.get(name)).values()
    ]
    for name in ("Expected", "AttributeUpdates"):
        for element in _members(sent.get(name)).values():
            listed = _members(element).get("AttributeValueList")
            attributes += [_members(element).get("Value"), *(listed if isinstance(listed, list) else ())]
    return nests_beyond(attributes, NEWER_FORM_NESTING_LEVELS_MAX)


def _members(sent: object) -> Sent:
    return sent if isinstance(sent, dict) else {}
