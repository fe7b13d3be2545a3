"""AWS's query protocol: a form names the operation and its members, the answer is XML."""

from collections.abc import Callable, Iterable
from typing import Any

from zlib_ng.zlib_ng import crc32

from hashrange.api.errors import ApiError
from hashrange.api.protocol.kinds import Member
from hashrange.api.protocol.operation import QueryProtocol, Service
from hashrange.wire import errors, query_form, xml_answers
from hashrange.wire.interfaces import Exchange
from hashrange.wire.rpc_call import Asked, RpcRunner, find

_ACTION_CHARS_MAX = 64
_OK = b"200 OK"
# The older protocol has statuses of its own for these (API reference: Common Errors).
_STATUSES = dict.fromkeys(
    (
        "AccessDeniedException",
        "ExpiredTokenException",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    ),
    403,
)


class QueryEndpoint:
    """Answers the forms of one service."""

    def __init__(self, service: Service, query: QueryProtocol, runner: RpcRunner) -> None:
        self._service, self._query = service, query
        self._dialect = _QueryDialect(service, query)
        self._runner = runner

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer the form in a body or, as presigned URLs have it, in the query of a GET."""
        dialect = self._dialect
        if exchange.method == b"GET":
            dialect = _UrlDialect(self._service, self._query, exchange.url.partition(b"?")[2])
        self._runner.handle(exchange, request_id, dialect, bytes(exchange.body))


class LateQueryEndpoint:
    """Answers the forms of a service that is imported with the first of them; that one waits for it, once."""

    def __init__(self, load: Callable[[], Service], runner: RpcRunner) -> None:
        self._load = load
        self._runner = runner
        self._endpoint: QueryEndpoint | None = None

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a form."""
        if self._endpoint is None:
            service = self._load()
            self._endpoint = next(iter(query_endpoints((service,), self._runner).values()))
        self._endpoint.handle(exchange, request_id)


def query_endpoints(services: Iterable[Service], runner: RpcRunner) -> dict[str, QueryEndpoint]:
    """The endpoints of services by the versions in their forms, and by the names that signatures are made for."""
    endpoints = {}
    for service in services:
        if service.query is not None:
            endpoint = QueryEndpoint(service, service.query, runner)
            endpoints[service.query.version] = endpoints[service.signing_name] = endpoint
    return endpoints


class _QueryDialect:
    def __init__(self, service: Service, query: QueryProtocol) -> None:
        self.service = service
        self._query = query

    def read(self, body: bytes) -> Asked:
        form = query_form.fields(body)
        name = form.get("Action", "")[:_ACTION_CHARS_MAX]
        if form.get("Version") != self._query.version:
            version = form.get("Version", "NO_VERSION_SPECIFIED")[:_ACTION_CHARS_MAX]
            message = f"Could not find operation {name} for version {version}"
            raise ApiError("UnknownOperationException", message)
        operation = find(self.service, name)
        return Asked(operation, query_form.request(form, operation.shape.members))

    def answered(
        self, operation: str, content: dict[str, Any] | None, members: dict[str, Member], request_id: bytes
    ) -> tuple[bytes, bytes]:
        body = xml_answers.answered(operation, self._query, content, members, request_id.decode())
        return _head(_OK, request_id, body), body

    def failed(self, error: ApiError, request_id: bytes) -> tuple[bytes, bytes]:
        body = xml_answers.failed(error, self._query, request_id.decode())
        status = _STATUSES.get(error.code)
        shown = error if status is None else ApiError(error.code, error.message, status=status)
        return _head(errors.status_line(shown), request_id, body), body


class _UrlDialect(_QueryDialect):
    """The form is in the URL, beside the signature."""

    def __init__(self, service: Service, query: QueryProtocol, form: bytes) -> None:
        super().__init__(service, query)
        self._form = form

    def read(self, _body: bytes) -> Asked:
        return super().read(self._form)


def _head(status: bytes, request_id: bytes, body: bytes) -> bytes:
    return (
        b"HTTP/1.1 %b\r\nContent-Type: text/xml\r\nx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n"
        b"Content-Length: %d\r\n" % (status, request_id, crc32(body), len(body))
    )
