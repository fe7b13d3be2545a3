"""Money between accounts: one transaction moves it, writes both entries, and remembers that it was done."""

from collections.abc import Iterator
from typing import Any

from hashrange import patterns

TABLE = patterns.Table("transfers", partition_key="PK", sort_key="SK")
Item = dict[str, Any]


class NotEnough(Exception):
    """The source account has less than the amount."""


class NoAccount(Exception):
    """One of the accounts is not there."""


class Bank:
    """Accounts and transfers; amounts are in cents."""

    def __init__(self, client: Any) -> None:
        self._runner = patterns.Runner(client)

    def open(self, account_id: str, owner: str, balance: int) -> None:
        account = {**_account(account_id), "account_id": account_id, "owner": owner, "balance": balance}
        self._runner.run(TABLE.write(TABLE.putting(account, "attribute_not_exists(#PK)")))

    def transfer(self, transfer_id: str, source: str, target: str, amount: int, made_at: str) -> bool:
        """Move money; give False if this transfer was made before, and then move nothing.

        The request token would be enough for ten minutes. The record of the transfer is for whoever asks again
        tomorrow.
        """
        if amount < 1 or source == target:
            raise ValueError("a transfer moves at least one cent, and to another account")
        record = {"source": source, "target": target, "amount": amount}
        writes = [
            TABLE.putting(
                {**_transfer(transfer_id), **record, "transfer_id": transfer_id, "made_at": made_at},
                "attribute_not_exists(#PK)",
            ),
            TABLE.updating(_account(source), "SET #balance = #balance - :n", "#balance >= :n", n=amount),
            TABLE.updating(
                _account(target), "SET #balance = #balance + :n", "attribute_exists(#PK)", n=amount
            ),
            TABLE.putting(_entry(source, transfer_id, made_at, -amount)),
            TABLE.putting(_entry(target, transfer_id, made_at, amount)),
        ]
        try:
            self._runner.run(TABLE.transact(writes))
        except patterns.TransactionCanceled as canceled:
            return self._explain(canceled, transfer_id, record)
        return True

    def _explain(self, canceled: patterns.TransactionCanceled, transfer_id: str, record: Item) -> bool:
        """Say why nothing was moved; the first reason counts."""
        done = self._runner.run(TABLE.get(_transfer(transfer_id)))
        if done is not None:
            if any(done[name] != value for name, value in record.items()):
                raise ValueError(f"{transfer_id} was another transfer") from canceled
            return False
        if self.balance(record["source"]) is None or self.balance(record["target"]) is None:
            raise NoAccount from canceled
        raise NotEnough from canceled

    def balance(self, account_id: str) -> int | None:
        account = self._runner.run(TABLE.get(_account(account_id)))
        return None if account is None else int(account["balance"])

    def statement(self, account_id: str, since: str = "") -> list[tuple[str, int]]:
        """The latest entries of an account: time and amount."""
        span = patterns.Span(f"ENTRY#{since}", "ENTRY#~", forward=False)
        page = self._runner.run(TABLE.query(f"ACCOUNT#{account_id}", span, limit=50))
        return [(entry["made_at"], int(entry["amount"])) for entry in page.items]


def _account(account_id: str) -> Item:
    return TABLE.key(f"ACCOUNT#{account_id}", "BALANCE")


def _transfer(transfer_id: str) -> Item:
    return TABLE.key(f"TRANSFER#{transfer_id}", "TRANSFER")


def _entry(account_id: str, transfer_id: str, made_at: str, amount: int) -> Item:
    keys = TABLE.key(f"ACCOUNT#{account_id}", f"ENTRY#{made_at}#{transfer_id}")
    keys |= {"GSI1PK": f"TRANSFER#{transfer_id}", "GSI1SK": account_id}
    return {
        **keys,
        "account_id": account_id,
        "transfer_id": transfer_id,
        "made_at": made_at,
        "amount": amount,
    }


def demonstrate(client: Any) -> Iterator[str]:
    """Two accounts, and what goes between them."""
    bank = Bank(client)
    bank.open("ann", "Ann", 10_000)
    bank.open("bob", "Bob", 0)
    moment = "2026-05-01T12:00:00Z"
    for attempt in ("sent", "sent again"):
        moved = bank.transfer("t-1", "ann", "bob", 7_500, moment)
        yield f"t-1 {attempt}: {'moved' if moved else 'done before'}"
    try:
        bank.transfer("t-2", "ann", "bob", 7_500, moment)
    except NotEnough:
        yield "t-2: not enough"
    yield f"Ann has {bank.balance('ann')} cents, Bob {bank.balance('bob')}"
    yield f"Bob's statement: {bank.statement('bob')}"
