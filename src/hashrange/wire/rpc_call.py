"""Protocols other than JSON: requests are read into the JSON that operations take, answers rendered from structures.

What a protocol has of its own is a `Dialect`. Everything else, from large bodies to who is asking, is the same for all.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, Protocol

import msgspec
import orjson

from hashrange import logs
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.kinds import Member
from hashrange.api.protocol.operation import UNDECODED, Operation, Service
from hashrange.api.protocol.shapes import members_of
from hashrange.api.results import Described, Rendered, Result
from hashrange.audit.events import Origin
from hashrange.chain.audit import Audit
from hashrange.chain.background import Background
from hashrange.chain.executor import Call, read_object
from hashrange.chain.links import Runner
from hashrange.wire import compression, errors, outages
from hashrange.wire.codec import CORS
from hashrange.wire.identity import Callers, Unidentified, known_caller
from hashrange.wire.interfaces import Exchange
from hashrange.wire.origins import claiming_origin

# Bodies up to this are read on the event loop; these readers are slower than that of JSON.
_LOOP_BYTES_MAX = 4 * 1024

log = logs.Log("requests")

_UNKNOWN = "Unknown"  # the operation of a request that could not be read


class Asked(NamedTuple):
    """An operation and its request, as JSON would have it."""

    operation: Operation[Any]
    content: dict[str, Any]


class Dialect(Protocol):
    """A protocol: how a request is read, and how its answer looks."""

    @property
    def service(self) -> Service:
        """Whose operations are asked for."""

    def read(self, body: bytes) -> Asked:
        """Read a request's body."""

    def answered(
        self, operation: str, content: dict[str, Any] | None, members: dict[str, Member], request_id: bytes
    ) -> tuple[bytes, bytes]:
        """Head and body of a good answer."""

    def failed(self, error: ApiError, request_id: bytes) -> tuple[bytes, bytes]:
        """Head and body of an error."""


class RpcCall(Call, gc=False):
    """A call, and where its answer goes."""

    exchange: Exchange
    request_id: bytes
    dialect: Dialect
    cors: bytes
    came_from: Origin
    rendered: tuple[bytes, bytes] | None = None

    def origin(self) -> Origin:
        """Where the request came from."""
        return self.came_from

    def prepare(self, result: Result) -> Result:
        """Render a result before `answer` is called."""
        self.rendered = self._render(result)
        return Rendered(list(result.charges()))

    def answer(self, result: Result | None, error: BaseException | None) -> None:
        """Render the outcome and send it."""
        if error is not None:
            self._fail(error)
            return
        try:
            head, body = self.rendered or self._render(result)
        except Exception as problem:  # noqa: BLE001 - it becomes the answer
            self._fail(problem)
            return
        if self.operation.name in outages.ongoing:
            outages.note_success(self.operation.name)
        self.exchange.send(head + self.cors, body)

    def _fail(self, error: BaseException) -> None:
        told = errors.told(error, self.request_id, self.operation.name)
        head, body = self.dialect.failed(told, self.request_id)
        self.exchange.send(head + self.cors, body)

    def _render(self, result: Result | None) -> tuple[bytes, bytes]:
        if not isinstance(result, Described):
            raise TypeError(self.operation.name)
        structure = result.body
        content = None if structure is None else msgspec.to_builtins(structure)
        members = {} if structure is None else _output_members(type(structure))
        return self.dialect.answered(self.operation.name, content, members, self.request_id)


class _PatientCall(RpcCall, gc=False):
    """A call whose body was read on a thread of its own."""

    patient: ClassVar[bool] = True


@cache  # of the structures of answers there are as many as operations
def _output_members(structure: type[msgspec.Struct]) -> dict[str, Member]:
    return members_of(structure)


class Unsigned(NamedTuple):
    """What may be asked without a signature, and the context of whoever does."""

    actions: frozenset[str]
    context: Callable[[], Context]


class RpcRunner:
    """Reads requests, runs their calls and sends their answers, whatever the dialect."""

    def __init__(
        self,
        run: Runner,
        callers: Callers,
        background: Background,
        body_bytes_max: int,
        audit: Audit | None = None,
        unsigned: Unsigned | None = None,
    ) -> None:
        self._run = run
        self._callers = callers
        self._background = background
        self._body_bytes_max = body_bytes_max
        self._audit = audit
        self._unsigned = unsigned

    def handle(self, exchange: Exchange, request_id: bytes, dialect: Dialect, body: bytes) -> None:
        """Answer a request, in the service's order: body, operation, signature, request."""
        cors = CORS if b"Origin" in exchange.headers else b""
        encoding = exchange.headers.get(b"Content-Encoding")
        # Told after what is wrong with the body.
        identified = self._callers.later(exchange, dialect.service.signing_name, body)
        audit = self._audit
        origin = claiming_origin(exchange, request_id)

        asked_for = f"{dialect.service.name}:{_UNKNOWN}"

        def refuse(error: BaseException) -> None:
            _refuse(exchange, request_id, dialect, cors, error)
            if audit is not None:
                caller = None if isinstance(error, Unidentified) else known_caller(identified)
                audit.refused(asked_for, origin, caller, error)

        def read(make: Callable[..., RpcCall]) -> RpcCall:
            nonlocal asked_for
            plain = body if encoding is None else self._unpacked(encoding, body)
            operation, content = dialect.read(bytes(plain))
            asked_for = operation.action
            unsigned = self._unsigned
            if unsigned is not None and operation.action in unsigned.actions:
                context = unsigned.context()
            else:
                context = identified()
            sent = orjson.dumps(content)
            return make(
                operation,
                context,
                _decoded(operation, sent),
                sent,
                exchange,
                request_id,
                dialect,
                cors,
                origin,
            )

        if encoding is None and len(body) <= _LOOP_BYTES_MAX:
            try:
                call = read(RpcCall)
            except Exception as error:  # noqa: BLE001 - what never became a call is answered here
                refuse(error)
            else:
                self._run(call, call.answer)
        elif not self._background.submit(partial(self._read_aside, read, refuse), len(body)):
            refuse(ApiError("ThrottlingException", "Too many large requests are waiting"))

    def _read_aside(
        self, read: Callable[[type[RpcCall]], RpcCall], refuse: Callable[[Exception], None]
    ) -> None:
        try:
            call = read(_PatientCall)
        except Exception as error:  # noqa: BLE001 - as in `handle`
            self._background.call_on_loop(partial(refuse, error))
        else:
            self._run(call, call.answer)

    def _unpacked(self, encoding: bytes, body: bytes) -> bytes | bytearray:
        return compression.unpacked(encoding, body, self._body_bytes_max)


def _decoded(operation: Operation[Any], sent: bytes) -> Any:
    """The request; None if it does not decode, and planning explains why."""
    try:
        return operation.decode(sent)
    except UNDECODED:
        read_object(sent)
        return None


def _refuse(
    exchange: Exchange, request_id: bytes, dialect: Dialect, cors: bytes, error: BaseException
) -> None:
    told = errors.told(error, request_id)
    log.debug("request.answered", operation=dialect.service.name, status=told.status, error=told.code)
    head, body = dialect.failed(told, request_id)
    exchange.send(head + cors, body)


def find(service: Service, name: str) -> Operation[Any]:
    """The operation of this name."""
    operation = service.operations.get(name)
    if operation is None:
        raise ApiError("UnknownOperationException", f"The action {name} is not valid for this web service.")
    return operation
