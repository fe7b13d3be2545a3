"""One request on its way to its operation, whatever protocol brought it."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import orjson

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, serialization, validation
from hashrange.api.protocol.operation import UNDECODED, Operation
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Result
from hashrange.core.errors import Refused
from hashrange.core.values import Malformed

# Told the result, or None and the error, once; on the event loop's thread where there is one.
Done = Callable[[Result | None, BaseException | None], None]


class Call(msgspec.Struct, gc=False):
    """Who asks for what."""

    operation: Operation[Any]
    context: Context
    request: Request | None  # None: it does not decode, and planning explains why
    body: (
        bytes | bytearray
    )  # as sent, if it was JSON, else empty; the parser's own buffer until the call is planned

    def plan(self) -> Plan:
        """Have the operation say what is to be done: check fast, explain slowly. It may be asked again."""
        operation, request = self.operation, self.request
        if request is not None:
            try:
                return operation.handler(self.context, request)
            except Malformed:
                # Either the shape says what is wrong, or it reads what only looked wrong: nulls, words for booleans.
                pass
            except (ApiError, Refused) as error:
                # Constraints that decoding leaves out, and JSON of a wrong type further behind, are reported first.
                operation.shape.check(self.sent())
                if isinstance(error, ApiError):
                    raise
                raise validation(operation.shape.worded(error)) from None
        self.request = request = operation.shape.explain(self.sent())
        try:
            return operation.handler(self.context, request)
        except Refused as invalid:
            raise validation(operation.shape.worded(invalid)) from None

    def decode(self) -> None:
        """Read the request anew from what was sent."""
        if self.body:
            try:
                self.request = self.operation.decode(self.body)
            except UNDECODED:
                self.request = None

    def sent(self) -> dict[str, Any]:
        """The request as JSON, with all that decoding leaves out."""
        if self.body:
            return read_object(self.body)
        return msgspec.to_builtins(self.request)  # type: ignore[no-any-return]


def read_object(body: bytes | bytearray) -> dict[str, Any]:
    """Read a request's JSON, which must be an object."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise serialization(None) from None
    if type(content) is not dict:
        raise serialization("Start of list found where not expected" if type(content) is list else None)
    return content


class Runner(Protocol):
    """What a call is handed to: an executor, or a link around one."""

    def __call__(self, call: Call, done: Done, /) -> None: ...


class Link(Protocol):
    """A part of the chain, as middleware is around an application.

    It looks at the call, hands it on, and may look at what comes back. To refuse a call it calls `done` with an
    error and hands nothing on.
    """

    def __call__(self, call: Call, done: Done, following: Runner, /) -> None: ...


def chained(runner: Runner, *links: Link | None) -> Runner:
    """The runner with links around it, the first one outermost. A link that is switched off (None) costs nothing."""
    for link in reversed(links):
        if link is not None:
            runner = _linked(link, runner)
    return runner


def _linked(link: Link, following: Runner) -> Runner:
    def run(call: Call, done: Done, /) -> None:
        link(call, done, following)

    return run
