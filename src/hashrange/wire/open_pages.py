"""Pages that anybody may read without a signature: only under a name that no stranger can point here."""

from hashrange.wire import errors
from hashrange.wire.browsers import BrowserRules
from hashrange.wire.interfaces import Exchange
from hashrange.wire.json_endpoint import DEFAULT_FORM
from hashrange.wire.router import Endpoint


class OpenPage:
    """An endpoint behind the Host rule, also where the server listens beyond loopback."""

    def __init__(self, endpoint: Endpoint, rules: BrowserRules) -> None:
        self._endpoint = endpoint
        self._rules = rules

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request unless a web page may have sent it."""
        refusal = self._rules.page_refusal(exchange.headers)
        if refusal is None:
            self._endpoint.handle(exchange, request_id)
            return
        head, body = errors.render(refusal, DEFAULT_FORM, request_id)
        exchange.send(head, b"" if exchange.method == b"HEAD" else body)
