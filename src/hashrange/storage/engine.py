"""The engine protocol: ordered bytes, snapshot reads and serializable steps.

This is all that `storage/` asks of a database. Nothing here knows a table or an item; nothing above
here knows SQL. `tests/storage` holds the same contract as code and runs it over every engine.

**Rows.** One sorted map from keys to values, both `bytes`. Keys compare as unsigned bytes, so a key
sorts before every longer key it is a prefix of. A range is half-open: `start <= key < end`; where
`end <= start` it is empty. Values may be empty and may be large (the API needs 400 KB).

**Counters.** A second, separate map from keys to signed 64-bit integers that are only ever added to;
one that was never added to reads as zero, and a counter at zero takes no lasting space. Adds commute,
so an engine may gather them and must not make two steps collide because both add to one counter.

**Reads.** `read(step)` gives the step one consistent snapshot: everything committed before the call,
and nothing that commits after the step's first read, however many it makes. A read never waits
for a commit. Any thread may read, and a read may be nested in another (it has its own snapshot).

**Writes.** A step is a function of its transaction. It may run more than once, so it computes and
uses the transaction, and does nothing else; only its last run counts. Steps are serializable, and the
order is real: a step submitted after another one's `done` sees its writes. A transaction sees its own
writes. A step that raises leaves nothing behind, and its exception is its outcome; steps that happen
to share its commit are not affected.

**Done.** `done(result, error)` is called exactly once per submitted step, whatever happens, and after
the commit is on disk: what was acknowledged survives kill -9 and power loss. That holds for failed
steps too: what a step saw before it raised is on disk when its `done` is called. Callbacks of steps
submitted by one thread come in commit order, which is the order of submission, unless only some of the steps
declare what they read: then an engine may commit them side by side. Callbacks run on a thread of the engine's choice
unless its owner has passed a `Deliver`; they must be short and must not raise.

**Prefetching.** A step may declare the keys it is going to read. An engine across a network prefetches them
for all waiting steps at once; every key that is not declared costs a round trip. It is a hint: a step may read
other keys, and need not read those.

**Reserve.** An engine whose disk can be full keeps some room back for steps that declare that they free space. Other
steps meet the full disk earlier.

**Sharing.** Where `shared` is true any number of servers have engines on the same rows, and everything above
holds among all of their steps. The rows are then across a network and every read waits for it: an event loop
uses `submit_read`, not `read`.

**Logs.** `append` adds a row to a log (storage/appends.py): positions are dense and in commit order, times never go
back, and all appends of one step have the same time. The log must have been opened, by putting its head; the row and
its position are there when the step is over, not before.

**Iterators.** `scan` is lazy, holds a bounded part of the range in memory, and may be left unfinished.
It lives no longer than its step. Inside a transaction it sees the writes made before the call; whether
it sees those made in its range while it is being consumed is not defined.

**Joined rows.** A reader that can join values faster than its caller could has a `joined` function; for all others
`joined` is None.

**Errors.** For their own faults engines raise only `storage.errors`. An `Unavailable` write is all or
nothing, but which of the two is not known. An engine outlives a transient fault: when the disk has room
again, writes work again.

**Closing.** `close` first finishes what was submitted, then releases every resource. It may be called
twice. Reading afterwards raises `Closed`; a step submitted afterwards is done with `Closed`.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from hashrange.storage.appends import Append

T = TypeVar("T")

Done = Callable[[T | None, BaseException | None], None]
"""Takes a step's result, or None and the reason there is none."""

Deliver = Callable[[list[Callable[[], None]]], None]
"""Runs the callbacks of one commit, in order, where the owner wants them run."""

CallSoon = Callable[[Callable[[], None]], object]
"""An event loop's `call_soon`: runs a callback on the loop's thread in its next iteration."""


class FileWatch(Protocol):
    """An event loop that calls back when a file can be read."""

    def add_reader(self, fd: int, callback: Callable[[], None], /) -> object: ...

    def remove_reader(self, fd: int, /) -> object: ...


class Joined(NamedTuple):
    """Rows of a range in one piece."""

    rows: int
    last: bytes  # the key of the last of them; empty if there is none
    heads: bytes  # the first bytes of all values
    rest: bytes  # what comes after these in every value, with a separator between


class Packed(NamedTuple):
    """Rows of a range, with their values cut in three; nobody has looked at their checksums."""

    keys: tuple[bytes, ...]
    heads: bytes  # the first bytes of all values, end to end
    middles: tuple[bytes, ...]
    rests: tuple[bytes, ...]


class PackRows(Protocol):
    """Reads the first `limit` rows that `scan` would give, every value cut behind `head` and then `middle` bytes.

    Gives None if one of them is so large that reading them together is not worth while, or too short to be cut. A
    reader that can do that faster than by `scan` has it as `packed`; it is for engines around the reader's own.
    """

    def __call__(
        self, start: bytes, end: bytes, *, head: int, middle: int, limit: int, reverse: bool = False
    ) -> Packed | None: ...


class RowsAhead(Protocol):
    """Says how many rows `joined` gives of a range that begins here, without another look at the database; 0: unknown.

    A reader that reads ahead has it as `rows_ahead`: to take fewer at first would make more pieces of them.
    """

    def __call__(self, start: bytes, /) -> int: ...


