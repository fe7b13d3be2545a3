"""From a request to its operation, and from the operation's plan to the answer."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from hashrange import ids
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.plan import Plan, Read, Write
from hashrange.storage.engine import Engine
from hashrange.storage.errors import ReadTimeout
from hashrange.storage.follower import Follower
from hashrange.wire import codec, errors, plain, sigv4
from hashrange.wire.codec import Form
from hashrange.wire.http import Exchange
from hashrange.wire.remote import Remote, Request

_TARGET_PREFIX = b"DynamoDB_20120810."
_SIGNATURE = b"Signature="
_CALLERS_MAX = 4096  # after so many different credential scopes the cache starts anew
_TYPES = (codec.JSON_1_0, b"application/x-amz-json-1.1", b"application/json")
_FORMS = {kind: Form(kind) for kind in _TYPES}
_FORMS_CORS = {kind: Form(kind, cors=True) for kind in _TYPES}
# A scan that goes on longer than this gets a thread, so that the other clients do not wait for it.
_READ_SECONDS = 0.005
_DEFAULT_FORM = _FORMS[codec.JSON_1_0]


class Operation(Protocol):
    """An operation as the registry holds it."""

    def plan(self, context: Context, request: dict[str, Any]) -> Plan:
        """Check the request and say what is to be done."""


class Dispatcher:
    """Answers requests: reads run here and now, writes are answered when their commit is on disk."""

    def __init__(
        self,
        *,
        operations: Mapping[str, Operation],
        engine: Engine,
        context_for: Callable[[sigv4.Identity], Context],
        region: str,
        body_bytes_max: int,
        follower: Follower | None = None,
    ) -> None:
        self._operations = {_TARGET_PREFIX + name.encode(): found for name, found in operations.items()}
        self._engine = engine
        self._read = partial(engine.read, seconds=_READ_SECONDS)
        # An engine that waits for a network is never asked on this thread.
        self._remote = None if follower is None else Remote(engine, follower)
        self._context_for = context_for
        self._region = region
        self._body_bytes_max = body_bytes_max
        self._contexts: dict[sigv4.Identity, Context] = {}
        self._request_ids = ids.request_ids()

    def handle(self, exchange: Exchange) -> None:
        """Answer a request, in the service's order: transport, JSON, target, signature, operation."""
        headers = exchange.headers
        request_id = next(self._request_ids)
        form = (_FORMS_CORS if b"Origin" in headers else _FORMS).get(headers.get(b"Content-Type", b""))
        if form is None or exchange.method != b"POST":
            form = _unusual_form(headers)
            if form is None or exchange.method != b"POST":
                exchange.send(*plain.answer(exchange, self._region, request_id))
                return
        try:
            body = exchange.body
            if b"Content-Encoding" in headers:
                body = self._unpacked(headers, body)
            members = codec.decode(body)
            operation = self._operations.get(headers.get(b"X-Amz-Target", b""))
            if operation is None:
                raise ApiError("UnknownOperationException", None)  # noqa: TRY301 - all errors leave below
            if self._remote is not None:
                caller = self._caller(exchange)
                self._remote.begin(
                    Request(exchange, form, request_id, operation, caller, bytes(body)), members
                )
                return
            plan = operation.plan(self._caller(exchange), members)
            if isinstance(plan, Write):
                done = partial(self._done, exchange, form, request_id, plan.after)
                self._engine.submit(plan.step, done)
                return
            if isinstance(plan, Read):
                try:
                    answer = self._read(plan.step)
                except ReadTimeout:
                    self._engine.submit_read(plan.step, partial(self._done, exchange, form, request_id, None))
                    return
            else:
                answer = plan.body
        except Exception as error:  # noqa: BLE001 - the one place where errors become answers
            exchange.send(*errors.render(error, form, request_id))
        else:
            exchange.send(form.ok(request_id, answer), answer)

    def refuse(self, status: int) -> tuple[bytes, bytes]:
        """Answer a request that HTTP itself rules out."""
        return errors.render(errors.refusal(status), _DEFAULT_FORM, next(self._request_ids))

    def _done(
        self,
        exchange: Exchange,
        form: Form,
        request_id: bytes,
        after: Callable[[], object] | None,
        answer: bytes | None,
        error: BaseException | None,
    ) -> None:
        """Answer a write, now that it is on disk."""
        try:
            if error is not None:
                raise error  # noqa: TRY301 - one way out for both kinds of error
            if after is not None:
                after()
            body = answer or b""
        except Exception as problem:  # noqa: BLE001 - the one place where errors become answers
            exchange.send(*errors.render(problem, form, request_id))
        else:
            exchange.send(form.ok(request_id, body), body)

    def _unpacked(self, headers: Mapping[bytes, bytes], body: bytes | bytearray) -> bytes | bytearray:
        match headers[b"Content-Encoding"].lower():
            case b"gzip":
                return codec.gunzip(body, self._body_bytes_max)
            case b"identity" | b"":
                return body
            case _:
                raise ApiError("SerializationException", None)

    def _caller(self, exchange: Exchange) -> Context:
        """Find who asks by what comes before the signature; a client's requests mostly have that in common."""
        headers = exchange.headers
        authorization = headers.get(b"Authorization", b"")
        memory = exchange.memory
        if (
            memory is not None
            and authorization.startswith(memory[0])
            and len(authorization) > len(memory[0])
            and b"X-Amz-Date" in headers
            and exchange.url == b"/"
        ):
            context: Context = memory[1]
            return context
        identity = sigv4.identify(headers, exchange.url)
        context = self._contexts.get(identity) or self._new_context(identity)
        scope, name, _ = authorization.rpartition(_SIGNATURE)
        if name:
            exchange.memory = scope + name, context
        return context

    def _new_context(self, identity: sigv4.Identity) -> Context:
        if len(self._contexts) >= _CALLERS_MAX:
            self._contexts.clear()
        context = self._contexts[identity] = self._context_for(identity)
        return context


def _unusual_form(headers: Mapping[bytes, bytes]) -> Form | None:
    """Find the form for a content type that is spelled with parameters or capitals."""
    kind = headers.get(b"Content-Type", b"").partition(b";")[0].strip().lower()
    return (_FORMS_CORS if b"Origin" in headers else _FORMS).get(kind)
