"""Running a write transaction: every outcome first, then every write; idempotent by its token."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, cast

import msgspec

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.items.writes import collection_size
from hashrange.api.protocol.digests import digest
from hashrange.api.protocol.plan import Write
from hashrange.api.results import Charge, ItemsWritten, ItemWritten, PlainWritten, Result
from hashrange.api.throttling.gate import Tab
from hashrange.api.transactions import cancellation
from hashrange.api.transactions.cancellation import Reason
from hashrange.api.transactions.plain_puts import PlainPuts
from hashrange.core import capacity, mutation
from hashrange.core.errors import Invalid
from hashrange.core.limits import IDEMPOTENCY_SECONDS, TRANSACT_BYTES_MAX
from hashrange.core.mutation import Command, Origin, PutCommand, Puts, Rejected
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import catalogue, store, token_rows
from hashrange.storage.engine import Transaction
from hashrange.storage.token_rows import TokenRow

_FEW = 4  # actions of which it is not worth while to store some together
FACTOR = 2  # a write costs the table twice as much as outside of a transaction
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
    tables = {action.table.number: action.table for action in actions}
    tab = context.tab(*tables.values())
    plain = _plain_puts(actions) if tab is None and not sized else []
    step = partial(_run, _Steps(actions, tables, plain, origin, tab), token, sized)
    return Write(
        step if tab is None else partial(tab.run, step),
        reads=lambda: _reads(actions, token),
        conflict=lambda: cancellation.conflict(len(actions)),
    )


def _plain_puts(actions: list[Action]) -> list[PlainPuts]:
    """The puts that may be stored together."""
    places: dict[tuple[int, str], list[int]] = {}
    if len(actions) < _FEW:
        return []
    for place, action in enumerate(actions):
        command = action.command
        if type(command) is PutCommand and command.condition is None and _takes_puts(action.table):
            places.setdefault((action.table.number, action.name), []).append(place)
    return [_of_places(actions, group) for group in places.values() if len(group) > 1]


def _takes_puts(table: Table) -> bool:
    """Whether puts into a table may be stored before all else: a log has them in the order of the request."""
    return table.is_plain and table.log is None


def _of_places(actions: list[Action], places: list[int]) -> PlainPuts:
    first = actions[places[0]]
    commands = cast("list[PutCommand]", [actions[place].command for place in places])
    return PlainPuts(first.table, first.name, places, Puts.of(commands))


def _reads(actions: list[Action], token: Token | None) -> list[bytes]:
    reads = [key for action in actions for key in store.reads(action.table, action.command.key)]
    return reads if token is None else [*reads, token.key]


class _Steps(msgspec.Struct, frozen=True):
    """What is to be done, worked out before the transaction begins."""

    actions: list[Action]
    tables: dict[int, Table]  # as they were then
    plain: list[PlainPuts]  # of the actions; empty if each has to be looked at
    origin: Origin
    tab: Tab | None


class _Written(msgspec.Struct):
    """What the transaction does, by the places of its actions; a group of puts has that of its first."""

    results: list[ItemWritten | PlainWritten | None]
    reasons: list[Reason | None]  # why it is cancelled
    sizes: list[int]  # of the larger one of the item as it is and as it was
    before_bytes: int = 0  # of all items; what is put in their place was counted before the transaction began

    @classmethod
    def nothing(cls, actions: int) -> "_Written":
        """Before the first action."""
        return cls([None] * actions, [None] * actions, [0] * actions)

    def replace(self, size_bytes: int) -> None:
        """Count items as they were."""
        self.before_bytes += size_bytes
        if self.before_bytes > TRANSACT_BYTES_MAX:
            raise Invalid("Aggregate size of the items in the transaction cannot exceed 4 MB")


def _run(steps: _Steps, token: Token | None, sized: bool, tx: Transaction) -> ItemsWritten | Replayed:
    """All or nothing; a token that is known answers again without writing again."""
    actions, tab = steps.actions, steps.tab
    sizes = None if token is None else _replayed(tx, token)
    if sizes is not None:
        replayed = Replayed(actions, sizes)
        if tab is not None:
            tab.take(replayed.charges())
        return replayed
    written = _outcomes(tx, steps)
    for place, result in enumerate(written.results):
        if type(result) is ItemWritten:
            _write(tx, result, place, len(actions))
    if token is not None:
        _remember(tx, token, written.sizes)
    results = [result for result in written.results if result is not None]
    if sized:
        for action, result in zip(actions, cast("list[ItemWritten]", results), strict=True):
            key = action.command.key
            result.collection = collection_size(tx, result.table, action.key_item, key)
    return ItemsWritten(results)


def _write(tx: Transaction, result: ItemWritten, place: int, actions: int) -> None:
    try:
        store.write(tx, result.table, result.outcome)
    except store.CollectionFull:
        reasons: list[Reason | None] = [None] * actions
        reasons[place] = Reason("ItemCollectionSizeLimitExceeded", "Collection size exceeded.")
        cancellation.cancel_on(reasons)


def _outcomes(tx: Transaction, steps: _Steps) -> _Written:
    """What becomes of each item; plain puts are stored by then, since nothing can be wrong with them."""
    tables = {number: _current(tx, table) for number, table in steps.tables.items()}
    plain = [group for group in steps.plain if _takes_puts(tables[group.table.number])]
    places: Sequence[int] = range(len(steps.actions))
    if plain:
        together = {place for group in plain for place in group.places}
        places = [place for place in places if place not in together]
    written = _Written.nothing(len(steps.actions))
    tx.prefetch(
        [store.row_key(action.table, action.command.key) for action in map(steps.actions.__getitem__, places)]
    )
    for place in places:
        action = steps.actions[place]
        _apply(tx, steps, action, tables[action.table.number], place, written)
    for group in plain:
        result, befores = group.write(tx, tables[group.table.number], steps.origin, factor=FACTOR)
        written.replace(sum(befores))
        written.results[group.places[0]] = result
        for place, size in zip(group.places, map(max, group.puts.sizes, befores), strict=True):
            written.sizes[place] = size
    cancellation.cancel_on(written.reasons)
    return written


def _apply(
    tx: Transaction, steps: _Steps, action: Action, table: Table, place: int, written: _Written
) -> None:
    """What becomes of one item, or why that cancels the transaction."""
    command, tab = action.command, steps.tab
    before = store.read_item(tx, table, command.key)
    if before is not None:
        written.replace(before.size)
    refusal = None if tab is None else tab.write_refusal(table, command.key)
    if refusal is not None:
        written.reasons[place] = cancellation.throttled(refusal)
        return
    try:
        outcome = mutation.apply(table, command, before, steps.origin)
    except Rejected as rejected:
        written.reasons[place] = action.rejected(rejected.item)
    except Invalid as error:
        written.reasons[place] = cancellation.invalid(error)
    else:
        result = written.results[place] = ItemWritten(table, action.name, outcome, factor=FACTOR)
        written.sizes[place] = max(outcome.before_size, outcome.after_size)
        if tab is not None:
            tab.take(result.charges())


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


def _remember(tx: Transaction, token: Token, sizes: Sequence[int]) -> None:
    row = TokenRow(int(token.now) + IDEMPOTENCY_SECONDS, token.digest, tuple(sizes))
    tx.put(token.key, token_rows.pack(row))
    tx.put(token_rows.expiry_key(row.expires_epoch_seconds, token.key), b"")
