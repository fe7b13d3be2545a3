"""How an expression says that it breaks a rule, before anyone knows which parameter it came from."""

from hashrange.core.errors import RequestInvalid


class ExpressionInvalid(RequestInvalid):
    """A rule broken by the text, the names or the values of an expression, with no item in sight."""


class Flaw(Exception):
    """The service's wording of one broken rule, still without `Invalid <parameter>: ` before it."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def in_parameter(self, kind: str) -> ExpressionInvalid:
        """The full message, naming the request parameter that holds the expression."""
        return ExpressionInvalid(f"Invalid {kind}: {self.detail}")
