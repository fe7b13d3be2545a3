"""Heartbeats: each server has a row of its own, and leaves none behind."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from hashrange.storage.postgres.address import parse_address
from hashrange.storage.postgres.commit_guard import CommitGuard
from hashrange.storage.postgres.pool import Pool
from hashrange.storage.postgres.replicas import Heart
from hashrange.storage.postgres.schema import prepare
from hashrange.storage.postgres.watch import Watch
from postgres_server import PostgresServer
from wiring import eventually

HEARTS = 60  # with 1,024 places to choose from, two of so many would all but surely choose the same


@pytest.fixture
def leader(postgres: PostgresServer, schema: str) -> Iterator[Pool]:
    address = parse_address(postgres.url(), schema=schema, seconds_max=10, leader=True)
    prepare(address)
    with closing(Pool(address, Watch(address), patience_seconds=5)) as pool:
        yield pool


@pytest.fixture
def guard(leader: Pool) -> Iterator[CommitGuard]:
    with closing(CommitGuard(leader._address)) as watching:
        yield watching


def rows(postgres: PostgresServer, schema: str) -> int:
    return int(postgres.execute(f"SELECT count(*) FROM {schema}.heartbeats")[0][0])


def age_seconds(leader: Pool, heart: Heart) -> float:
    connection, (answer,) = leader.begin([heart.question])
    leader.release(connection)
    return heart.age_seconds(answer)


def test_no_two_servers_write_the_same_row(
    leader: Pool, guard: CommitGuard, postgres: PostgresServer, schema: str
) -> None:
    with ExitStack() as stack:
        hearts = []
        for _ in range(HEARTS):
            hearts.append(Heart(leader, guard, interval_seconds=3600, now=time.monotonic))
            stack.callback(hearts[-1].stop)
        assert eventually(lambda: rows(postgres, schema) == HEARTS)
        assert all(age_seconds(leader, heart) < float("inf") for heart in hearts)
    assert rows(postgres, schema) == 0


def test_the_rows_of_servers_that_were_killed_go(
    leader: Pool, guard: CommitGuard, postgres: PostgresServer, schema: str
) -> None:
    insert = f"INSERT INTO {schema}.heartbeats VALUES ('dead', 7, now() - interval '2 hours')"
    postgres.execute(insert)
    postgres.execute(insert.replace("dead", "late").replace("2 hours", "2 minutes"))
    heart = Heart(leader, guard, interval_seconds=3600, now=time.monotonic)
    assert eventually(lambda: age_seconds(leader, heart) < float("inf"))
    heart.stop()
    assert postgres.execute(f"SELECT convert_from(server, 'UTF8') FROM {schema}.heartbeats") == [("late",)]
