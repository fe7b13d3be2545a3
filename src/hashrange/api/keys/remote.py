"""Keys of another key service (`--kms-endpoint`): a step that needs one says so, and is run again once it is made.

That service knows the server and not its callers, so the callers' own policies decide which keys they may name.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.keys import permitted, wording
from hashrange.api.keys.permitted import EncryptedTable
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.permissions.key_policies import KeyAsked
from hashrange.api.permissions.targets import spelt
from hashrange.kms.table_key import SealedKey
from hashrange.remote_keys.client import KmsFailed
from hashrange.remote_keys.new_keys import KeyWish


class TableKeyNeeded(ApiError):
    """The key service has to make a key first; the error is for those who cannot wait for that."""

    def __init__(self, wish: KeyWish) -> None:
        super().__init__("ValidationException", wording.unusable(wish.name, "unreachable"))
        self.wish = wish


def table_key(context: Context, table: EncryptedTable, name: str) -> SealedKey:
    """The key that was made for this request; raises `TableKeyNeeded` if there is none yet."""
    if table.account_id != context.account_id:
        # Nothing here says which keys may be given to tables of another account.
        raise ApiError("AccessDeniedException", wording.foreign(context.caller().arn))
    made = context.table_key
    if made is None or made.name != name or made.sealed.table_name != table.name:
        raise TableKeyNeeded(KeyWish(name, *table))
    with told_as_denied():
        permitted.require_for_table(context, table, _about(name, made.sealed.key_arn))
    return made.sealed


def _about(name: str, key_arn: str) -> KeyAsked:
    """A key of the other service; a refusal names it as the caller did."""
    return KeyAsked(key_arn, shown=spelt(name))


def refusal(context: Context, wish: KeyWish, failure: KmsFailed) -> ApiError:
    """What a caller is told of a key that cannot be used: nothing, if they may not ask for it."""
    try:
        with told_as_denied():
            if failure.key_arn:
                table = EncryptedTable(wish.table_name, wish.account_id)
                permitted.require_for_table(context, table, _about(wish.name, failure.key_arn))
            else:
                permitted.require_remote_name(context, wish.name)
    except ApiError as denied:
        return denied
    match failure.state:
        case "denied":
            # The service's words would name the server's own identity there.
            return ApiError("AccessDeniedException", wording.foreign(context.caller().arn))
        case "missing":
            return errors.validation(wording.missing(failure.reason))
        case "disabled" | "pending" | "unreachable" | "unfit":
            return errors.validation(wording.unusable(failure.key_arn or wish.name, failure.state))


def too_many() -> ApiError:
    """ThrottlingException: others wait for the key service already."""
    return ApiError("ThrottlingException", "Rate exceeded")


@contextmanager
def told_as_denied() -> Iterator[None]:
    """Have a denial in the words of a service that has asked the key service on somebody's behalf."""
    try:
        yield
    except AccessDenied as denied:
        message = wording.denied(str(denied.message))
        raise AccessDenied(denied.asked, denied.decision, denied.rules, message=message) from None
