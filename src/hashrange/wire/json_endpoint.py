"""AWS's JSON protocol: a target header names the operation, the body is its request, the answer is JSON."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any, ClassVar

from zlib_ng.zlib_ng import crc32

from hashrange import ids, logs
from hashrange.api.context import Context
from hashrange.api.errors import ApiError, as_api_error, validation
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.protocol.operation import UNDECODED, Operation, Service
from hashrange.api.results import ItemRead, KeyQueried, Rendered, Result
from hashrange.audit.events import Origin
from hashrange.chain.audit import Audit
from hashrange.chain.background import Background
from hashrange.chain.charge import Lane, Lanes
from hashrange.chain.executor import Call, read_object
from hashrange.chain.pipelines import Pipeline, Pipelines
from hashrange.core.errors import forget_frames
from hashrange.core.limits import READ_UNIT_BYTES
from hashrange.core.values import TOO_DEEP
from hashrange.wire import codec, compression, errors, header_members, large_bodies, outages
from hashrange.wire.answers import Renderer, described
from hashrange.wire.codec import Form, ok_head
from hashrange.wire.identity import Callers, Unidentified, known_caller
from hashrange.wire.interfaces import Exchange
from hashrange.wire.origins import Arrival, claiming_origin, origin_of
from hashrange.wire.renderers import RENDERERS

_TYPES = (codec.JSON_1_0, b"application/x-amz-json-1.1", b"application/json")
_FORMS = {kind: Form(kind) for kind in _TYPES}
_FORMS_CORS = {kind: Form(kind, cors=True) for kind in _TYPES}
DEFAULT_FORM = _FORMS[codec.JSON_1_0]

# Bodies up to this are read on the event loop: in some milliseconds, whatever is in them.
LOOP_BYTES_MAX = 32 * 1024

_BAD_REQUEST = 400
_NAME_BYTES_MAX = 128
_UNKNOWN = "Unknown"  # in place of an operation that there is none of: a client may send any name

log = logs.Log("requests")


class _Target:
    """An operation as its target header finds it."""

    __slots__ = (
        "header_member",
        "lane",
        "namespace",
        "note_denial",
        "operation",
        "query",
        "render",
        "run",
        "shortcut",
        "signing_name",
        "whole_operation",
    )

    def __init__(
        self, operation: Operation[Any], service: Service, pipeline: Pipeline, lane: Lane | None
    ) -> None:
        self.header_member = header_members.BY_OPERATION.get(operation.name)
        self.lane = lane  # None: calls are not observed
        self.whole_operation = operation  # for calls that pass the whole chain
        self.operation, self.run, self.note_denial, self.shortcut = pipeline
        self.namespace = service.error_namespace
        self.query = service.query
        self.signing_name = service.signing_name
        self.render: Renderer = RENDERERS.get(operation.name, described)


class _JsonCall(Call, gc=False):
    """A call that came over HTTP, and where its answer goes."""

    exchange: Exchange
    form: Form
    request_id: bytes
    target: _Target
    began: float  # by the monotonic clock
    rendered: tuple[bytes, bytes] | None = None  # head and body, where another thread has made them

    def origin(self) -> Origin:
        """Where the request came from; the exchange still has it."""
        return origin_of(self.exchange, self.request_id)

    def arrival(self) -> Callable[[], Origin]:
        """The same for later: hardly any policy asks for it."""
        return Arrival(self.exchange, self.request_id)

    def prepare(self, result: Result) -> Result:
        """Render a result before `answer` is called."""
        body = self.target.render(self.request, result)
        self.rendered = ok_head(self.form.ok, self.request_id, crc32(body), len(body)), body
        refusals = getattr(result, "refusals", ())
        return Rendered(list(result.charges()), result.returned(), result.stream_read(), refusals)

    def answer(self, result: Result | None, error: BaseException | None) -> None:
        """Render the outcome and send it."""
        # The error is not raised: its traceback would refer to this frame, and the frame, through its callers, to it.
        if error is not None:
            self._fail(error)
            return
        target = self.target
        try:
            if self.rendered is None or type(result) is not Rendered:
                body = target.render(self.request, result)
                head = ok_head(self.form.ok, self.request_id, crc32(body), len(body))
            else:
                head, body = self.rendered
        except Exception as problem:  # noqa: BLE001 - it becomes the answer
            self._fail(problem)
            return
        if outages.ongoing and target.operation.name in outages.ongoing:
            outages.note_success(target.operation.name)
        self.exchange.send(head, body)
        lane = target.lane
        if lane is not None:
            if type(result) is ItemRead and result.picked is None and len(body) <= READ_UNIT_BYTES:
                # One unit or half of one: an item never counts for more than its JSON is long.
                units = 1.0 if result.consistent else 0.5
                lane.append((result.table, result.key, units, monotonic() - self.began))
            elif type(result) is KeyQueried and len(body) <= READ_UNIT_BYTES:
                units, latency = 1.0 if result.consistent else 0.5, monotonic() - self.began
                found = 0 if result.stored is None else 1
                lane.append_page((result.table, None, result.key, units, latency, found))
            else:
                lane.note(self, result, None, self.began)

    def _fail(self, error: BaseException) -> None:
        target, table = self.target, getattr(self.request, "table_name", "")
        name, query = target.operation.name, target.query
        # Of calls that pass the whole chain its link notes them.
        note = target.note_denial if type(error) is AccessDenied and not self.patient else None
        origin = None if note is None else self.context.origin()  # while the request is there
        self.exchange.send(
            *errors.render(error, self.form, self.request_id, target.namespace, name, table, query)
        )
        if target.lane is not None:
            target.lane.note(self, None, error, self.began)
        if note is not None and origin is not None:
            note(self, origin, error)


class _LargeCall(_JsonCall, gc=False):
    """A call whose body is too large to be read on the event loop."""

    patient: ClassVar[bool] = True

    came_from: Origin = Origin()  # noted while the exchange had the request

    def origin(self) -> Origin:
        """Where the request came from."""
        return self.came_from

    def arrival(self) -> Callable[[], Origin]:
        """The same for later."""
        return Call.arrival(self)


class JsonEndpoint:
    """Turns requests into calls, for any number of services, and their outcomes into answers."""

    def __init__(
        self,
        services: Sequence[Service],
        pipelines: Pipelines,
        callers: Callers,
        background: Background,
        *,
        body_bytes_max: int,
        lanes: Lanes | None = None,
        audit: Audit | None = None,
    ) -> None:
        self._targets = {
            (service.target_prefix + name).encode(): _Target(
                operation,
                service,
                pipelines.of(operation),
                None if lanes is None else lanes.lane(service, operation),
            )
            for service in services
            for name, operation in service.operations.items()
        }
        self._lanes = lanes
        self._audit = audit
        observed = [] if lanes is None else [service for service in services if lanes.observes(service)]
        self._observed_prefixes = tuple(service.target_prefix.encode() for service in observed)
        self._run = pipelines.run
        self._background = background
        self._callers = callers
        self._identify = callers.identify
        self._signing_name = services[0].signing_name  # of requests that name no operation
        self._body_bytes_max = body_bytes_max
        self._request_ids = ids.request_ids()

    def handle(self, exchange: Exchange, request_id: bytes) -> bool:
        """Answer a request, in the service's order: transport, JSON, target, signature, operation.

        Gives False if it speaks another protocol, and is left to others.
        """
        headers = exchange.headers
        forms = _FORMS_CORS if b"Origin" in headers else _FORMS
        form = forms.get(headers.get(b"Content-Type", b"")) or _unusual_form(forms, headers)
        if form is None:
            return False
        name = headers.get(b"X-Amz-Target", b"")
        target = self._targets.get(name)
        if target is None or len(exchange.body) > LOOP_BYTES_MAX or b"Content-Encoding" in headers:
            self._handle_unusual(exchange, form, request_id, target)
            return True
        self._answer(form, target, None, exchange, request_id)
        if exchange.repeats is not None and forms is _FORMS and target.header_member is None:
            exchange.repeats[name] = partial(self._answer, form, target, self._callers.lasting(exchange))
        return True

    def _handle_unusual(
        self, exchange: Exchange, form: Form, request_id: bytes, target: _Target | None
    ) -> None:
        """Answer a request for no operation, or one whose body takes long to read."""
        began = monotonic()
        try:
            if len(exchange.body) > LOOP_BYTES_MAX or b"Content-Encoding" in exchange.headers:
                self._hand_over(exchange, exchange.body, form, request_id, target)
            else:
                read_object(exchange.body)
                raise ApiError("UnknownOperationException", None)  # noqa: TRY301 - all errors leave below
        except Exception as error:  # noqa: BLE001 - what never became a call is answered here
            self._turn_away(exchange, form, request_id, target, error, began)

    def _answer(
        self,
        form: Form,
        target: _Target,
        context: Context | None,
        exchange: Exchange,
        request_id: bytes | None = None,
    ) -> None:
        """Answer a request for an operation; the `context` of one that repeats others may be known, its id is not."""
        began, body = monotonic(), exchange.body
        if request_id is None:
            request_id = next(self._request_ids)
            if len(body) > LOOP_BYTES_MAX:
                self._handle_unusual(exchange, form, request_id, target)
                return
        try:
            if target.header_member is not None:
                body = target.header_member.put_into(body, exchange.headers)
            operation = target.operation
            request = None if target.shortcut is None else target.shortcut.decode(body)
            if request is None:
                try:
                    request = operation.decode(body)
                except UNDECODED:
                    read_object(body)
            if context is None:
                context = self._identify(exchange, target.signing_name)
            call = _JsonCall(operation, context, request, body, exchange, form, request_id, target, began)
        except Exception as error:  # noqa: BLE001 - as above
            self._turn_away(exchange, form, request_id, target, error, began)
            return
        target.run(call, call.answer)

    def _turn_away(
        self,
        exchange: Exchange,
        form: Form,
        request_id: bytes,
        target: _Target | None,
        error: Exception,
        began: float,
    ) -> None:
        """Answer a request that never became a call."""
        name = exchange.headers.get(b"X-Amz-Target", b"")
        caller = None if isinstance(error, Unidentified) else self._caller(exchange, target)
        origin = self._origin(exchange, request_id)
        self._refuse(exchange, form, request_id, error, name)
        self._note_refused(error, name, caller, began)
        self._audit_refused(error, name, caller, origin)

    def _hand_over(
        self,
        exchange: Exchange,
        body: bytes | bytearray,
        form: Form,
        request_id: bytes,
        target: _Target | None,
    ) -> None:
        """Have a large or packed body read on another thread, with all of the exchange that is only good for now."""
        name, encoding = exchange.headers.get(b"X-Amz-Target", b""), exchange.headers.get(b"Content-Encoding")
        began = monotonic()
        origin = claiming_origin(exchange, request_id)
        body = bytes(body)
        member = None if target is None else target.header_member
        headers = {} if member is None else dict(exchange.headers)
        service = self._signing_name if target is None else target.signing_name
        identified = self._callers.later(exchange, service, body)

        def refuse(error: Exception, caller: Context | None) -> None:
            self._refuse(exchange, form, request_id, error, name)
            self._note_refused(error, name, caller, began)
            self._audit_refused(error, name, caller, origin)

        def read(sent: bytes) -> None:
            try:
                plain = sent if encoding is None else self._unpacked(encoding, sent)
                if member is not None:
                    plain = member.put_into(plain, headers)
                call = _large_call(plain, target, identified, exchange, form, request_id, began)
                call.came_from = origin
            except Exception as error:  # noqa: BLE001 - as in `handle`
                forget_frames(error)
                caller = None if isinstance(error, Unidentified) else known_caller(identified)
                self._background.call_on_loop(partial(refuse, error, caller))
            else:
                self._run(call, call.answer)

        if not self._background.submit(partial(read, body), len(body)):
            raise ApiError("ThrottlingException", "Too many large requests are waiting")

    def _refuse(
        self, exchange: Exchange, form: Form, request_id: bytes, error: BaseException, name: bytes
    ) -> None:
        answer = as_api_error(error)
        target = name.rpartition(b".")[2].decode("latin-1")
        log.debug("request.answered", operation=target, status=answer.status, error=answer.code)
        exchange.send(*errors.render(error, form, request_id))

    def _caller(self, exchange: Exchange, target: _Target | None) -> Context | None:
        """Who sent a request that is refused."""
        service = self._signing_name if target is None else target.signing_name
        return known_caller(partial(self._identify, exchange, service))

    def _note_refused(self, error: BaseException, name: bytes, caller: Context | None, began: float) -> None:
        """Count a request that was no call: for its caller, if it was meant for a service that is observed."""
        if self._lanes is None or caller is None or as_api_error(error).status != _BAD_REQUEST:
            return
        target = self._targets.get(name)
        if target is not None and target.lane is not None:
            self._lanes.note_refused(target.operation.name, caller, monotonic() - began)
        elif target is None and (not name or name.startswith(self._observed_prefixes)):
            self._lanes.note_refused(_UNKNOWN, caller, monotonic() - began)

    def _origin(self, exchange: Exchange, request_id: bytes) -> Origin:
        return Origin() if self._audit is None else claiming_origin(exchange, request_id)

    def _audit_refused(
        self, error: BaseException, name: bytes, caller: Context | None, origin: Origin
    ) -> None:
        if self._audit is None:
            return
        target = self._targets.get(name)
        operation = name.rpartition(b".")[2][:_NAME_BYTES_MAX].decode("latin-1") or _UNKNOWN
        action = f"dynamodb:{operation}" if target is None else target.operation.action
        self._audit.refused(action, origin, caller, error)

    def _unpacked(self, encoding: bytes, body: bytes | bytearray) -> bytes | bytearray:
        return compression.unpacked(encoding, body, self._body_bytes_max)


def _large_call(
    body: bytes | bytearray,
    target: _Target | None,
    identified: Callable[[], Context],
    exchange: Exchange,
    form: Form,
    request_id: bytes,
    began: float,
) -> _LargeCall:
    """The call of a large body, read in short pieces of work."""
    large_bodies.refuse_many_values(body, control=target is not None and target.operation.kind == "control")
    if target is None:
        read_object(body)
        raise ApiError("UnknownOperationException", None)
    operation = target.whole_operation
    try:
        request = operation.read_patiently(body)
    except RecursionError:
        raise validation(TOO_DEEP) from None
    except UNDECODED:
        read_object(body)
        request = None
    return _LargeCall(operation, identified(), request, body, exchange, form, request_id, target, began)


def _unusual_form(forms: Mapping[bytes, Form], headers: Mapping[bytes, bytes]) -> Form | None:
    """The form for a content type that is spelled with parameters or capitals."""
    return forms.get(headers.get(b"Content-Type", b"").partition(b";")[0].strip().lower())
