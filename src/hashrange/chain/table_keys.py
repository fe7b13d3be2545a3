"""The link that waits for another key service, on behalf of calls that found the key of a table missing.

A call is run as ever. Where a step says that it needs a key, that key is asked for on a thread of its own, and the call
is run again: neither the event loop nor a transaction waits for a network. There is no such link without
`--kms-endpoint`.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from hashrange import logs
from hashrange.api.context import Context, TableKeyMade
from hashrange.api.keys import remote
from hashrange.api.keys.remote import TableKeyNeeded
from hashrange.api.results import Result
from hashrange.chain.background import Background
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner, chained
from hashrange.kms.table_key import SealedKey
from hashrange.remote_keys.client import KmsFailed
from hashrange.remote_keys.new_keys import KeyWish, NewKeys
from hashrange.remote_keys.opening import RemoteKeys
from hashrange.remote_keys.ring import KeyRing
from hashrange.storage import table_keys
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.errors import KeyNeeded, Unavailable

log = logs.Log("remote_keys")
# A transaction touches tables with as many keys; each is fetched when it is found missing.
_RUNS_MAX = 110


def fetching_table_keys(
    keys: RemoteKeys | None, catalogue: Catalogue, background: Background
) -> Callable[[Runner], Runner]:
    """What puts the link around an executor, once the keys of the tables that are there were asked for.

    Waits for a network.
    """
    sealed = [key for table in catalogue.tables() if (key := table_keys.of_table(table).sealed) is not None]
    if keys is None:
        if sealed:
            log.warning("kms.unnamed", tables=len(sealed), reason="--kms-endpoint is missing")
        return lambda runner: runner
    keys.prefetch(sealed)
    link = FetchTableKeys(keys.ring, keys.new_keys, background)
    return lambda runner: chained(runner, link)


class FetchTableKeys:
    """The link."""

    def __init__(self, ring: KeyRing, new_keys: NewKeys, background: Background) -> None:
        self._ring = ring
        self._new_keys = new_keys
        self._background = background

    def __call__(self, call: Call, done: Done, following: Runner, /) -> None:
        """Hand a call on, and again when what it needs is there."""
        call.retain()
        _Attempt(self, call, done, following, call.context).run()

    def wait(self, attempt: "_Attempt", error: BaseException | None) -> bool:
        """Have something fetched that a call needs, if that is what its error says."""
        if isinstance(error, TableKeyNeeded):
            made = partial(self._made, attempt, error.wish)
            if not self._new_keys.make(error.wish, made):
                attempt.done(None, remote.too_many())
            return True
        if isinstance(error, KeyNeeded):
            self._ring.fetch(error.sealed, partial(self._go_on, attempt, attempt.run))
            return True
        return False

    def _made(self, attempt: "_Attempt", wish: KeyWish, key: SealedKey | KmsFailed) -> None:
        if isinstance(key, SealedKey):
            attempt.context = msgspec.structs.replace(attempt.context, table_key=TableKeyMade(wish.name, key))
            self._go_on(attempt, attempt.run)
        else:
            refused = remote.refusal(attempt.context, wish, key)
            self._background.deliver(partial(attempt.done, None, refused))

    def _go_on(self, attempt: "_Attempt", run: Callable[[], None]) -> None:
        """Run a call again where it was run before: on a thread of its own, or on the event loop."""
        if not attempt.call.patient:
            self._background.deliver(run)
        elif not self._background.submit(run):
            self._background.deliver(partial(attempt.done, None, Unavailable("the server is stopping")))


class _Attempt(msgspec.Struct):
    """A call that may have to be run again."""

    link: FetchTableKeys
    call: Call
    done: Done
    following: Runner
    context: Context  # the caller's own, later with a key
    runs: int = 0

    def run(self) -> None:
        """Run the call."""
        if self.runs:
            # A run may have changed the request in place, and has put a context of its own into the call.
            self.call.decode()
            self.call.context = self.context
        self.runs += 1
        self.following(self.call, self._told)

    def _told(self, result: Result | None, error: BaseException | None) -> None:
        if error is None or self.runs >= _RUNS_MAX or not self.link.wait(self, error):
            self.done(result, error)
