"""Every error answer is made here: type prefix, member casing, status and headers."""

import json
from http import HTTPStatus

import orjson

from hashrange import logs
from hashrange.api.errors import DAMAGED, INTERNAL, ApiError, as_api_error
from hashrange.storage.errors import StorageError
from hashrange.wire import outages
from hashrange.wire.codec import Form

DYNAMODB_NAMESPACE = "com.amazonaws.dynamodb.v20120810#"
_PREFIXES = {
    "ValidationException": "com.amazon.coral.validate#",
    **dict.fromkeys(
        (
            "AccessDeniedException",
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
log = logs.Log("wire")


def render(
    error: BaseException,
    form: Form,
    request_id: bytes,
    namespace: str = DYNAMODB_NAMESPACE,
    operation: str = "",
    table: str = "",
) -> tuple[bytes, bytes]:
    """Give head and body of the answer to a request that failed; `namespace` is that of the service's own errors."""
    answer = as_api_error(error)
    if answer is INTERNAL or answer is DAMAGED:
        if isinstance(error, StorageError):
            outages.log_failure(operation, error, table)
        else:
            log.error("request.failed", error=error, request_id=request_id.decode())
    body = _body(answer, namespace)
    status = HTTPStatus(answer.status)
    head = form.failed(
        f"{status.value} {status.phrase}".encode(), answer.code.encode("latin-1"), request_id, body
    )
    return head, body


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
