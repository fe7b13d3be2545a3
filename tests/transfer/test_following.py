"""Following a stream: writes go on while a table is copied, until cut-over; then both sides are equal."""

import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from answering_proxy import Body, answering_proxy
from hashrange.transfer.state import State
from item_tables import make_table, unique
from serving import Serving
from transfers import Transfer, contents, ended, full_table, item_of, started, until

STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
_WAIT_SECONDS = 60


@contextmanager
def writing(client: Any, table: str) -> Iterator[None]:
    """Put, change and delete items as long as the block runs, and a little longer."""
    stop = threading.Event()
    written = threading.Event()

    def write() -> None:
        random_numbers = random.Random(7)
        for version in range(1_000_000):
            number = random_numbers.randrange(600)
            item = item_of(number, version={"N": str(version)})
            if version % 4 == 0:
                client.delete_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]})
            else:
                client.put_item(TableName=table, Item=item)
            if version > 100:
                written.set()
                if stop.is_set():
                    return

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert written.wait(_WAIT_SECONDS)
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.slow
def test_changes_during_and_after_the_copy_arrive(
    client: Any, other: Any, server: Serving, other_server: Serving, folder: Path
) -> None:
    source, target = full_table(client, 400, **STREAM), unique("followed")
    words = ["import", "--from", f"{server.endpoint}/{source}", "--to", f"{other_server.endpoint}/{target}"]
    words += ["--follow", "--state", "here"]
    with writing(client, source):
        process = started(*words, "--rate", "400")

        def followed() -> bool:
            if process.poll() is not None:
                return True
            here = folder / "here"
            stream = msgspec.json.decode(here.read_bytes(), type=State).stream if here.exists() else None
            return stream is not None and stream.changes > 100

        until(followed)
    process.send_signal(signal.SIGTERM)
    first = ended(process)
    assert first.status in (0, 130), first.err  # whether it had caught up at that moment
    last = ended(started(*words, "--once", "--verify"))
    assert last.status == 0, last.err
    assert contents(other, target) == contents(client, source)
    assert "remove here when you are done" in last.err


@pytest.mark.slow
def test_a_follower_that_was_killed_goes_on(
    client: Any, other: Any, server: Serving, other_server: Serving, folder: Path
) -> None:
    source, target = full_table(client, 100, **STREAM), unique("followed")
    words = ["import", "--from", f"{server.endpoint}/{source}", "--to", f"{other_server.endpoint}/{target}"]
    words += ["--follow", "--state", "here"]
    process = started(*words)
    with writing(client, source):
        until(lambda: process.poll() is not None or (folder / "here").exists())
    process.send_signal(signal.SIGKILL)
    assert ended(process).status == -9
    with writing(client, source):
        pass
    last = ended(started(*words, "--once", "--verify"))
    assert last.status == 0, last.err
    assert contents(other, target) == contents(client, source)


@pytest.mark.slow
def test_a_signal_ends_a_follower_that_has_caught_up(
    client: Any, other: Any, server: Serving, other_server: Serving
) -> None:
    source, target = full_table(client, 20, **STREAM), unique("followed")
    passes: list[Body] = []

    def hook(operation: str, body: Body) -> None:
        if operation == "DescribeStream":
            passes.append(body)

    with answering_proxy(server.endpoint, hook) as proxy:
        words = ("export", "--from", f"{proxy}/{source}", "--to", f"{other_server.endpoint}/{target}")
        process = started(*words, "--follow", "--verify")
        until(lambda: process.poll() is not None or len(passes) > 0)
        client.put_item(TableName=source, Item=item_of(1000))
        until(lambda: process.poll() is not None or len(contents(other, target)) == 21)
        before = len(passes)
        until(lambda: process.poll() is not None or len(passes) > before + 5)
        process.send_signal(signal.SIGINT)
        last = ended(process)
    assert last.status == 0, last.err
    assert "both sides have 21 items" in last.out


@pytest.mark.parametrize("enable", [False, True])
def test_a_table_without_a_stream(
    transfer: Transfer, client: Any, server: Serving, other_server: Serving, enable: bool
) -> None:
    source = full_table(client, 20)
    words = ["import", "--from", f"{server.endpoint}/{source}", "--to", f"{other_server.endpoint}/{source}"]
    words += ["--follow", "--once", "--verify", *(["--enable-stream"] if enable else [])]
    ended = transfer(*words)
    if enable:
        assert ended.status == 0, ended.err
        described = client.describe_table(TableName=source)["Table"]
        assert described["StreamSpecification"]["StreamViewType"] == "NEW_IMAGE"
        client.put_item(TableName=source, Item=item_of(99))
        again = transfer(*words)
        assert again.status == 0, again.err
        assert "both sides have 21 items" in again.out
    else:
        assert ended.status == 1
        assert "has no stream to follow" in ended.err


def test_a_stream_of_keys_alone_is_not_enough(
    transfer: Transfer, client: Any, server: Serving, other_server: Serving
) -> None:
    keys = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}
    source = make_table(client, "pk", **keys)
    ended = transfer(
        "import",
        *("--from", f"{server.endpoint}/{source}", "--to", f"{other_server.endpoint}/{source}", "--follow"),
    )
    assert ended.status == 1
    assert "following needs NEW_IMAGE or NEW_AND_OLD_IMAGES" in ended.err


def test_a_stream_that_may_have_been_trimmed_is_not_followed(
    transfer: Transfer, client: Any, server: Serving, other_server: Serving, folder: Path
) -> None:
    source = full_table(client, 20, **STREAM)
    words = ["import", "--from", f"{server.endpoint}/{source}", "--to", f"{other_server.endpoint}/{source}"]
    words += ["--follow", "--once", "--state", "here"]
    assert transfer(*words).status == 0
    state = msgspec.json.decode((folder / "here").read_bytes(), type=State)
    assert state.stream is not None
    state.stream.seen_at -= 25 * 3600
    (folder / "here").write_bytes(msgspec.json.encode(state))
    ended = transfer(*words)
    assert ended.status == 1
    assert "the stream no longer has all changes since" in ended.err


def test_a_shard_that_vanished_before_its_end_was_read_is_missed(
    transfer: Transfer, client: Any, server: Serving, other_server: Serving
) -> None:
    source = full_table(client, 20, **STREAM)
    passes: list[Body] = []

    def hook(operation: str, body: Body) -> tuple[int, Body] | None:
        if operation == "DescribeStream":
            passes.append(body)
            if len(passes) > 1:
                return 200, {"StreamDescription": {"StreamArn": body["StreamArn"], "Shards": []}}
        return None

    with answering_proxy(server.endpoint, hook) as proxy:
        words = ("import", "--from", f"{proxy}/{source}", "--to", f"{other_server.endpoint}/{source}")
        ended = transfer(*words, "--follow", "--once")
    assert ended.status == 1
    assert "the stream no longer has all changes since" in ended.err