class Columns(NamedTuple):
    """Rows of a range: their keys, and what is stored for each."""

    keys: list[bytes]
    values: list[bytes]


class AtHand(Protocol):
    """Gives what is committed at a key at this moment, if that takes no look at the database; None where it does.

    An engine that can do that has it as `at_hand`. A step that looks at one row only need not be a read then.
    """

    def __call__(self, key: bytes, /) -> bytes | None: ...


class ReadColumns(Protocol):
    """Reads the first `limit` rows that `scan` would give, all at once; None where that is not worth while.

    A reader that has them all at once has it as `columns`; it is for engines around the reader's own.
    """

    def __call__(self, start: bytes, end: bytes, *, limit: int, reverse: bool = False) -> Columns | None: ...


class GetMany(Protocol):
    """Reads what `get` would give for each of some keys.

    Gives None if one of the values is so large that reading them together is not worth while. A reader that can do that
    faster than by `get` has it as `get_many`.
    """

    def __call__(self, keys: Sequence[bytes]) -> list[bytes | None] | None: ...


class SwapRows(Protocol):
    """Stores values at keys, none of which comes twice, and gives what `get` would have given before.

    With `head` it may give no more than so many first bytes of each, and need not compare checksums for that.

    Gives None, and stores nothing, where doing all of them together is not worth while: if one of those before is
    large, for example. A transaction that can do that faster than by `get` and `put` has it as `swap`.
    """

    def __call__(
        self, keys: Sequence[bytes], values: Sequence[bytes], *, head: int | None = None
    ) -> Sequence[bytes | None] | None: ...


class JoinRows(Protocol):
    """Reads the first `limit` rows that `scan` would give, every value cut behind its first `head` bytes.

    Gives None if one of them is so large that joining them is not worth while. A reader of stored forms that can open
    what it joins has that as `joined_opened`; it is for engines around the reader's own.
    """

    def __call__(
        self,
        start: bytes,
        end: bytes,
        *,
        head: int,
        limit: int,
        reverse: bool = False,
        separator: bytes = b",",
    ) -> Joined | None: ...


class Reader(Protocol):
    """One consistent view of rows and counters."""

    def get(self, key: bytes) -> bytes | None:
        """Give the value at `key`, or None."""

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows with start <= key < end in key order, or from the end backwards."""

    def counter(self, key: bytes) -> int:
        """Give a counter's value, this transaction's own adds included."""

    @property
    def joined(self) -> JoinRows | None:
        """How to read many rows as one piece; None if this reader cannot."""


class Transaction(Reader, Protocol):
    """A reader that also writes; what it writes it sees."""

    def put(self, key: bytes, value: bytes) -> None:
        """Store `value` at `key`, whatever was there."""

    def delete(self, key: bytes) -> None:
        """Remove the row at `key`, if there is one."""

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        """Remove the first `limit` rows of a range at most; give how many there were."""

    def add(self, key: bytes, amount: int) -> None:
        """Add to a counter."""

    def append(self, append: Append) -> None:
        """Add a row to a log when the step is over."""

    def prefetch(self, keys: Sequence[bytes]) -> None:
        """Declare keys that the step will read next: a hint, like the declared keys of the step."""

    def use_reserve(self) -> None:
        """Declare that the step frees space, or leads to that: it may use the room that is kept back for it."""


class Engine(Protocol):
    """A database of rows and counters."""

    @property
    def description(self) -> str:
        """Name the engine and where its data is, for people, as in the start-up banner."""

    @property
    def directory(self) -> Path | None:
        """Where the data is, for files beside it; None if it is not in a directory of this machine."""

    @property
    def encrypted(self) -> bool:
        """Whether values are encrypted on their way to the disk; what is noted beside the data must be, too."""

    @property
    def shared(self) -> bool:
        """Whether other servers may have engines on the same rows, which are then across a network."""

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run `step` on one snapshot; any thread may call.

        With `seconds` a scan that takes longer raises `ReadTimeout` out of the step.
        """

    def submit_read(
        self,
        step: Callable[[Reader], T],
        done: Done[T],
        *,
        reads: Sequence[bytes] = (),
        more: bool = False,
        eventual: bool = False,
    ) -> None:
        """Run `step` on one snapshot, perhaps later, perhaps twice; `done` is called with its outcome.

        The engine takes the keys `reads` for all that the step will read, unless `more` is true: a hint too.
        An eventual read may see an old snapshot; the engine has a setting for how old it may be.
        """

    def submit(self, step: Callable[[Transaction], T], done: Done[T], *, reads: Sequence[bytes] = ()) -> None:
        """Queue `step`; `done` is called once its commit is on disk. Never blocks, never raises."""

    def write(self, step: Callable[[Transaction], T]) -> T:
        """Submit `step` and wait for it. Not from a callback or a step."""

    def maintain(self, budget_pages: int) -> int:
        """Return at most `budget_pages` free pages to the file system; give how many it was.

        Blocks like `write`. Fewer than `budget_pages` means that no free page is left.
        """

    def close(self) -> None:
        """Finish what was submitted and release everything. A second call does nothing."""
