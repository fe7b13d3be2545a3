"""examples/leaderboard: the better score is kept, in whatever order they come, and the board is in order."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest


@pytest.fixture
def board(application: Callable[[str], Any], examples_client: Any) -> Any:
    return application("leaderboard").Leaderboard(examples_client)


def test_only_a_better_score_counts(board: Any) -> None:
    name = uuid4().hex
    assert [board.submit(name, "ann", score) for score in (50, 50, 40, 60)] == [True, False, False, True]
    assert board.score(name, "ann") == 60
    assert board.top(name) == [("ann", 60)]


def test_the_board_is_in_order_of_numbers_over_all_shards(board: Any) -> None:
    name = uuid4().hex
    scores = {f"player {number}": number * 7 % 20 * 10 for number in range(20)}
    for player, score in scores.items():
        board.submit(name, player, score)
    in_order = sorted(scores.items(), key=lambda entry: -entry[1])
    assert board.top(name, limit=20) == in_order
    assert board.top(name, limit=3) == in_order[:3]
    assert [board.rank(name, player) for player, _ in in_order] == list(range(1, 21))


def test_equal_scores_share_a_rank_and_strangers_have_none(board: Any) -> None:
    name = uuid4().hex
    for player, score in (("ann", 9), ("bob", 10), ("cat", 9)):
        board.submit(name, player, score)
    assert [board.rank(name, player) for player in ("ann", "bob", "cat", "dan")] == [2, 1, 2, None]
