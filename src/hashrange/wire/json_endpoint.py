"""AWS's JSON protocol: a target header names the operation, the body is its request, the answer is JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from zlib_ng.zlib_ng import crc32

from hashrange import logs
from hashrange.api.errors import ApiError, as_api_error
from hashrange.api.protocol.operation import UNDECODED, Operation, Service
from hashrange.api.results import Result
from hashrange.chain.executor import Call, read_object
from hashrange.chain.links import Runner
from hashrange.wire import codec, compression, errors, outages
from hashrange.wire.answers import Renderer, described
from hashrange.wire.codec import Form
from hashrange.wire.identity import Callers
from hashrange.wire.interfaces import Exchange
from hashrange.wire.renderers import RENDERERS

_TYPES = (codec.JSON_1_0, b"application/x-amz-json-1.1", b"application/json")
_FORMS = {kind: Form(kind) for kind in _TYPES}
_FORMS_CORS = {kind: Form(kind, cors=True) for kind in _TYPES}
DEFAULT_FORM = _FORMS[codec.JSON_1_0]

log = logs.Log("requests")


class _Target:
    """An operation as its target header finds it."""

    __slots__ = ("namespace", "operation", "render")

    def __init__(self, operation: Operation[Any], service: Service) -> None:
        self.operation = operation
        self.namespace = service.error_namespace
        self.render: Renderer = RENDERERS.get(operation.name, described)


class _JsonCall(Call, gc=False):
    """A call that came over HTTP, and where its answer goes."""

    exchange: Exchange
    form: Form
    request_id: bytes
    target: _Target

    def answer(self, result: Result | None, error: BaseException | None) -> None:
        """Render the outcome and send it."""
        try:
            if error is not None:
                raise error  # noqa: TRY301 - one way out for both kinds of error
            body = self.target.render(self.request, result)
        except Exception as problem:  # noqa: BLE001 - the one place where errors become answers
            target = self.target
            self.exchange.send(
                *errors.render(problem, self.form, self.request_id, target.namespace, target.operation.name)
            )
        else:
            if outages.ongoing and self.target.operation.name in outages.ongoing:
                outages.end(self.target.operation.name)
            head = codec.OK_HEAD % (self.form.ok, self.request_id, crc32(body), len(body))
            self.exchange.send(head, body)


class JsonEndpoint:
    """Turns requests into calls, for any number of services, and their outcomes into answers."""

    def __init__(
        self, services: Sequence[Service], run: Runner, callers: Callers, *, body_bytes_max: int
    ) -> None:
        self._targets = {
            (service.target_prefix + name).encode(): _Target(operation, service)
            for service in services
            for name, operation in service.operations.items()
        }
        self._run = run
        self._identify = callers.identify
        self._body_bytes_max = body_bytes_max

    def handle(self, exchange: Exchange, request_id: bytes) -> bool:
        """Answer a request, in the service's order: transport, JSON, target, signature, operation.

        Gives False if it speaks another protocol, and is left to others.
        """
        headers, body = exchange.headers, exchange.body
        forms = _FORMS_CORS if b"Origin" in headers else _FORMS
        form = forms.get(headers.get(b"Content-Type", b"")) or _unusual_form(forms, headers)
        if form is None:
            return False
        try:
            if b"Content-Encoding" in headers:
                body = self._unpacked(headers, body)
            target = self._targets.get(headers.get(b"X-Amz-Target", b""))
            if target is None:
                read_object(body)
                raise ApiError("UnknownOperationException", None)  # noqa: TRY301 - all errors leave below
            operation = target.operation
            try:
                request = operation.decode(body)
            except UNDECODED:
                read_object(body)
                request = None
            context = self._identify(exchange)
            call = _JsonCall(operation, context, request, body, exchange, form, request_id, target)
        except Exception as error:  # noqa: BLE001 - what never became a call is answered here
            self._refuse(exchange, form, request_id, error)
            return True
        self._run(call, call.answer)
        return True

    def _refuse(self, exchange: Exchange, form: Form, request_id: bytes, error: BaseException) -> None:
        answer = as_api_error(error)
        target = exchange.headers.get(b"X-Amz-Target", b"").rpartition(b".")[2].decode("latin-1")
        log.debug("request.answered", operation=target, status=answer.status, error=answer.code)
        exchange.send(*errors.render(error, form, request_id))

    def _unpacked(self, headers: Mapping[bytes, bytes], body: bytes | bytearray) -> bytes | bytearray:
        return compression.unpacked(headers[b"Content-Encoding"], body, self._body_bytes_max)


def _unusual_form(forms: Mapping[bytes, Form], headers: Mapping[bytes, bytes]) -> Form | None:
    """The form for a content type that is spelled with parameters or capitals."""
    return forms.get(headers.get(b"Content-Type", b"").partition(b";")[0].strip().lower())
