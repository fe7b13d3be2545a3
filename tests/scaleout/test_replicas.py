"""Eventually consistent reads: replicas answer them, and never with more than the agreed staleness."""

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from postgres_server import free_port
from scaleout.cluster import Cluster, cluster
from serving import Serving, serving
from wiring import eventually

STALENESS_MS = 400
KEY = {"pk": {"S": "x"}}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    with cluster() as running:
        yield running


@pytest.fixture(scope="module")
def server(nodes: Cluster) -> Iterator[Serving]:
    urls = ",".join(node.server.url() for node in nodes.replicas)
    flags = ("--replica", urls, "--replica-staleness-ms", str(STALENESS_MS), "--transition-ms", "0")
    with serving("--engine", nodes.leader.server.url(), *flags) as running:
        created = running.post(
            "CreateTable",
            {
                "TableName": "table",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        assert created.status == 200
        yield running


def put(server: Serving, value: int) -> None:
    item = {**KEY, "value": {"N": str(value)}}
    assert server.post("PutItem", {"TableName": "table", "Item": item}).status == 200


def get(server: Serving, **more: Any) -> int:
    answer = server.post("GetItem", {"TableName": "table", "Key": KEY, **more})
    assert answer.status == 200, answer
    return int(answer.body["Item"]["value"]["N"])


def scan(server: Serving) -> int:
    answer = server.post("Scan", {"TableName": "table"})
    assert answer.status == 200, answer
    return int(answer.body["Items"][0]["value"]["N"])


def test_replicas_answer_until_they_have_stood_still_for_too_long(server: Serving, nodes: Cluster) -> None:
    """A replica is not asked before it has proved good, so it may take some attempts to see one answer."""
    old_gets = old_scans = 0
    for attempt in range(20):
        gets, scans = old_answers(server, nodes, 2 * attempt)
        old_gets += gets
        old_scans += scans
        if old_gets and old_scans:
            return
    assert old_gets, "no replica was asked for an item"
    assert old_scans, "no replica was asked for a range"


def old_answers(server: Serving, nodes: Cluster, value: int) -> tuple[int, int]:
    """Halt the replicas at `value`, write another one, and count the reads that still give `value`."""
    put(server, value)
    wait_for_replay(nodes)
    for node in nodes.replicas:
        node.server.execute("SELECT pg_wal_replay_pause()")
    try:
        put(server, value + 1)
        written = time.monotonic()
        assert get(server, ConsistentRead=True) == value + 1
        gets = scans = 0
        while time.monotonic() - written < 3 * STALENESS_MS / 1000:
            sent = time.monotonic()
            answers = get(server), scan(server)
            gets += answers[0] == value
            scans += answers[1] == value
            assert answers == (value + 1, value + 1) or sent - written < STALENESS_MS / 1000
        return gets, scans
    finally:
        for node in nodes.replicas:
            node.server.execute("SELECT pg_wal_replay_resume()")


def wait_for_replay(nodes: Cluster) -> None:
    """Wait until the replicas show everything that is committed now."""
    ((position,),) = nodes.leader.server.execute("SELECT pg_current_wal_lsn()::text")
    shown = f"SELECT pg_last_wal_replay_lsn() >= '{position}'"
    for node in nodes.replicas:
        assert eventually(lambda node=node: node.server.execute(shown) == [(True,)], 60)


def test_the_log_names_a_replica_that_is_not_asked(nodes: Cluster) -> None:
    good = nodes.replicas[0].server.url()
    absent = f"postgresql://postgres@127.0.0.1:{free_port()}/postgres"
    # It answers, but what it has is not what the leader has.
    foreign = nodes.leader.server.url("template1")
    flags = ("--replica", f"{good},{absent},{foreign}", "--replica-staleness-ms", "300")
    with serving("--engine", nodes.leader.server.url(), *flags) as running:

        def said_of_replicas() -> list[str]:
            return [line for line in running.log_text().splitlines() if "replica" in line]

        assert eventually(lambda: len(said_of_replicas()) >= 2, 60)
        said = said_of_replicas()
    assert len(said) == 2, said
    assert all("replica.unused" in line for line in said)
    assert not any(str(nodes.replicas[0].server.port) in line for line in said)


def test_replicas_that_do_not_answer_are_replaced_by_the_leader(server: Serving, nodes: Cluster) -> None:
    put(server, 3)
    for node in nodes.replicas:
        node.signal(signal.SIGSTOP)
    try:
        nodes.leader.server.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
        nodes.leader.server.execute("SELECT pg_reload_conf()")
        for _ in range(20):
            assert get(server) == 3
        put(server, 4)
        assert get(server, ConsistentRead=True) == 4
    finally:
        for node in nodes.replicas:
            node.signal(signal.SIGCONT)
        nodes.leader.server.execute("ALTER SYSTEM RESET synchronous_standby_names")
        nodes.leader.server.execute("SELECT pg_reload_conf()")


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_with_both_replicas_away_writes_end_in_time_and_reads_go_on(server: Serving, nodes: Cluster) -> None:
    put(server, 5)
    leader = nodes.leader.server
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hashrange' AND wait_event = 'SyncRep'"
    for node in nodes.replicas:
        node.server.kill()
    try:
        # At least one replica must have been noticed to be gone, or the first write still gets through.
        assert eventually(lambda: leader.execute("SELECT 1 FROM pg_stat_replication") == [])
        item = {**KEY, "value": {"N": "6"}}
        for _ in range(20):
            refused = server.post("PutItem", {"TableName": "table", "Item": item}, timeout=60)
            assert (refused.status, refused.error) == (500, "InternalServerError")
            assert get(server, ConsistentRead=True) == get(server) == 5
        assert leader.execute(sessions)[0][0] <= 4
    finally:
        for node in nodes.replicas:
            nodes.restart(node)
    nodes.wait_for_replicas(2)
    assert eventually(lambda: server.post("PutItem", {"TableName": "table", "Item": item}).status == 200, 60)
    assert get(server, ConsistentRead=True) == 6
