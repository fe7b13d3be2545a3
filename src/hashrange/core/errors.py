"""What the core raises when a request breaks one of the service's rules."""

from typing import Literal

# Which of the service's two validation layers checks a value, and so words what is wrong with it: AWS is replacing
# Coral's layer operation by operation; Scan, BatchWriteItem and PartiQL still have it (measured).
Wording = Literal["coral", "newer"]


class Expected(Exception):
    """An outcome like others, and no failure of ours: nobody will ask where in the code it was raised."""


class Refused(Expected):
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


def forget_frames(error: BaseException) -> None:
    """Let go what an expected error knows of the code that raised it, before another thread is told of it.

    The frames of a traceback refer to whatever they worked on, a large request for instance, which must not be taken
    apart by the event loop. And through their callers they often refer to the error: then all of it would stay until a
    garbage collection.
    """
    if isinstance(error, Expected):
        error.__traceback__ = error.__context__ = error.__cause__ = None
