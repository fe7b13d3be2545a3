"""Eventually consistent reads: replicas answer them, and never with more than the agreed staleness."""

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from cluster import Cluster, cluster

from postgres_server import free_port
from serving import Serving, serving

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
    put(server, 1)
    time.sleep(1)  # until the replicas are known to be good
    for node in nodes.replicas:
        node.server.execute("SELECT pg_wal_replay_pause()")
    try:
        time.sleep(0.1)
        put(server, 2)
        written = time.monotonic()
        assert get(server, ConsistentRead=True) == 2
        old_gets = old_scans = 0
        while time.monotonic() - written < 3 * STALENESS_MS / 1000:
            asked = time.monotonic()
            seen = get(server), scan(server)
            old_gets += seen[0] == 1
            old_scans += seen[1] == 1
            assert seen == (2, 2) or asked - written < STALENESS_MS / 1000
        assert old_gets, "no replica was asked for an item"
        assert old_scans, "no replica was asked for a range"
    finally:
        for node in nodes.replicas:
            node.server.execute("SELECT pg_wal_replay_resume()")


def test_the_log_names_a_replica_that_is_not_asked(nodes: Cluster) -> None:
    good = nodes.replicas[0].server.url()
    absent = f"postgresql://postgres@127.0.0.1:{free_port()}/postgres"
    # It answers, but what it has is not what the leader has.
    foreign = nodes.leader.server.url("template1")
    flags = ("--replica", f"{good},{absent},{foreign}", "--replica-staleness-ms", "300")
    with serving("--engine", nodes.leader.server.url(), *flags) as running:
        time.sleep(2)
        said = [line for line in running.log_text().splitlines() if "replica" in line]
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
        began = time.monotonic()
        for _ in range(20):
            assert get(server) == 3
        assert time.monotonic() - began < 15
        put(server, 4)
        assert get(server, ConsistentRead=True) == 4
    finally:
        for node in nodes.replicas:
            node.signal(signal.SIGCONT)
        nodes.leader.server.execute("ALTER SYSTEM RESET synchronous_standby_names")
        nodes.leader.server.execute("SELECT pg_reload_conf()")
