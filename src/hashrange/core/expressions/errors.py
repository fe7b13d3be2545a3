"""The errors of expressions, before and after it is known which request parameter holds the expression."""

from hashrange.core.errors import RequestInvalid


class ExpressionInvalid(RequestInvalid):
    """The text, the names or the values of an expression break a rule, whatever the item is."""


class Flaw(Exception):
    """The service's wording of one broken rule, still without `Invalid <parameter>: ` before it."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def in_parameter(self, kind: str) -> ExpressionInvalid:
        """The full message, naming the request parameter that holds the expression."""
        return ExpressionInvalid(f"Invalid {kind}: {self.detail}")
