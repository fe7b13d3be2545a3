"""The error of a statement that the parser cannot read; all others are plain Invalid."""

from hashrange.core.errors import Invalid


class NotWellFormed(Invalid):
    """The parser cannot read the statement; `detail` says what it missed, where the service says so."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"Statement wasn't well formed, can't be processed: {detail}")
