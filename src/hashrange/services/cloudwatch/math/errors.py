"""What is wrong with an expression."""


class MathError(Exception):
    """The expression cannot be read, or not be evaluated; the message is for its author."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
