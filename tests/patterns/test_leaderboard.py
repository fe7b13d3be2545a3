"""The leaderboard: in order, and everybody on it once."""

from typing import Any

import pytest

from faulty_client import InterruptedRunner, StillRunner, survives
from hashrange.patterns import Leaderboard, Table
from hashrange.patterns.leaderboard import _sortable
from item_tables import unique


def standing(runner: StillRunner, board: Leaderboard, name: str) -> list[tuple[str, int]]:
    page = runner.run(board.top(name, limit=100))
    return [(entry["player"], entry["score"]) for entry in page.items]


def test_the_best_come_first_over_shards_and_pages(table: Table, runner: StillRunner) -> None:
    board, name = Leaderboard(table, shards=3), unique()
    scores = {"ann": 70, "bob": -5, "cat": 10**15, "dan": 0, "eve": 71, "fay": 70}
    for player, score in scores.items():
        runner.run(board.submit(name, player, score))
    ranked = [("cat", 10**15), ("eve", 71), ("fay", 70), ("ann", 70), ("dan", 0), ("bob", -5)]
    first = runner.run(board.top(name, limit=4))
    second = runner.run(board.top(name, limit=4, cursor=first.cursor))
    assert [(entry["player"], entry["score"]) for entry in first.items + second.items] == ranked
    ranks = {player: runner.run(board.rank(name, player)) for player in (*scores, "nobody")}
    assert ranks == {"cat": 1, "eve": 2, "fay": 3, "ann": 3, "dan": 5, "bob": 6, "nobody": None}


def test_a_better_score_replaces_a_worse_one(table: Table, runner: StillRunner) -> None:
    board, name = Leaderboard(table), unique()
    assert [runner.run(board.submit(name, "ann", score)) for score in (5, 3, 8)] == [5, 5, 8]
    assert standing(runner, board, name) == [("ann", 8)]
    runner.run(board.set(name, "ann", 2))
    assert standing(runner, board, name) == [("ann", 2)]
    runner.run(board.remove(name, "ann"))
    runner.run(board.remove(name, "ann"))
    assert standing(runner, board, name) == []


def test_nobody_is_on_it_twice_whatever_goes_wrong(client: Any, table: Table, runner: StillRunner) -> None:
    board, name = Leaderboard(table, shards=2), unique()

    def work(faulty: StillRunner) -> None:
        for score in (1, 2):
            faulty.run(board.submit(name, "ann", score))

    for _ in survives(client, work):
        assert standing(runner, board, name) == [("ann", 2)]
        name = unique()


def test_who_loses_a_race_reads_again(client: Any, table: Table, runner: StillRunner) -> None:
    board, name = Leaderboard(table, shards=2), unique()
    runner.run(board.submit(name, "ann", 1))
    rival = board.submit(name, "ann", 5)
    with InterruptedRunner(client, "transact_write_items", lambda: runner.run(rival)) as slow:
        assert slow.run(board.submit(name, "ann", 3)) == 5
    assert standing(runner, board, name) == [("ann", 5)]


def test_scores_sort_as_numbers_and_have_bounds() -> None:
    scores = [-(10**15), -10, -9, 0, 9, 10, 10**15]
    assert sorted(map(_sortable, scores)) == [_sortable(score) for score in scores]
    for score in (-(10**15) - 1, 10**15 + 1):
        with pytest.raises(ValueError, match="15 digits"):
            _sortable(score)
