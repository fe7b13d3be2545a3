"""A leaderboard: a score is one update, the board is an index that DynamoDB keeps in order."""

import heapq
import zlib
from collections.abc import Iterator
from typing import Any

TABLE = "leaderboard"
SHARDS = 4  # as in model.yaml: of a board that all players of the world are on


class Leaderboard:
    """Scores of players on boards."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, board: str, player: str, score: int) -> bool:
        """Keep the better of the stored score and this one; give whether it is a new best.

        Whoever submits twice, or late, changes nothing: the condition is about the number alone.
        """
        values = {":score": {"N": str(score)}, ":shard": {"S": _shard(board, player)}}
        values |= {":board": {"S": board}, ":player": {"S": player}}
        try:
            self._client.update_item(
                TableName=TABLE,
                Key=_key(board, player),
                UpdateExpression="SET score = :score, board_shard = :shard, board = :board, player = :player",
                ConditionExpression="attribute_not_exists(score) OR score < :score",
                ExpressionAttributeValues=values,
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def score(self, board: str, player: str) -> int | None:
        answer = self._client.get_item(TableName=TABLE, Key=_key(board, player), ConsistentRead=True)
        return int(answer["Item"]["score"]["N"]) if "Item" in answer else None

    def top(self, board: str, limit: int = 10) -> list[tuple[str, int]]:
        """The best players: the best of every shard, merged."""
        best = (self._shard_top(board, shard, limit) for shard in range(SHARDS))
        merged = heapq.merge(*best, key=lambda entry: (-entry[1], entry[0]))
        return [entry for entry, _ in zip(merged, range(limit), strict=False)]

    def _shard_top(self, board: str, shard: int, limit: int) -> list[tuple[str, int]]:
        answer = self._client.query(
            TableName=TABLE,
            IndexName="top",
            KeyConditionExpression="board_shard = :shard",
            ExpressionAttributeValues={":shard": {"S": f"{board}#{shard}"}},
            ScanIndexForward=False,
            Limit=limit,
        )
        entries = [(item["player"]["S"], int(item["score"]["N"])) for item in answer["Items"]]
        return sorted(entries, key=lambda entry: (-entry[1], entry[0]))

    def rank(self, board: str, player: str) -> int | None:
        """How many are better, and one. It counts them: for the first thousands, not for the last of a million."""
        score = self.score(board, player)
        if score is None:
            return None
        return 1 + sum(self._count_better(board, shard, score) for shard in range(SHARDS))

    def _count_better(self, board: str, shard: int, score: int) -> int:
        pages = self._client.get_paginator("query").paginate(
            TableName=TABLE,
            IndexName="top",
            KeyConditionExpression="board_shard = :shard AND score > :score",
            ExpressionAttributeValues={":shard": {"S": f"{board}#{shard}"}, ":score": {"N": str(score)}},
            Select="COUNT",
        )
        return sum(page["Count"] for page in pages)


def _key(board: str, player: str) -> dict[str, Any]:
    return {"PK": {"S": f"PLAYER#{player}"}, "SK": {"S": f"BOARD#{board}"}}


def _shard(board: str, player: str) -> str:
    """As `shard(player, 4)` of the model: the CRC-32, which every language has."""
    return f"{board}#{zlib.crc32(player.encode()) % SHARDS}"


def demonstrate(client: Any) -> Iterator[str]:
    """A small tournament."""
    board = Leaderboard(client)
    for player, score in (("ann", 300), ("bob", 250), ("cat", 700), ("ann", 100), ("bob", 400)):
        best = board.submit("may", player, score)
        yield f"{player} {score}{': a new best' if best else ''}"
    yield f"top: {', '.join(f'{player} {score}' for player, score in board.top('may', 2))}"
    yield f"Ann is number {board.rank('may', 'ann')}"
