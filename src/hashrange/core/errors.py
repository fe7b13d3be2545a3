"""What the core raises when a request breaks one of the service's rules."""

from typing import Literal

# Which of the service's two validation layers checks a value, and so words what is wrong with it: AWS is replacing
# Coral's layer operation by operation; Scan, BatchWriteItem and PartiQL still have it (measured).
Wording = Literal["coral", "newer"]


class Refused(Exception):
    """The service refuses the request; `message` is its own wording."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Invalid(Refused):
    """The request breaks a rule. In a transaction or a batch only one member may be to blame."""


class RequestInvalid(Invalid):
    """The service's request-validation layer raises this; some operations put a prefix before the message."""


class EmptyKeyValue(Refused):
    """A key attribute has an empty value: always an error of the whole request, even inside a transaction."""
