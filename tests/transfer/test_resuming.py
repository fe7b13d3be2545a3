"""Killed or interrupted in the middle, and run again: the result is the same, and what was done is not done again."""

import json
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from answering_proxy import Body, answering_proxy
from hashrange.transfer.state import open_state
from item_tables import make_table, unique
from serving import Serving, serving
from transfers import Transfer, contents, ended, full_table, started, until

COUNT = 1500
SLOWLY = 750  # items that are copied at 200 a second


class Requests:
    """Sends a signal to the process whose requests it sees, when it has seen enough of them."""

    def __init__(self, operation: str, number: int, sent: int) -> None:
        self.seen: list[Body] = []
        self.process: subprocess.Popen[str] | None = None
        self._operation = operation
        self._number = number
        self._sent = sent
        self._lock = threading.Lock()
        self._known = threading.Event()

    def started(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._known.set()

    def hook(self, operation: str, body: Body) -> None:
        if operation != self._operation:
            return
        with self._lock:
            self.seen.append(body)
            if len(self.seen) == self._number and self._known.wait(60) and self.process is not None:
                self.process.send_signal(self._sent)


def keep_state_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the state after every page: a process that is killed has otherwise saved it a second ago."""
    monkeypatch.setattr("hashrange.transfer.state._SAVE_SECONDS", 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 130)]
)
def test_a_copy_that_was_stopped_goes_on(
    client: Any, other: Any, server: Serving, other_server: Serving, sent: int, status: int, folder: Path
) -> None:
    source = full_table(client, SLOWLY)
    target = make_table(other, "pk", "sk", types={"sk": "N"})
    requests = Requests("BatchWriteItem", 20, sent)
    with answering_proxy(other_server.endpoint, requests.hook) as proxy:
        words = ["import", "--from", f"{server.endpoint}/{source}", "--to", f"{proxy}/{target}"]
        # Small pages, so that there is something between two of them.
        words += ["--rate", "200", "--parallel", "2"]
        process = started(*words)
        requests.started(process)
        first = ended(process)
        assert first.status == status, first.err
        if sent != signal.SIGKILL:
            assert "run the same command again" in first.err
        assert "Traceback" not in first.err
        again = ended(started(*words, "--verify"))
    assert again.status == 0, again.err
    assert contents(other, target) == contents(client, source)
    assert list(folder.glob("hashrange-transfer-*")) == []


@pytest.mark.slow
def test_an_import_that_was_killed_goes_on(other: Any, other_server: Serving, folder: Path) -> None:
    # Every key comes twice, the second time with the value that counts.
    lines = [json.dumps({"pk": f"k{number % COUNT}", "v": number}) for number in range(2 * COUNT)]
    (folder / "in.jsonl").write_text("\n".join(lines), "utf-8")
    target = make_table(other, "pk")
    requests = Requests("BatchWriteItem", 70, signal.SIGKILL)
    with answering_proxy(other_server.endpoint, requests.hook) as proxy:
        words = ("import", "--from", "in.jsonl", "--json-plain", "--to", f"{proxy}/{target}")
        process = started(*words)
        requests.started(process)
        assert ended(process).status == -9
        again = ended(started(*words, "--verify"))
    assert again.status == 0, again.err
    assert {item["pk"]["S"]: item["v"]["N"] for item in contents(other, target)} == {
        f"k{number}": str(number + COUNT) for number in range(COUNT)
    }


def test_what_was_done_is_not_done_again(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_state_now(monkeypatch)
    lines = [json.dumps({"pk": f"k{number}"}) for number in range(3000)]
    (folder / "in.jsonl").write_text("\n".join(lines), "utf-8")
    target = make_table(other, "pk")
    refuses = True
    written: list[int] = []

    def hook(operation: str, body: Body) -> tuple[int, Body] | None:
        if operation != "BatchWriteItem":
            return None
        written.append(len(body["RequestItems"][target]))
        if refuses and sum(written) > 2000:
            return 400, {"__type": "AccessDeniedException", "message": "no longer"}
        return None

    with answering_proxy(other_server.endpoint, hook) as proxy:
        words = ("import", "--from", "in.jsonl", "--json-plain", "--to", f"{proxy}/{target}")
        failed = transfer(*words)
        assert failed.status == 1
        assert failed.err.endswith("hashrange: AccessDeniedException: no longer\n")
        refuses = False
        written.clear()
        assert transfer(*words, "--verify").status == 0
    assert sum(written) == 1000


@pytest.mark.slow
def test_a_server_may_die_and_come_back(client: Any, server: Serving, tmp_path: Path) -> None:
    source = full_table(client, SLOWLY)
    data = ("--data-dir", str(tmp_path / "data"), "--log-level", "warning")
    with serving(*data) as first:
        words = ["--from", f"{server.endpoint}/{source}", "--to", f"{first.endpoint}/copy"]
        process = started("import", *words, "--rate", "200", "--verify")
        there = first.post
        until(
            lambda: (
                process.poll() is not None or there("Scan", {"TableName": "copy"}).body.get("Count", 0) > 50
            )
        )
        first.stop(signal.SIGKILL)
    with serving(*data, "--port", str(first.port)):
        last = ended(process)
    assert last.status == 0, last.err
    assert f"both sides have {SLOWLY:,} items" in last.out


@pytest.mark.slow
def test_an_export_that_was_killed_goes_on(
    client: Any,
    other: Any,
    server: Serving,
    other_server: Serving,
    transfer: Transfer,
    folder: Path,
) -> None:
    source = full_table(client, COUNT)
    requests = Requests("Scan", 5, signal.SIGKILL)
    with answering_proxy(server.endpoint, requests.hook) as proxy:
        words = ("export", "--from", f"{proxy}/{source}", "--to", "out", "--rate", "200", "--parallel", "2")
        process = started(*words)
        requests.started(process)
        assert ended(process).status == -9
        again = ended(started(*words, "--verify"))
    assert again.status == 0, again.err
    exports = list((folder / "out" / "AWSDynamoDB").iterdir())
    assert len(exports) == 1
    assert len(list((exports[0] / "data").iterdir())) == 2
    target = unique("back")
    assert transfer("import", "--from", "out", "--to", f"{other_server.endpoint}/{target}").status == 0
    assert contents(other, target) == contents(client, source)


def test_files_of_an_export_are_written_once(
    client: Any, server: Serving, transfer: Transfer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hashrange.transfer.export_writing._FILE_BYTES", 20_000)
    source = full_table(client, 600)
    numbers: list[int] = []
    refuses = True

    def hook(operation: str, body: Body) -> tuple[int, Body] | None:
        if operation == "Scan":
            numbers.append(1)
            if refuses and len(numbers) > 4:
                return 400, {"__type": "AccessDeniedException", "message": "no longer"}
        return None

    with answering_proxy(server.endpoint, hook) as proxy:
        words = ("export", "--from", f"{proxy}/{source}", "--to", "out", "--rate", "150", "--parallel", "1")
        assert transfer(*words).status == 1
        files = {path.name: path.stat().st_mtime_ns for path in folder.glob("out/AWSDynamoDB/*/data/*")}
        assert files
        refuses = False
        assert transfer(*words, "--verify").status == 0
    later = {path.name: path.stat().st_mtime_ns for path in folder.glob("out/AWSDynamoDB/*/data/*")}
    assert later.items() > files.items()


def test_a_source_that_has_changed_is_not_gone_on_with(
    transfer: Transfer, other: Any, other_server: Serving, folder: Path
) -> None:
    target = make_table(other, "pk")
    (folder / "in.jsonl").write_text('{"pk":"a"}\n{', "utf-8")
    words = ("import", "--from", "in.jsonl", "--json-plain", "--to", f"{other_server.endpoint}/{target}")
    assert transfer(*words, "--state", "here").status == 1
    (folder / "in.jsonl").write_text('{"pk":"a"}\n{"pk":"b"}\n', "utf-8")
    ended = transfer(*words, "--state", "here")
    assert ended.status == 1
    assert "is not what it was when the import began" in ended.err
    (folder / "here").unlink()
    assert transfer(*words, "--state", "here").status == 0


def test_a_state_file_belongs_to_one_transfer(
    transfer: Transfer, other_server: Serving, folder: Path
) -> None:
    place = (
        "--from",
        "in.jsonl",
        "--json-plain",
        "--to",
        f"{other_server.endpoint}/table",
        "--state",
        "here",
    )
    for content, message in (
        (b"{", "here is no state file"),
        (b'{"source":"a","target":"b"}', "here is of another transfer, from a to b"),
    ):
        (folder / "here").write_bytes(content)
        ended = transfer("import", *place)
        assert ended.status == 1
        assert message in ended.err


def test_a_transfer_runs_once_at_a_time(transfer: Transfer, other_server: Serving, folder: Path) -> None:
    place = (
        "--from",
        "in.jsonl",
        "--json-plain",
        "--to",
        f"{other_server.endpoint}/table",
        "--state",
        "here",
    )
    with open_state(folder / "here", "a", "b"):
        ended = transfer("import", *place)
    assert ended.status == 1
    assert "another transfer is running with the state file here" in ended.err
