"""Running a write transaction: every outcome first, then every write; idempotent by its token."""

from collections.abc import Callable
from typing import Any

import msgspec

from hashrange.api import answers, errors, transactions
from hashrange.api.context import Context
from hashrange.api.digests import digest
from hashrange.api.errors import ApiError
from hashrange.api.plan import Write
from hashrange.api.transactions import Reason
from hashrange.core import capacity, items
from hashrange.core.capacity import Consumed
from hashrange.core.errors import Invalid
from hashrange.core.limits import IDEMPOTENCY_SECONDS
from hashrange.core.mutation import Command, Outcome
from hashrange.core.schema import Table
from hashrange.core.values import Item
from hashrange.storage import catalogue, layout, store
from hashrange.storage.engine import Transaction

Request = dict[str, Any]
Done = tuple["Action", Table, Outcome]
Answered = Callable[[bytes], bytes]

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

    def rejected(self, stored: Item | None) -> Reason:
        """Why the condition failed."""
        if self.inserts:
            return transactions.duplicate()
        return transactions.condition_failed(stored if self.wants_item else None)


class Token(msgspec.Struct, frozen=True):
    """The request's idempotency token: where its outcome is kept, and what it stood for."""

    key: bytes
    digest: bytes
    now: float


def token(context: Context, request: Request) -> Token | None:
    """The token of a request, taken before anything in the request is brought into canonical form."""
    text = request.get("ClientRequestToken")
    if text is None:
        return None
    asked = request.get("TransactItems", request.get("TransactStatements"))
    key = layout.token_key(context.account_id, context.region, text)
    return Token(key, digest(asked), context.clock.now())


def run(tx: Transaction, request: Request, actions: list[Action], given: Token | None) -> bytes:
    """All or nothing; a token that is known answers again without writing again."""
    sizes = None if given is None else _replayed(tx, given)
    if sizes is not None:
        return _replay(request, actions, sizes)
    done = _outcomes(tx, actions)
    for action, table, outcome in done:
        try:
            store.write(tx, table, action.command, outcome)
        except store.CollectionFull:
            full = Reason("ItemCollectionSizeLimitExceeded", "Collection size exceeded.")
            transactions.cancel_on([full if action is each else None for each in actions])
    if given is not None:
        _remember(tx, given, [max(outcome.before_size, outcome.after_size) for _, _, outcome in done])
    return _answer(tx, request, done)


def _reads(actions: list[Action], given: Token | None) -> list[bytes]:
    reads = [key for each in actions for key in store.reads(each.table, each.command.key)]
    return reads if given is None else [*reads, given.key]


def plan(request: Request, actions: list[Action], given: Token | None, answer: Answered) -> Write:
    """The plan that runs the actions; `answer` has the last word on the body."""
    return Write(
        lambda tx: answer(run(tx, request, actions, given)),
        reads=lambda: _reads(actions, given),
        conflict=lambda: transactions.conflict(len(actions)),
    )


def _outcomes(tx: Transaction, actions: list[Action]) -> list[Done]:
    done: list[Done] = []
    reasons: list[Reason | None] = []
    for action in actions:
        table = catalogue.current(tx, action.table)
        if table is None:
            raise errors.not_found()
        stored = store.stored_item(tx, table, action.command.key)
        before = None if stored is None else items.decode(stored)
        size = 0 if stored is None else items.stored_size(stored)
        try:
            outcome = store.compute(table, action.command, before, size)
        except store.Rejected:
            reasons.append(action.rejected(before))
            continue
        except Invalid as error:
            reasons.append(transactions.invalid(error))
            continue
        reasons.append(None)
        done.append((action, table, outcome))
    transactions.cancel_on(reasons)
    return done


# What is kept of a token: when it expires (8 bytes), what it stood for (32), and the size of each item (4 each).


def _replayed(tx: Transaction, given: Token) -> list[int] | None:
    """The sizes that a request with this token was charged for, if there was one."""
    stored = tx.get(given.key)
    if stored is None or int.from_bytes(stored[:8], "big") <= given.now:
        return None
    if stored[8:40] != given.digest:
        raise ApiError("IdempotentParameterMismatchException", _MISMATCH)
    return [int.from_bytes(stored[at : at + 4], "big") for at in range(40, len(stored), 4)]


def _remember(tx: Transaction, given: Token, sizes: list[int]) -> None:
    expires = (int(given.now) + IDEMPOTENCY_SECONDS).to_bytes(8, "big")
    tx.put(given.key, expires + given.digest + b"".join(size.to_bytes(4, "big") for size in sizes))
    tx.put(layout.TOKEN_EXPIRY + expires + given.key, b"")


def _replay(request: Request, actions: list[Action], sizes: list[int]) -> bytes:
    """The answer to a repeated request: the service reports it as reads of what it was first charged for."""
    mode = request.get("ReturnConsumedCapacity", "NONE")
    if mode == "NONE":
        return answers.EMPTY
    consumed: dict[str, Consumed] = {}
    for action, size in zip(actions, sizes, strict=True):
        report = consumed.setdefault(action.name, Consumed(action.table, action.name, kind="Read"))
        report.add(2 * capacity.read_units(size, consistent=True))
    return answers.body({"ConsumedCapacity": [each.report(mode) for each in consumed.values()]})


def _answer(tx: Transaction, request: Request, done: list[Done]) -> bytes:
    members: dict[str, Any] = {}
    mode = request.get("ReturnConsumedCapacity", "NONE")
    if mode != "NONE":
        members["ConsumedCapacity"] = [each.report(mode) for each in _consumed(done)]
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = _metrics(tx, done)
        if metrics:
            members["ItemCollectionMetrics"] = metrics
    return answers.body(members)


def _consumed(done: list[Done]) -> list[Consumed]:
    """Units by table: the table's own count double in a transaction, those of its indexes once."""
    consumed: dict[str, Consumed] = {}
    for action, table, outcome in done:
        report = consumed.setdefault(action.name, Consumed(table, action.name, kind="Write"))
        report.add(2 * outcome.units)
        for change in outcome.index_changes:
            report.add_index(change.index, change.units)
    return list(consumed.values())


def _metrics(tx: Transaction, done: list[Done]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, dict[bytes, dict[str, Any]]] = {}
    for action, table, _ in done:
        if table.local_indexes:
            collection = store.collection_key(table, action.command.key)
            entry = answers.collection_metrics(tx, table, action.key_item, action.command.key)
            found.setdefault(action.name, {})[collection] = entry
    return {name: list(entries.values()) for name, entries in found.items()}
