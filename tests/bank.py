"""Tellers who move money between accounts, and know from any copy of the table whether it is one moment of theirs.

Every transfer is one transaction: two accounts and the teller's own counter. So the counters in a copy say which
transfers it has, and the accounts must be exactly what these make of the beginning.
"""

import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

from faults.line import Line, Refused

Port = Callable[[], int]

TABLE = "bank"
ACCOUNTS = 1500
START = 1000
_PADDING = "x" * 1500
_GONE = (OSError, http.client.HTTPException)
_SECONDS = 90
_BATCH = 25


class Transfer(NamedTuple):
    source: str
    target: str
    amount: int
    sent_at: float
    answered_at: float


def open_bank(line: Line, tellers: Sequence["Teller"]) -> float:
    """Make the table and switch recovery on; give the time from which on it can be restored."""
    line.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    )
    await_active(line, TABLE)
    items: list[dict[str, Any]] = [
        {"pk": {"S": _account(number)}, "n": {"N": str(START)}, "pad": {"S": _PADDING}}
        for number in range(ACCOUNTS)
    ]
    items += [{"pk": {"S": teller.name}, "n": {"N": "0"}} for teller in tellers]
    for at in range(0, len(items), _BATCH):
        puts = [{"PutRequest": {"Item": item}} for item in items[at : at + _BATCH]]
        line.call("BatchWriteItem", {"RequestItems": {TABLE: puts}})
    spec = {"PointInTimeRecoveryEnabled": True}
    line.call("UpdateContinuousBackups", {"TableName": TABLE, "PointInTimeRecoverySpecification": spec})
    return time.time()


def _account(number: int) -> str:
    return f"account-{number:05d}"


class Teller:
    """Makes one transfer after the other. One that was not answered is looked up before the next."""

    def __init__(self, name: str, seed: str) -> None:
        self.name = name
        self._random = Random(seed)
        self.transfers: list[Transfer] = []
        self._pending: Transfer | None = None

    def run(self, port: Port, stop: threading.Event) -> None:
        """Work until told to stop, on another connection whenever one is lost."""
        while not stop.is_set():
            try:
                with Line(port()) as line:
                    self.settle(line)
                    while not stop.is_set():
                        self._transfer(line)
            except _GONE:
                stop.wait(0.05)
            except Refused as error:
                if error.status < http.HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in _CONFLICTS:
                    raise
                stop.wait(0.05)

    def settle(self, line: Line) -> None:
        """Find out what became of a transfer without an answer."""
        if self._pending is None:
            return
        key = {"pk": {"S": self.name}}
        item = line.call("GetItem", {"TableName": TABLE, "Key": key, "ConsistentRead": True})["Item"]
        if int(item["n"]["N"]) > len(self.transfers):
            self.transfers.append(self._pending._replace(answered_at=time.time()))
        self._pending = None

    def _transfer(self, line: Line) -> None:
        source, target = self._random.sample(range(ACCOUNTS), 2)
        number = len(self.transfers)
        move = Transfer(
            _account(source), _account(target), self._random.randrange(1, 50), time.time(), float("inf")
        )
        counted = _update(self.name, 1)
        # A transfer without an answer may be carried out late: then this one is refused, and looked up as well.
        counted["Update"]["ConditionExpression"] = "n = :before"
        counted["Update"]["ExpressionAttributeValues"][":before"] = {"N": str(number)}
        actions = [_update(move.source, -move.amount), _update(move.target, move.amount), counted]
        self._pending = move
        line.call("TransactWriteItems", {"TransactItems": actions})
        self.transfers.append(move._replace(answered_at=time.time()))
        self._pending = None


_CONFLICTS = ("TransactionCanceledException", "TransactionConflictException", "ThrottlingException")


def _update(pk: str, amount: int) -> dict[str, dict[str, Any]]:
    return {
        "Update": {
            "TableName": TABLE,
            "Key": {"pk": {"S": pk}},
            "UpdateExpression": "ADD n :amount",
            "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
        }
    }


