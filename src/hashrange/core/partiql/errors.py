"""The errors of a statement: the parser cannot read it, or it means nothing to the service."""

from hashrange.core.errors import Invalid
from hashrange.core.partiql.syntax import Target


class NotWellFormed(Invalid):
    """The parser cannot read the statement; `detail` says what it missed, where the service says so."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"Statement wasn't well formed, can't be processed: {detail}")


class Untranslatable(Invalid):
    """The statement is well formed, but not for this service; whoever binds it reports what comes before that.

    Before it came `parameters` parameters and, in a SELECT, perhaps its target.
    """

    def __init__(self, message: str, parameters: int, target: Target | None) -> None:
        super().__init__(message)
        self.parameters = parameters
        self.target = target
