"""What an operation wants done: answer now, read in a snapshot, or write in a transaction."""

from collections.abc import Callable, Sequence

import msgspec

from hashrange.api.results import Result
from hashrange.storage.engine import Reader, Transaction


class Answer(msgspec.Struct, gc=False):
    """The result is already known."""

    result: Result


class Read(msgspec.Struct, gc=False):
    """The step sees one consistent snapshot; it may run twice.

    `reads` are all the keys it looks at, if that is all it does: a hint for engines across a network. Where only some
    of its items must be up to date, `mixed` is the same step with a reader more: that one is for the others.
    `conflict` is as for writes: where reads are serializable, they too may collide.
    """

    step: Callable[[Reader], Result]
    reads: Sequence[bytes] = ()
    eventual: bool = False  # the snapshot may be a little old
    mixed: Callable[[Reader, Reader], Result] | None = None
    conflict: Callable[[], Exception] | None = None


class Write(msgspec.Struct, gc=False):
    """The step runs in a serializable transaction, perhaps twice; `after` runs once its commit is on disk.

    `reads` gives the keys it will look at for sure: a hint for engines across a network. `conflict` gives the error
    if the step kept colliding with others, where it is not the usual one.
    """

    step: Callable[[Transaction], Result]
    after: Callable[[], object] | None = None
    reads: Callable[[], Sequence[bytes]] = tuple
    conflict: Callable[[], Exception] | None = None


Plan = Answer | Read | Write