@contextmanager
def trading(tellers: Sequence[Teller], port: Port) -> Iterator[None]:
    """Have all tellers work; on the way out they stop, and what went wrong with one is raised."""
    stop = threading.Event()
    failures: list[BaseException] = []

    def work(teller: Teller) -> None:
        try:
            teller.run(port, stop)
        except BaseException as error:  # noqa: BLE001 - raised below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(teller,)) for teller in tellers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(_SECONDS)
    if failures:
        raise failures[0]


def await_transfers(tellers: Sequence[Teller], count: int) -> None:
    """Wait until there are so many in all; however slow the machine, there is load then."""
    deadline = time.monotonic() + _SECONDS
    while sum(len(teller.transfers) for teller in tellers) < count:
        assert time.monotonic() < deadline, "hardly any load"
        time.sleep(0.02)


def check_moment(
    items: Sequence[Mapping[str, Any]],
    tellers: Sequence[Teller],
    *,
    answered_before: float,
    sent_before: float,
) -> None:
    """A copy is one moment: it has what was answered before one time, and nothing that was sent after another."""
    found = {item["pk"]["S"]: int(item["n"]["N"]) for item in items}
    assert len(found) == len(items) == ACCOUNTS + len(tellers)
    expected = {_account(number): START for number in range(ACCOUNTS)}
    for teller in tellers:
        count = expected[teller.name] = found[teller.name]
        assert count <= len(teller.transfers), "more than there were"
        for transfer in teller.transfers[:count]:
            assert transfer.sent_at < sent_before, "it is of later"
            expected[transfer.source] -= transfer.amount
            expected[transfer.target] += transfer.amount
        for transfer in teller.transfers[count:]:
            assert transfer.answered_at >= answered_before, "it was answered before, and is missing"
    assert found == expected


class Copy(NamedTuple):
    """A backup, or a restored table, with what must be in it."""

    name: str  # an ARN, or a table's name
    answered_before: float
    sent_before: float


def back_up(line: Line) -> Copy:
    """Ask for a backup."""
    before = time.time()
    made = line.call("CreateBackup", {"TableName": TABLE, "BackupName": "copy"})["BackupDetails"]
    return Copy(str(made["BackupArn"]), before, time.time())


def restore_to(line: Line, second: int, target: str) -> Copy:
    """Ask for the table as it was at the end of a second."""
    request = {"SourceTableName": TABLE, "TargetTableName": target, "RestoreDateTime": second}
    line.call("RestoreTableToPointInTime", request)
    return Copy(target, second + 1, second + 1)


def restore_backup(line: Line, copy: Copy, target: str) -> Copy:
    """Wait until a backup is there, then restore it."""
    deadline = time.monotonic() + _SECONDS
    while True:
        body = line.call("DescribeBackup", {"BackupArn": copy.name})["BackupDescription"]
        if body["BackupDetails"]["BackupStatus"] == "AVAILABLE":
            break
        assert body["BackupDetails"]["BackupStatus"] == "CREATING"
        assert time.monotonic() < deadline, "the backup is not finished"
        time.sleep(0.05)
    line.call("RestoreTableFromBackup", {"BackupArn": copy.name, "TargetTableName": target})
    return copy._replace(name=target)


def await_active(line: Line, name: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while line.call("DescribeTable", {"TableName": name})["Table"]["TableStatus"] != "ACTIVE":
        assert time.monotonic() < deadline, f"{name} is not there"
        time.sleep(0.02)


def check_copies(line: Line, copies: Sequence[Copy], tellers: Sequence[Teller]) -> None:
    """Look at all restored tables."""
    for teller in tellers:
        teller.settle(line)
    for copy in copies:
        await_active(line, copy.name)
        items = line.everything({"TableName": copy.name})
        check_moment(items, tellers, answered_before=copy.answered_before, sent_before=copy.sent_before)
