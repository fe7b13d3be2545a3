"""Runs a request with an operation's quick way and without it, in a service of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from clocked import Clocked
from hashrange.api import registry
from hashrange.api.errors import ApiError
from hashrange.api.plan import Read, Write
from hashrange.core.errors import Refused
from hashrange.storage.engine import Transaction

Outcome = tuple[Any, ...]


class _Undo(Exception):
    """Raised by a step that is not to be committed."""


class TwoWays:
    """One operation on one service, asked in both ways."""

    def __init__(self, service: Clocked, operation: str) -> None:
        self.service = service
        self.operation = registry.find(operation)

    def agree(self, request: dict[str, Any]) -> Outcome:
        """The answer, which must be the same in both ways, and again once something was learned."""
        with self.long_way():
            expected = self._outcome(request)
        for _ in range(2):
            assert self._outcome(request) == expected, request
        return expected

    def is_quick(self, request: dict[str, Any]) -> bool:
        """Whether the quick way takes this request."""
        assert self.operation.quick is not None
        return self.operation.quick(self.service.context, _as_sent(request)) is not None

    @contextmanager
    def long_way(self) -> Iterator[None]:
        quick, self.operation.quick = self.operation.quick, None
        try:
            yield
        finally:
            self.operation.quick = quick

    def _outcome(self, request: dict[str, Any]) -> Outcome:
        try:
            plan = self.operation.plan(self.service.context, _as_sent(request))
        except ApiError as error:
            return error.status, error.code, error.message, error.fields
        if isinstance(plan, Write):
            return self._undone(plan)
        assert isinstance(plan, Read)
        return 200, plan.eventual, self.service.engine.read(plan.step)

    def _undone(self, plan: Write) -> Outcome:
        """The answer of a write and all that is stored after it; then everything is as before."""

        def step(tx: Transaction) -> None:
            answer = plan.step(tx)
            raise _Undo(200, plan.reads(), answer, list(tx.scan(b"", b"\xff" * 9)))

        try:
            self.service.engine.write(step)
        except _Undo as undo:
            return undo.args
        except ApiError as error:
            return error.status, error.code, error.message, error.fields
        except Refused as invalid:
            return 400, "ValidationException", type(invalid), invalid.message
        raise AssertionError("neither an answer nor an error")


def _as_sent(request: dict[str, Any]) -> dict[str, Any]:
    sent: dict[str, Any] = orjson.loads(orjson.dumps(request))
    return sent
