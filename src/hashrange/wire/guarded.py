"""Paths of our own: whoever asks must have signed the request, as for any operation, and be allowed to."""

from typing import Protocol, runtime_checkable

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.permissions import guard
from hashrange.api.permissions.needs import Need
from hashrange.wire import errors
from hashrange.wire.identity import Callers, Unidentified
from hashrange.wire.interfaces import Exchange
from hashrange.wire.json_endpoint import DEFAULT_FORM
from hashrange.wire.origins import origin_of
from hashrange.wire.router import Endpoint

_FORBIDDEN = 403
SIGNING_NAME = "hashrange"  # what a signature for these paths is made for


@runtime_checkable
class AccountEndpoint(Protocol):
    """An endpoint that shows every account its own."""

    def handle_for(self, account_id: str, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request of an account."""


class Guarded:
    """An endpoint behind a signature, and behind a permission if there is an action to be allowed."""

    def __init__(self, endpoint: Endpoint, callers: Callers, action: str | None = None) -> None:
        self._endpoint = endpoint
        self._callers = callers
        self._action = action

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request if it is signed and allowed."""
        try:
            context = self._callers.identify(exchange, SIGNING_NAME)
            if self._action is not None:
                _permit(context, self._action, exchange, request_id)
        except (Unidentified, guard.AccessDenied) as error:
            shown = ApiError(error.code, error.message, status=_FORBIDDEN)
            head, body = errors.render(shown, DEFAULT_FORM, request_id)
            exchange.send(head, b"" if exchange.method == b"HEAD" else body)
            return
        if isinstance(self._endpoint, AccountEndpoint):
            self._endpoint.handle_for(context.account_id, exchange, request_id)
        else:
            self._endpoint.handle(exchange, request_id)


def _permit(context: Context, action: str, exchange: Exchange, request_id: bytes) -> None:
    need = Need(action, "*")
    here = guard.coming_from(context, origin_of(exchange, request_id))
    denied = guard.refused(here, here.caller(), need)
    if denied is not None:
        raise denied
