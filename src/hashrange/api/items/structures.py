"""Structures of the legacy parameters, in canonical form once they are handed on."""

from typing import Annotated, Literal

from msgspec import Meta

from hashrange.api.protocol.structures import (
    AttributeValue,
    ComparisonOperator,
    Structure,
    UncheckedComparisonOperator,
)
from hashrange.core import values
from hashrange.core.errors import Wording
from hashrange.core.expressions.legacy import AttributeUpdate, Comparison, Expectation

AttributesToGet = Annotated[list[str], Meta(min_length=1, max_length=255)]


class ExpectedAttributeValue(Structure, kw_only=True):
    """One expectation of a conditional write."""

    exists: bool | None = None
    value: AttributeValue | None = None
    comparison_operator: UncheckedComparisonOperator | None = None
    attribute_value_list: list[AttributeValue] | None = None

    def canonical(self) -> Expectation:
        """The expectation as the core takes it."""
        listed = self.attribute_value_list
        return Expectation(
            exists=self.exists,
            value=None if self.value is None else values.canonical(self.value),
            operator=self.comparison_operator,
            values=None if listed is None else [values.canonical(value) for value in listed],
        )


class Condition(Structure, kw_only=True):
    """One condition of a query or scan."""

    comparison_operator: ComparisonOperator
    attribute_value_list: list[AttributeValue] | None = None

    def canonical(self, *, wording: Wording = "newer") -> Comparison:
        """The condition as the core takes it."""
        listed = self.attribute_value_list or ()
        return Comparison(
            self.comparison_operator, [values.canonical(value, wording=wording) for value in listed]
        )


class AttributeValueUpdate(Structure, kw_only=True):
    """One action of UpdateItem."""

    action: Literal["ADD", "DELETE", "PUT"] | None = None
    value: AttributeValue | None = None

    def canonical(self) -> AttributeUpdate:
        """The action as the core takes it."""
        value = None if self.value is None else values.canonical(self.value)
        return AttributeUpdate(self.action or "PUT", value)


Expected = dict[str, ExpectedAttributeValue]
Conditions = dict[str, Condition]
AttributeUpdates = dict[str, AttributeValueUpdate]
