"""The leader as a source of reads: what they show stays, whatever happens to the leader."""

from collections.abc import Sequence

from psycopg.pq.abc import PGresult

from hashrange.storage.postgres.commit_guard import CommitGuard
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.pool import Pool


class LeaderReads:
    """Like the pool, but gives nothing while something may be visible that is not on the replicas."""

    def __init__(self, pool: Pool, guard: CommitGuard) -> None:
        self._pool = pool
        self._guard = guard
        self.serializable = pool.serializable
        self.release = pool.release
        self.abandon = pool.abandon

    @property
    def is_settled(self) -> bool:
        """Whether what is read now may be given at once: the database is the same, and there is no doubt."""
        return not self._guard.in_doubt and self._pool.is_same

    def begin(self, calls: Sequence[Call]) -> tuple[PipelineConnection, list[PGresult]]:
        """Run the first statements of a transaction on whichever connection works."""
        while True:
            self._guard.expect_confirmed()
            begun = self._pool.begin(calls)
            if not self._guard.in_doubt:
                return begun
            self._pool.abandon(begun[0])  # there was doubt when the snapshot was taken, perhaps
