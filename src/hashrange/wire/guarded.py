"""Paths of our own: whoever asks must have signed the request, as for any operation."""

from hashrange.api.errors import ApiError
from hashrange.wire import errors
from hashrange.wire.identity import Callers, Unidentified
from hashrange.wire.interfaces import Exchange
from hashrange.wire.json_endpoint import DEFAULT_FORM
from hashrange.wire.router import Endpoint

_FORBIDDEN = 403
SIGNING_NAME = "hashrange"  # what a signature for these paths is made for


class Guarded:
    """An endpoint behind a signature."""

    def __init__(self, endpoint: Endpoint, callers: Callers) -> None:
        self._endpoint = endpoint
        self._callers = callers

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request if it is signed."""
        try:
            self._callers.identify(exchange, SIGNING_NAME)
        except Unidentified as error:
            shown = ApiError(error.code, error.message, status=_FORBIDDEN)
            head, body = errors.render(shown, DEFAULT_FORM, request_id)
            exchange.send(head, b"" if exchange.method == b"HEAD" else body)
            return
        self._endpoint.handle(exchange, request_id)
