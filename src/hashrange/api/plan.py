"""What an operation wants done: answer now, read in a snapshot, or write in a transaction."""

from collections.abc import Callable
from dataclasses import dataclass

from hashrange.storage.engine import Reader, Transaction

# One of these is made per request. They are not frozen: that would double what making one costs.


@dataclass(slots=True)
class Answer:
    """The body is already known."""

    body: bytes


@dataclass(slots=True)
class Read:
    """The step sees one consistent snapshot and gives the body."""

    step: Callable[[Reader], bytes]


@dataclass(slots=True)
class Write:
    """The step runs in a serializable transaction, perhaps twice; `after` runs once its commit is on disk."""

    step: Callable[[Transaction], bytes]
    after: Callable[[], object] | None = None


Plan = Answer | Read | Write
