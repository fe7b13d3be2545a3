"""A private engine: the API on an engine in memory, in this process, with a clock that stands still."""

from __future__ import annotations

from threading import Event
from typing import Any, Self

import msgspec
import orjson

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, as_api_error
from hashrange.api.items.prepared import PreparedRequests
from hashrange.api.registry import DYNAMODB
from hashrange.api.results import Result
from hashrange.chain.background import Background
from hashrange.chain.executor import Call, LocalExecutor
from hashrange.config import Settings
from hashrange.core import accounts
from hashrange.modeling.data.values import NOW
from hashrange.modeling.requests import ApiRequest
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.sqlite import MemoryEngine
from hashrange.wire.answers import described
from hashrange.wire.renderers import RENDERERS

Response = dict[str, Any]  # the JSON of an answer


class _StillClock:
    def now(self) -> float:
        return float(NOW)


class _NoBackups:
    def fault(self, _place: JobPlace, /) -> str | None:
        """No backups are made."""
        return None


class PrivateEngine:
    """Answers requests as a server would, without HTTP."""

    def __init__(self, region: str) -> None:
        self._engine = MemoryEngine()
        self._background = Background()
        self._executor = LocalExecutor(self._engine, self._background)
        self._context = Context(
            catalogue=Catalogue(self._engine),
            clock=_StillClock(),
            settings=Settings(transition_ms=0),
            region=region,
            account_id=accounts.OWN,
            access_key="prove",
            prepared=PreparedRequests(),
            backups=_NoBackups(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._background.close()
        self._engine.close()

    def send(self, request: ApiRequest, **more: object) -> Response:
        """The answer; `more` are further members. Raises `ApiError`."""
        return self.call(request.operation, request.members() | more)

    def call(self, operation: str, members: dict[str, Any]) -> Response:
        """The same for any operation."""
        call = Call(DYNAMODB.operations[operation], self._context, None, orjson.dumps(members))
        call.decode()
        body = RENDERERS.get(operation, described)(call.request, self._run(call))
        response: Response = msgspec.json.decode(body) if body else {}
        return response

    def _run(self, call: Call) -> Result:
        outcome: list[tuple[Result | None, BaseException | None]] = []
        finished = Event()

        def done(result: Result | None, error: BaseException | None) -> None:
            outcome.append((result, error))
            finished.set()

        self._executor.run(call, done)
        finished.wait()
        result, error = outcome[0]
        if isinstance(error, ApiError):
            raise error
        if error is not None or result is None:
            raise as_api_error(error or TypeError(call.operation.name))
        return result
