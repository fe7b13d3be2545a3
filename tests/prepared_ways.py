"""Answers a request with what was prepared and without it, in a service of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

import msgspec
import orjson

from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.items import batch_get_item, get_item, query, update_item
from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.partiql import execute_statement
from hashrange.api.protocol.plan import Read, Write
from hashrange.api.protocol.structures import Request
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import Result
from hashrange.api.transactions import transact_get_items
from hashrange.chain.executor import Call
from hashrange.core.errors import Refused
from hashrange.core.keys import primary_key
from hashrange.storage.engine import Transaction
from hashrange.wire.renderers import RENDERERS

Outcome = tuple[Any, ...]  # status and code, or status and body, before all else

_MODULES: dict[str, ModuleType] = {
    "BatchGetItem": batch_get_item,
    "ExecuteStatement": execute_statement,
    "GetItem": get_item,
    "Query": query,
    "TransactGetItems": transact_get_items,
    "UpdateItem": update_item,
}


class _Undo(Exception):
    """Raised by a step that is not to be committed."""


class TwoWays:
    """One operation on one service, with and without what is prepared."""

    def __init__(self, service: Clocked, operation: str) -> None:
        self.service = service
        self.operation = DYNAMODB.operations[operation]
        self._module = _MODULES[operation]
        self._render = RENDERERS[operation]

    def agree(self, request: dict[str, Any]) -> Outcome:
        """The outcome, which must be the same both ways, and again once the request is prepared."""
        with self.long_path():
            expected = self._outcome(request)
        for _ in range(2):
            assert self._outcome(request) == expected, request
        return expected

    def is_prepared(self, request: dict[str, Any]) -> bool:
        """Whether the short path gives a plan for this request."""
        typed = self._typed(request)
        return typed is not None and self._short_plan(typed) is not None

    @contextmanager
    def long_path(self) -> Iterator[None]:
        """Nothing is prepared, and no key is plain enough."""
        context = self.service.context
        kept, context.prepared = context.prepared, PreparedRequests()
        try:
            with patch.object(primary_key, "of_key_or_none", lambda _table, _key: None):
                yield
        finally:
            context.prepared = kept

    def _typed(self, request: dict[str, Any]) -> Request | None:
        call = self._call(request)
        if call.request is None:
            try:
                call.request = self.operation.shape.explain(call.sent())
            except (ApiError, Refused):
                return None
        return call.request

    def _short_plan(self, request: Any) -> object | None:
        if isinstance(request, get_item.GetItem):
            return self._plain_key(request)
        plan: object | None = self._module._prepared(self.service.context, request)
        return plan

    def _plain_key(self, request: get_item.GetItem) -> object | None:
        """GetItem has no cache: its short path is a key that is plainly right."""
        keys: list[bytes | None] = []
        judge = primary_key.of_key_or_none

        def noted(table: Any, key: Any) -> bytes | None:
            keys.append(judge(table, key))
            return keys[-1]

        with patch.object(primary_key, "of_key_or_none", noted):
            try:
                self.operation.handler(self.service.context, request)
            except Exception:  # noqa: BLE001 - what is wrong with it is another test's business
                return None
        return keys[0] if keys else None

    def _call(self, request: dict[str, Any]) -> Call:
        call = Call(self.operation, self.service.context, None, orjson.dumps(request))
        call.decode()
        return call

    def _outcome(self, request: dict[str, Any]) -> Outcome:
        call = self._call(request)
        try:
            plan = call.plan()
        except ApiError as error:
            return _failed(error)
        if isinstance(plan, Write):
            return self._undone(call, plan)
        assert isinstance(plan, Read)
        result = self.service.engine.read(plan.step)
        # A prepared query for a whole key knows what it reads, which the long path does not.
        reads = tuple(plan.reads) if isinstance(call.request, get_item.GetItem) else None
        return 200, self._render(call.request, result), plan.eventual, reads, _charged(result)

    def _undone(self, call: Call, plan: Write) -> Outcome:
        """The answer of a write and all that is stored after it; then everything is as before."""

        def step(tx: Transaction) -> None:
            result = plan.step(tx)
            body = self._render(call.request, result)
            raise _Undo(200, body, plan.reads(), _charged(result), list(tx.scan(b"", b"\xff" * 9)))

        try:
            self.service.engine.write(step)
        except _Undo as undo:
            return undo.args
        except ApiError as error:
            return _failed(error)
        except Refused as refused:
            return 400, "ValidationException", type(refused), refused.message
        raise AssertionError("neither an answer nor an error")


def _failed(error: ApiError) -> Outcome:
    return error.status, error.code, error.message, error.fields


def _charged(result: Result) -> list[tuple[Any, ...]]:
    return [msgspec.structs.astuple(charge) for charge in result.charges()]
