"""Smithy's RPC protocol with CBOR: the path names service and operation, request and answer are CBOR."""

import re
from collections.abc import Iterable
from typing import Any

from zlib_ng.zlib_ng import crc32

from hashrange.api.errors import ApiError
from hashrange.api.protocol.kinds import Member
from hashrange.api.protocol.operation import Service
from hashrange.wire import cbor, errors, plain
from hashrange.wire.interfaces import Exchange
from hashrange.wire.rpc_call import Asked, RpcRunner, find

PATH = b"/service/"
_PATH = re.compile(rb"/service/([A-Za-z0-9_.]{1,64})/operation/([A-Za-z0-9_]{1,64})")
_PROTOCOL = b"rpc-v2-cbor"
_TYPE = b"Content-Type: application/cbor\r\n"


class CborEndpoint:
    """Answers requests to paths of services, each of which is named by its target prefix."""

    def __init__(self, services: Iterable[Service], runner: RpcRunner) -> None:
        self._services = {service.target_prefix.removesuffix(".").encode(): service for service in services}
        self._runner = runner

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request that says that it speaks this protocol."""
        match = _PATH.fullmatch(exchange.url.partition(b"?")[0])
        service = None if match is None else self._services.get(match[1])
        speaks = exchange.method == b"POST" and exchange.headers.get(b"Smithy-Protocol") == _PROTOCOL
        if match is None or service is None or not speaks:
            plain.not_found(exchange, request_id)
            return
        dialect = _CborDialect(service, match[2].decode())
        self._runner.handle(exchange, request_id, dialect, bytes(exchange.body))


class _CborDialect:
    def __init__(self, service: Service, name: str) -> None:
        self.service = service
        self._name = name

    def read(self, body: bytes) -> Asked:
        operation = find(self.service, self._name)
        return Asked(operation, cbor.loads(body) if body else {})

    def answered(
        self, operation: str, content: dict[str, Any] | None, members: dict[str, Member], request_id: bytes
    ) -> tuple[bytes, bytes]:
        """Without an output in the model there is neither a body nor its type."""
        if content is None:
            return _head(b"200 OK", request_id, b"", b""), b""
        body = cbor.dumps(content, members)
        return _head(b"200 OK", request_id, body, _TYPE), body

    def failed(self, error: ApiError, request_id: bytes) -> tuple[bytes, bytes]:
        body = cbor.plain(
            {"__type": self.service.error_namespace + error.code, "message": error.message or ""}
        )
        query = self.service.query
        line = b"" if query is None else errors.query_error_line(error, query)
        return _head(errors.status_line(error), request_id, body, _TYPE + line), body


def _head(status: bytes, request_id: bytes, body: bytes, lines: bytes) -> bytes:
    return (
        b"HTTP/1.1 %b\r\nsmithy-protocol: rpc-v2-cbor\r\n%bx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n"
        b"Content-Length: %d\r\n" % (status, lines, request_id, crc32(body), len(body))
    )
