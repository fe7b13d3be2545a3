"""How a statement says that it breaks a rule: with the parser's envelope, with a position, or bare."""

from hashrange.core.errors import Invalid


class NotWellFormed(Invalid):
    """The parser cannot read the statement; what it missed stands behind the colon, sometimes nothing does."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"Statement wasn't well formed, can't be processed: {detail}")
