"""A server for test suites (--test-kit): what their endpoint has done by the rest of the server."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from hashrange.chain.chaos import Chaos
from hashrange.clock import Clock
from hashrange.jobs.supervisor import Supervisor
from hashrange.storage import catalogue
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine
from hashrange.storage.namespaces import remove_tables
from hashrange.wire.testing_endpoint import Told


class Workshop:
    """What the endpoint needs of the running server: see `wire.testing_endpoint.Namespaces`."""

    def __init__(
        self,
        engine: Engine,
        tables: Catalogue,
        clock: Clock,
        chaos: Chaos | None,
        supervisors: Sequence[Supervisor],
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._clock = clock
        self._chaos = chaos
        self._supervisors = supervisors

    def remove(self, account_id: str, told: Told) -> None:
        """Remove the tables and the faults of an account."""
        owned = [table for table in self._tables.tables() if table.account_id == account_id]

        def removed(_: None, error: BaseException | None) -> None:
            for table in owned:
                self._tables.refresh(*catalogue.address(table))
            if error is not None or self._chaos is None:
                told(error)
            else:
                self._chaos.clear_account(account_id, told)

        if owned:
            step = partial(remove_tables, tables=owned, now=self._clock.now())
            self._engine.submit(step, removed)
        else:
            removed(None, None)

    def when_idle(self, callback: Callable[[], None]) -> None:
        """Call back on the loop once every supervisor is idle."""
        loop = asyncio.get_running_loop()
        busy = len(self._supervisors)

        def idle() -> None:
            nonlocal busy
            busy -= 1
            if not busy:
                callback()

        for supervisor in self._supervisors:
            supervisor.when_idle(partial(loop.call_soon_threadsafe, idle))
