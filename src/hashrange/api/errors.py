"""The errors the service answers with, and what every other error means to a client."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hashrange.api.keys.wording import unusable
from hashrange.core.errors import Expected, Refused
from hashrange.core.schema import KeyState, Table
from hashrange.storage.errors import Conflict, Corrupt, KeyUnusable

if TYPE_CHECKING:
    from hashrange.api.results import Charge
    from hashrange.api.throttling.refusals import Refusal


class ApiError(Expected):
    """An answer that is an error: code, message and the extra members some errors carry.

    Like a result it can say what it cost, and for want of which capacity items were refused.
    """

    charges: "Sequence[Charge]" = ()
    refusals: "Sequence[Refusal]" = ()

    def __init__(
        self, code: str, message: str | None, *, status: int = 400, fields: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.status = status
        self.fields = fields or {}


def validation(message: str) -> ApiError:
    """ValidationException."""
    return ApiError("ValidationException", message)


def serialization(message: str | None) -> ApiError:
    """SerializationException: the JSON does not have the operation's shape."""
    return ApiError("SerializationException", message)


def not_found(message: str = "Requested resource not found") -> ApiError:
    """ResourceNotFoundException."""
    return ApiError("ResourceNotFoundException", message)


def table_not_found(name: str) -> ApiError:
    """ResourceNotFoundException as the table operations word it."""
    return not_found(f"Requested resource not found: Table: {name} not found")


def in_use(message: str) -> ApiError:
    """ResourceInUseException."""
    return ApiError("ResourceInUseException", message)


def limit_exceeded(message: str) -> ApiError:
    """LimitExceededException."""
    return ApiError("LimitExceededException", message)


def too_large() -> ApiError:
    """The body is larger than it may be."""
    return ApiError("RequestEntityTooLargeException", "Request body is too large", status=413)


def too_many_values() -> ApiError:
    """The body has more values than one request may have."""
    return ApiError("RequestEntityTooLargeException", "Request body has too many values", status=413)


def condition_failed(item: object = None) -> ApiError:
    """ConditionalCheckFailedException, with the stored item when it was asked for."""
    fields = {} if item is None else {"Item": item}
    return ApiError("ConditionalCheckFailedException", "The conditional request failed", fields=fields)


def charged(error: ApiError, charge: "Charge") -> ApiError:
    """An error with what the request cost all the same."""
    error.charges = (charge,)
    return error


INTERNAL = ApiError("InternalServerError", "Internal server error", status=500)
DAMAGED = ApiError("InternalServerError", "Stored data is damaged; the server's log says which", status=500)
_CONFLICT = ApiError("TransactionConflictException", "Transaction is ongoing for the item")


def inaccessible(table: Table) -> ApiError:
    """ValidationException: the key of a table cannot be used."""
    state = "missing" if table.inaccessible is None else table.inaccessible.state
    return unusable_key(table.sse_key or "", state)


def unusable_key(key_arn: str, state: KeyState) -> ApiError:
    """ValidationException, or AccessDeniedException: a key cannot be used."""
    message = unusable(key_arn, state)
    return ApiError("AccessDeniedException", message) if state == "denied" else validation(message)


def refuse_inaccessible(table: Table) -> None:
    """Refuse what cannot be done to a table whose key cannot be used."""
    if table.inaccessible is not None:
        raise inaccessible(table)


def as_api_error(error: BaseException) -> ApiError:
    """The one place where the errors of inner rooms get the service's code and status."""
    match error:
        case ApiError():
            return error
        case Refused():
            return validation(error.message)
        case Conflict():
            return _CONFLICT
        case Corrupt():
            return DAMAGED
        case KeyUnusable():
            return unusable_key(error.key_arn, error.state)
        case _:
            return INTERNAL
