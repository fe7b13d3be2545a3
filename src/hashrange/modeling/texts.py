"""What is wrong with a small text in a model file (a template, a condition, a quantity), and where in it."""


class TextInvalid(Exception):
    """A text that does not say what it should. `offset` counts characters from its beginning."""

    def __init__(self, message: str, remedy: str = "", *, offset: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.offset = offset
