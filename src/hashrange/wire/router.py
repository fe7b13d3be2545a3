"""Which protocol a request speaks: AWS's JSON with a target header, its query protocol, or a path of its own.

Several services share the endpoint. One that speaks JSON is a `Service` given to the `JsonEndpoint`; one that speaks
the query protocol is found by the Version in its form, one that speaks REST by the beginning of its path.
"""

from collections.abc import Mapping
from typing import Protocol

from hashrange import ids
from hashrange.api.errors import ApiError
from hashrange.wire import compression, errors, plain, query_form
from hashrange.wire.browsers import BrowserRules
from hashrange.wire.compression import Codings
from hashrange.wire.interfaces import Exchange
from hashrange.wire.json_endpoint import DEFAULT_FORM, JsonEndpoint

_IDENTITY = b"identity"  # no coding; what most SDKs ask for
# Load balancers ask by whatever name they know; there is nothing to be learned but that the server runs.
_FOR_ANY_HOST = frozenset({b"/_hashrange/health", b"/_hashrange/ready"})
_FORM_TYPE = b"application/x-www-form-urlencoded"


class Endpoint(Protocol):
    """What answers the requests of a path, or of one version of a query-protocol service."""

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request, now or later; never raises."""


class Router:
    """The server's handler."""

    def __init__(
        self,
        json: JsonEndpoint,
        *,
        region: str,
        rules: BrowserRules,
        paths: Mapping[bytes, Endpoint] | None = None,
        query_versions: Mapping[str, Endpoint] | None = None,
        verifies: bool = False,
    ) -> None:
        """`query_versions` are endpoints by versions of forms, and by the names that signatures are made for.

        `paths` are beginnings of paths, each with its endpoint; the longest that fits is taken.

        Where signatures are verified, forms in URLs are answered as well.
        """
        self._json = json
        self._region = region
        self._rules = rules
        self._is_admitted = rules.admitted.get
        self._codings = Codings()
        self._paths = sorted((paths or {}).items(), key=lambda route: -len(route[0]))
        self._query_versions = dict(query_versions or {})
        self._takes_urls = verifies
        self._request_ids = ids.request_ids()

    def handle(self, exchange: Exchange) -> None:
        """Find who answers a request."""
        request_id = next(self._request_ids)
        headers = exchange.headers
        if b"Origin" in headers or not self._is_admitted(headers.get(b"Host", b"")):
            refusal = self._refusal(exchange)
            if refusal is not None:
                head, body = errors.render(refusal, DEFAULT_FORM, request_id)
                exchange.send(head, b"" if exchange.method == b"HEAD" else body)
                return
        if exchange.method == b"POST" and (exchange.url == b"/" or exchange.url.startswith(b"/?")):
            accepted = headers.get(b"Accept-Encoding")
            if accepted is None or accepted == _IDENTITY:
                answered = exchange
            else:
                answered = self._codings.packing(exchange, accepted)
            if self._json.handle(answered, request_id):
                return
        endpoint = self._endpoint(exchange)
        if endpoint is not None:
            endpoint.handle(exchange, request_id)
        else:
            plain.answer(exchange, self._region, request_id)

    def _refusal(self, exchange: Exchange) -> ApiError | None:
        if exchange.url in _FOR_ANY_HOST and b"Origin" not in exchange.headers:
            return None
        return self._rules.refusal(exchange.headers)

    def refuse(self, refusal: ApiError) -> tuple[bytes, bytes]:
        """Answer a request that HTTP itself rules out."""
        return errors.render(refusal, DEFAULT_FORM, next(self._request_ids))

    def _endpoint(self, exchange: Exchange) -> Endpoint | None:
        path, _, query = exchange.url.partition(b"?")
        for beginning, endpoint in self._paths:
            if path.startswith(beginning):
                return endpoint
        # Any page could have a browser send a GET, without an Origin to know it by; but none that is signed.
        if exchange.method == b"GET" and path == b"/" and self._takes_urls:
            return self._query_versions.get(query_form.version(query))
        is_form = exchange.headers.get(b"Content-Type", b"").startswith(_FORM_TYPE)
        if is_form and exchange.method == b"POST":
            # A form that came compressed is unpacked by its service, which SDKs name at the beginning.
            encoding = exchange.headers.get(b"Content-Encoding")
            form = exchange.body if encoding is None else compression.beginning(encoding, exchange.body)
            named = self._query_versions.get(query_form.version(form))
            if named is not None:
                return named
            # Whoever asks a service in a version that it has not, or in none, is told so as that service does.
            signed_for = query_form.signed_for(exchange.headers.get(b"Authorization", b""))
            return self._query_versions.get(signed_for)
        return None
