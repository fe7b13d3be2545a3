"""Every error answer is made here: type prefix, member casing, status and headers."""

import json
from http import HTTPStatus

import orjson

from hashrange import logs
from hashrange.api.errors import DAMAGED, INTERNAL, ApiError, as_api_error
from hashrange.api.protocol.operation import QueryProtocol
from hashrange.storage.errors import StorageError
from hashrange.wire import outages
from hashrange.wire.codec import Form

DYNAMODB_NAMESPACE = "com.amazonaws.dynamodb.v20120810#"
_PREFIXES = {
    "ThrottlingException": "com.amazon.coral.availability#",
    "ValidationException": "com.amazon.coral.validate#",
    **dict.fromkeys(
        (
            "AccessDeniedException",
            "ExpiredTokenException",
            "IncompleteSignatureException",
            "InternalFailure",
            "InvalidSignatureException",
            "MissingAuthenticationTokenException",
            "RequestEntityTooLargeException",
            "SerializationException",
            "ServiceUnavailableException",
            "UnknownOperationException",
            "UnrecognizedClientException",
        ),
        "com.amazon.coral.service#",
    ),
}
# These spell the member with a capital in recordings of the service; all others do not.
_CAPITAL_MESSAGE = frozenset(
    {
        "AccessDeniedException",
        "IdempotentParameterMismatchException",
        "SerializationException",
        "TransactionCanceledException",
        "TransactionInProgressException",
    }
)
# What the layer that all services share calls its errors in the query protocol (API reference: Common Errors).
_QUERY_CODES = {
    "AccessDeniedException": "AccessDenied",
    "ExpiredTokenException": "ExpiredToken",
    "IncompleteSignatureException": "IncompleteSignature",
    "InternalServerError": "InternalFailure",
    "InvalidSignatureException": "SignatureDoesNotMatch",
    "MissingAuthenticationTokenException": "MissingAuthenticationToken",
    "RequestEntityTooLargeException": "RequestEntityTooLarge",
    "SerializationException": "MalformedInput",
    "ServiceUnavailableException": "ServiceUnavailable",
    "ThrottlingException": "Throttling",
    "UnknownOperationException": "InvalidAction",
    "UnrecognizedClientException": "InvalidClientTokenId",
    "ValidationException": "ValidationError",
}
log = logs.Log("wire")


def render(
    error: BaseException,
    form: Form,
    request_id: bytes,
    namespace: str = DYNAMODB_NAMESPACE,
    operation: str = "",
    table: str = "",
    query: QueryProtocol | None = None,
) -> tuple[bytes, bytes]:
    """Give head and body of the answer to a request that failed; `namespace` is that of the service's own errors."""
    answer = told(error, request_id, operation, table)
    body = _body(answer, namespace)
    lines = b"" if query is None else query_error_line(answer, query)
    head = form.failed(status_line(answer), answer.code.encode("latin-1"), request_id, body, lines)
    return head, body


def told(error: BaseException, request_id: bytes, operation: str = "", table: str = "") -> ApiError:
    """What a client is told of an error; the log is told of those that are the server's own fault."""
    answer = as_api_error(error)
    if answer is INTERNAL or answer is DAMAGED:
        if isinstance(error, StorageError):
            outages.log_failure(operation, error, table)
        else:
            log.error("request.failed", error=error, request_id=request_id.decode())
    return answer


def status_line(answer: ApiError) -> bytes:
    """Number and phrase of the status."""
    status = HTTPStatus(answer.status)
    return f"{status.value} {status.phrase}".encode()


def query_code(answer: ApiError, query: QueryProtocol) -> str:
    """The code of an error in the query protocol."""
    return query.codes.get(answer.code) or _QUERY_CODES.get(answer.code, answer.code)


def fault(answer: ApiError) -> str:
    """Whose fault an error is, in the words of the query protocol."""
    return "Sender" if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR else "Receiver"


def query_error_line(answer: ApiError, query: QueryProtocol) -> bytes:
    """The header by which clients of newer protocols find the code that the query protocol has for an error."""
    return f"x-amzn-query-error: {query_code(answer, query)};{fault(answer)}\r\n".encode("latin-1")


def _body(error: ApiError, namespace: str) -> bytes:
    # Services without a namespace, such as Application Auto Scaling, give bare types, and a capital to the message.
    prefix = _PREFIXES.get(error.code, namespace) if namespace else ""
    members: dict[str, object] = {"__type": prefix + error.code}
    if error.message is not None:
        # A failed condition has a capital only where the item stands beside the message (measured).
        capital = error.code in _CAPITAL_MESSAGE or "Item" in error.fields or not namespace
        members["Message" if capital else "message"] = error.message
    members.update(error.fields)
    try:
        return orjson.dumps(members)
    except TypeError:
        # The message shows half of a character, which only an escape can: see core/expressions/lexer.py.
        return json.dumps(members).encode()
