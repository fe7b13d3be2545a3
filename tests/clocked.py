"""A whole service in this process, without HTTP, whose clock and jobs the test moves by hand."""

from typing import Any

import orjson

from hashrange import server
from hashrange.api import registry
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.plan import Answer, Read
from hashrange.clock import ManualClock
from hashrange.config import Settings
from hashrange.jobs.backfill import Backfill
from hashrange.jobs.deletions import FinishDeletions
from hashrange.jobs.reclaim import ReclaimSpace
from hashrange.jobs.tokens import ExpireTokens
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine
from hashrange.storage.sqlite import MemoryEngine

MIDNIGHT = 1_699_920_000.0  # the beginning of a day, UTC


class Clocked:
    """Operations, jobs and a clock that stands still. Statuses pass after `transition_ms`."""

    def __init__(
        self, engine: Engine | None = None, *, transition_ms: int = 1000, now: float = MIDNIGHT
    ) -> None:
        server.load_operations()
        self.engine = engine or MemoryEngine()
        self.clock = ManualClock(now)
        self.catalogue = Catalogue(self.engine)
        self.deletions = FinishDeletions(self.engine, self.catalogue)
        self.backfill = Backfill(self.engine, self.catalogue)
        self.reclaim = ReclaimSpace(self.engine)
        self.tokens = ExpireTokens(self.engine)
        self.context = Context(
            catalogue=self.catalogue,
            clock=self.clock,
            settings=Settings(transition_ms=transition_ms),
            region="us-east-1",
            account_id="000000000000",
            access_key="test",
        )

    def call(self, operation: str, /, **request: Any) -> Any:
        """Answer a request as the server would."""
        plan = registry.find(operation).plan(self.context, orjson.loads(orjson.dumps(request)))
        if isinstance(plan, Answer):
            body = plan.body
        elif isinstance(plan, Read):
            body = self.engine.read(plan.step)
        else:
            body = self.engine.write(plan.step)
            if plan.after is not None:
                plan.after()
        return orjson.loads(body) if body else None

    def refused(self, operation: str, /, **request: Any) -> tuple[str, str | None]:
        """Code and message of the error that a request must be answered with."""
        try:
            answer = self.call(operation, **request)
        except ApiError as error:
            return error.code, error.message
        raise AssertionError(answer)

    def describe(self, name: str) -> Any:
        return self.call("DescribeTable", TableName=name)["Table"]

    def run_jobs(self, most: int = 1000) -> None:
        """Run every job until it has nothing more to do now."""
        for job in (self.deletions, self.backfill, self.reclaim, self.tokens):
            for _ in range(most):
                if job.step(self.clock.now()) > 0.5:
                    break
            else:
                raise AssertionError(f"{job.name} does not come to rest")

    def settle(self) -> None:
        """Let passing statuses pass."""
        self.clock.advance(2)
        self.run_jobs()
