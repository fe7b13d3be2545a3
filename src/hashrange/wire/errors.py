"""Every error answer is made here: type prefix, member casing, status and headers."""

from http import HTTPStatus
from typing import Any

import orjson

from hashrange import logs
from hashrange.api.errors import ApiError
from hashrange.core.errors import Refused
from hashrange.storage.errors import Conflict, StorageError
from hashrange.wire.codec import Form, TooLarge

_SERVICE_PREFIX = "com.amazonaws.dynamodb.v20120810#"
_PREFIXES = {
    "ValidationException": "com.amazon.coral.validate#",
    **dict.fromkeys(
        (
            "AccessDeniedException",
            "IncompleteSignatureException",
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
_INTERNAL = ApiError("InternalServerError", "Internal server error", status=500)
_CONFLICT = ApiError("TransactionConflictException", "Transaction is ongoing for the item")
_TOO_LARGE = ApiError("RequestEntityTooLargeException", "Request body is too large", status=413)
_REFUSALS = {
    400: ApiError("BadRequestException", "The request is not valid HTTP"),
    408: ApiError("RequestTimeoutException", "The request took too long to arrive", status=408),
    413: _TOO_LARGE,
    417: ApiError("ExpectationFailedException", "The expectation cannot be met", status=417),
    431: ApiError("RequestHeaderFieldsTooLargeException", "Request headers are too large", status=431),
    500: _INTERNAL,
    503: ApiError("ServiceUnavailableException", "The server is too busy", status=503),
}

log = logs.Log("wire")


def render(error: BaseException, form: Form, request_id: bytes) -> tuple[bytes, bytes]:
    """Give head and body of the answer to a request that failed."""
    answer = _answer(error, request_id)
    body = _body(answer)
    status = HTTPStatus(answer.status)
    head = form.failed(
        f"{status.value} {status.phrase}".encode(), answer.code.encode("latin-1"), request_id, body
    )
    return head, body


def refusal(status: int) -> ApiError:
    """Give the error for a request that HTTP itself rules out."""
    return _REFUSALS[status]


def _answer(error: BaseException, request_id: bytes) -> ApiError:
    match error:
        case ApiError():
            return error
        case Refused():
            return ApiError("ValidationException", error.message)
        case TooLarge():
            return _TOO_LARGE
        case Conflict():
            return _CONFLICT
        case StorageError():
            log.error("storage.failed", error=error, request_id=request_id.decode())
        case _:
            log.error("request.failed", error=error, request_id=request_id.decode())
    return _INTERNAL


def _body(error: ApiError) -> bytes:
    members: dict[str, Any] = {"__type": _PREFIXES.get(error.code, _SERVICE_PREFIX) + error.code}
    if error.message is not None:
        members["Message" if error.code in _CAPITAL_MESSAGE else "message"] = error.message
    members.update(error.fields)
    return orjson.dumps(members)
