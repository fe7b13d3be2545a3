"""Running a write transaction: every outcome first, then every write; idempotent by its token."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.items.writes import collection_size
from hashrange.api.protocol.digests import digest
from hashrange.api.protocol.plan import Write
from hashrange.api.results import Charge, ItemsWritten, ItemWritten, Result
from hashrange.api.throttling.gate import Tab
from hashrange.api.transactions import cancellation
from hashrange.api.transactions.cancellation import Reason
from hashrange.core import capacity, mutation
from hashrange.core.errors import Invalid
from hashrange.core.limits import IDEMPOTENCY_SECONDS, TRANSACT_BYTES_MAX
from hashrange.core.mutation import Command, Origin, Rejected
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import catalogue, store, token_rows
from hashrange.storage.engine import Transaction
from hashrange.storage.token_rows import TokenRow

_MISMATCH = (
    "Specified idempotent token was used with different request parameters within the idempotency window"
)


class Action(msgspec.Struct, frozen=True):
    """One command of the transaction."""

    table: Table
    name: str
    command: Command
    key_item: Item
    wants_item: bool  # the stored item goes into the reason if the condition fails
    inserts: bool = False  # a PartiQL INSERT, whose condition fails because the key is taken

    def rejected(self, item: Item | None) -> Reason:
        """Why the condition failed."""
        if self.inserts:
            return cancellation.duplicate()
        return cancellation.condition_failed(item if self.wants_item else None)


class Token(msgspec.Struct, frozen=True):
    """The request's idempotency token: where its outcome is kept, and what it stood for."""

    key: bytes
    digest: bytes
    now: float


class Replayed(Result):
    """A transaction whose token is known: it was written before, and is charged as reads of what it was charged for."""

    actions: Sequence[Action]
    sizes: Sequence[int]

    def charges(self) -> Iterator[Charge]:
        """Reads, each at twice the price of a consistent one."""
        for action, size in zip(self.actions, self.sizes, strict=True):
            units = 2 * capacity.read_units(size, consistent=True)
            yield Charge(action.table, None, action.command.key, units, write=False)


def make_token(context: Context, text: str | None, elements: Any) -> Token | None:
    """The token of a request, taken before anything in the request is brought into canonical form."""
    if text is None:
        return None
    key = token_rows.token_key(context.account_id, context.region, text)
    return Token(key, digest(*elements), context.clock.now())


def plan(context: Context, actions: list[Action], token: Token | None, *, sized: bool = False) -> Write:
    """The plan that runs the actions."""
    origin = Origin(context.clock.now())
    tab = context.tab(*{action.table.number: action.table for action in actions}.values())
    step = partial(_run, actions, token, origin, sized, tab)
    return Write(
        step if tab is None else partial(tab.run, step),
        reads=lambda: _reads(actions, token),
        conflict=lambda: cancellation.conflict(len(actions)),
    )


def _reads(actions: list[Action], token: Token | None) -> list[bytes]:
    reads = [key for action in actions for key in store.reads(action.table, action.command.key)]
    return reads if token is None else [*reads, token.key]


def _run(
    actions: list[Action], token: Token | None, origin: Origin, sized: bool, tab: Tab | None, tx: Transaction
) -> ItemsWritten | Replayed:
    """All or nothing; a token that is known answers again without writing again."""
    sizes = None if token is None else _replayed(tx, token)
    if sizes is not None:
        replayed = Replayed(actions, sizes)
        if tab is not None:
            tab.take(replayed.charges())
        return replayed
    written = _outcomes(tx, actions, origin, tab)
    for at, result in enumerate(written):
        try:
            store.write(tx, result.table, result.outcome)
        except store.CollectionFull:
            reasons: list[Reason | None] = [None] * len(actions)
            reasons[at] = Reason("ItemCollectionSizeLimitExceeded", "Collection size exceeded.")
            cancellation.cancel_on(reasons)
    if token is not None:
        outcomes = [result.outcome for result in written]
        _remember(tx, token, (max(outcome.before_size, outcome.after_size) for outcome in outcomes))
    if sized:
        for action, result in zip(actions, written, strict=True):
            key = action.command.key
            result.collection = collection_size(tx, result.table, action.key_item, key)
    return ItemsWritten(written)


def _outcomes(tx: Transaction, actions: list[Action], origin: Origin, tab: Tab | None) -> list[ItemWritten]:
    written: list[ItemWritten] = []
    reasons: list[Reason | None] = [None] * len(actions)
    size = 0  # of the items as they were; what is put in their place was counted before
    tables: dict[int, Table] = {}
    tx.prefetch([store.row_key(action.table, action.command.key) for action in actions])
    for at, action in enumerate(actions):
        command, number = action.command, action.table.number
        if number not in tables:
            tables[number] = _current(tx, action.table)
        table = tables[number]
        before = store.read_item(tx, table, command.key)
        if before is not None:
            size += before.size
        if size > TRANSACT_BYTES_MAX:
            raise Invalid("Aggregate size of the items in the transaction cannot exceed 4 MB")
        refusal = None if tab is None else tab.write_refusal(table, command.key)
        if refusal is not None:
            reasons[at] = cancellation.throttled(refusal)
            continue
        try:
            outcome = mutation.apply(table, command, before, origin)
            written.append(ItemWritten(table, action.name, outcome, factor=2))
            if tab is not None:
                tab.take(written[-1].charges())
        except Rejected as rejected:
            reasons[at] = action.rejected(rejected.item)
        except Invalid as error:
            reasons[at] = cancellation.invalid(error)
    cancellation.cancel_on(reasons)
    return written


def _current(tx: Transaction, planned: Table) -> Table:
    table = catalogue.current(tx, planned)
    if table is None:
        raise errors.not_found()
    return table


def _replayed(tx: Transaction, token: Token) -> tuple[int, ...] | None:
    """The sizes that a request with this token was charged for, if there was one."""
    stored = tx.get(token.key)
    row = None if stored is None else token_rows.unpack(stored)
    if row is None or row.is_expired(token.now):
        return None
    if row.digest != token.digest:
        raise ApiError("IdempotentParameterMismatchException", _MISMATCH)
    return row.item_sizes


def _remember(tx: Transaction, token: Token, sizes: Iterable[int]) -> None:
    row = TokenRow(int(token.now) + IDEMPOTENCY_SECONDS, token.digest, tuple(sizes))
    tx.put(token.key, token_rows.pack(row))
    tx.put(token_rows.expiry_key(row.expires_epoch_seconds, token.key), b"")
