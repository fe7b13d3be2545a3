"""A leaderboard: who is at the top, kept in order by the sort key, spread over shards."""

from collections.abc import Callable
from typing import Any

import msgspec

from hashrange.patterns.cursors import Page
from hashrange.patterns.errors import Stale, TransactionCanceled
from hashrange.patterns.retries import send_all
from hashrange.patterns.scatter import Scatter
from hashrange.patterns.steps import SdkCall, Steps, procedure
from hashrange.patterns.tables import Span, Table, Write
from hashrange.patterns.values import Item, shard_of

_SCORE_MAX = 10**15


class Leaderboard(msgspec.Struct, frozen=True):
    """A player's score is (`PLAYER#board#player`, `SCORE`), the entry (`BOARD#board#shard`, `score#player`).

    Both change in one transaction, so a player is on the board once. Scores are whole numbers up to 10^15 either way.
    """

    table: Table
    shards: int = 4

    @procedure
    def submit(self, board: str, player: str, score: int) -> Steps[int]:
        """Keep the better of the stored score and this one; gives which. To submit twice is to submit once."""
        kept = yield from self._changed(
            board, player, lambda stored: score if stored is None else max(score, stored)
        )
        return score if kept is None else kept

    @procedure
    def set(self, board: str, player: str, score: int) -> Steps[None]:
        """Replace the score, whatever it was."""
        yield from self._changed(board, player, lambda _: score)

    @procedure
    def remove(self, board: str, player: str) -> Steps[None]:
        """Take a player off the board."""
        yield from self._changed(board, player, lambda _: None)

    @procedure
    def top(self, board: str, *, limit: int = 10, cursor: str | None = None) -> Steps[Page]:
        """The best players, `{"player": …, "score": …}`; among equal scores the last by name is first."""
        partitions = tuple(f"BOARD#{board}#{shard}" for shard in range(self.shards))
        page = yield from Scatter(self.table, partitions, Span(forward=False), limit).page(cursor)
        return Page([self.table.without_key(item) for item in page.items], page.cursor)

    @procedure
    def rank(self, board: str, player: str) -> Steps[int | None]:
        """How many are better, and one; None for who is not there. Reads every better entry, a megabyte at a time."""
        stored = yield from self.table.get(self._player(board, player))
        if stored is None:
            return None
        above = Span(low=_sortable(int(stored["score"])) + "$")  # behind every "score#player"
        calls = [self._counting(f"BOARD#{board}#{shard}", above) for shard in range(self.shards)]
        better = 0
        while calls:
            answers = yield from send_all(calls, self.table.retry)
            better += sum(answer["Count"] for answer in answers)
            lasts = [
                (call, answer.get("LastEvaluatedKey")) for call, answer in zip(calls, answers, strict=True)
            ]
            calls = [
                SdkCall("query", {**call.parameters, "ExclusiveStartKey": last})
                for call, last in lasts
                if last
            ]
        return better + 1

    def _counting(self, partition: str, span: Span) -> SdkCall:
        parameters: dict[str, Any] = {
            **self.table.querying(partition, span, limit=1).parameters,
            "Select": "COUNT",
        }
        del parameters["Limit"]
        return SdkCall("query", parameters)

    def _changed(
        self, board: str, player: str, wanted: Callable[[int | None], int | None]
    ) -> Steps[int | None]:
        for attempt in range(1, 11):
            stored = yield from self.table.get(self._player(board, player))
            old = None if stored is None else int(stored["score"])
            new = wanted(old)
            if new == old:
                return new
            try:
                yield from self.table.transact(self._moving(board, player, old, new))
            except TransactionCanceled as canceled:
                if 0 not in canceled.failed:
                    raise
            else:
                return new
            yield self.table.retry.pause(attempt)
        raise Stale(f"{player} changes too often")

    def _moving(self, board: str, player: str, old: int | None, new: int | None) -> list[Write]:
        """Writes from the old score to the new one; the first is refused if the old one is not the stored one."""
        key = self._player(board, player)
        condition = "attribute_not_exists(#score)" if old is None else "#score = :old"
        values = {} if old is None else {"old": old}
        writes = []
        if new is None:
            writes.append(self.table.deleting(key, condition, **values))
        else:
            writes.append(self.table.putting({**key, "score": new}, condition, **values))
            entry = {**self._entry(board, player, new), "player": player, "score": new}
            writes.append(self.table.putting(entry))
        if old is not None:
            writes.append(self.table.deleting(self._entry(board, player, old)))
        return writes

    def _player(self, board: str, player: str) -> Item:
        return self.table.key(f"PLAYER#{board}#{player}", "SCORE")

    def _entry(self, board: str, player: str, score: int) -> Item:
        shard = shard_of(player, self.shards)
        return self.table.key(f"BOARD#{board}#{shard}", f"{_sortable(score)}#{player}")


def _sortable(score: int) -> str:
    """Text that sorts as the score does, negative ones included."""
    if not -_SCORE_MAX <= score <= _SCORE_MAX:
        raise ValueError("a score has up to 15 digits")
    return f"{score + _SCORE_MAX:016d}"
