"""Paths of our own: whoever asks must have signed the request, as for any operation, and be allowed to."""

from typing import NamedTuple, Protocol, runtime_checkable

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.permissions import guard
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.permissions.needs import Need
from hashrange.audit.events import Origin
from hashrange.chain.audit import Audit
from hashrange.core import accounts
from hashrange.wire import errors
from hashrange.wire.identity import Callers, Unidentified
from hashrange.wire.interfaces import Exchange
from hashrange.wire.json_endpoint import DEFAULT_FORM
from hashrange.wire.noted_pages import SIGNING_NAME, noting
from hashrange.wire.origins import claiming_origin
from hashrange.wire.router import Endpoint

_FORBIDDEN = 403


class Page(NamedTuple):
    """A page of our own: what policies call it, and whether they are asked."""

    action: str
    asks: bool


@runtime_checkable
class AccountEndpoint(Protocol):
    """An endpoint that shows every account its own."""

    def resource(self, account_id: str, exchange: Exchange) -> str:
        """What a request of an account is about, as policies name it: an ARN, or * if it names nothing."""

    def handle_for(self, account_id: str, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request of an account."""


class Guarded:
    """An endpoint behind a signature, and behind a permission if there is an action to be allowed."""

    def __init__(self, endpoint: Endpoint, callers: Callers, page: Page, audit: Audit | None = None) -> None:
        self._endpoint = endpoint
        self._callers = callers
        self._page = page
        self._audit = audit

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request if it is signed and allowed."""
        origin = claiming_origin(exchange, request_id)
        context: Context | None = None
        try:
            context = self._callers.identify(exchange, SIGNING_NAME)
            if self._page.asks:
                _permit(context, self._need(context, exchange), origin)
        except (Unidentified, AccessDenied) as error:
            shown = ApiError(error.code, error.message, status=_FORBIDDEN)
            head, body = errors.render(shown, DEFAULT_FORM, request_id)
            exchange.send(head, b"" if exchange.method == b"HEAD" else body)
            if self._audit is not None:
                self._audit.refused(self._page.action, origin, context, error)
            return
        if self._audit is not None:
            exchange = noting(exchange, self._audit, self._page.action, origin, context)
        if isinstance(self._endpoint, AccountEndpoint):
            self._endpoint.handle_for(context.account_id, exchange, request_id)
        else:
            self._endpoint.handle(exchange, request_id)

    def _need(self, context: Context, exchange: Exchange) -> Need:
        action = self._page.action
        if isinstance(self._endpoint, AccountEndpoint):
            resource = self._endpoint.resource(context.account_id, exchange)
            return Need(action, resource, account_id=context.account_id)
        # What is no account's own, such as metrics and the clock, is the server's.
        return Need(action, "*", account_id=accounts.OWN)


def _permit(context: Context, need: Need, origin: Origin) -> None:
    here = guard.coming_from(context, lambda: origin)
    denied = guard.refused(here, here.caller(), need)
    if denied is not None:
        raise denied
