"""What the core raises when a request breaks one of the service's rules."""


class Invalid(Exception):
    """The request breaks a rule; `message` is the service's own wording."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class RequestInvalid(Invalid):
    """Found by the service's request-validation layer, which some operations announce with a prefix."""


class EmptyKeyValue(Invalid):
    """An empty key value: always an error of the whole request, even inside a transaction."""
