"""From the signature of a request to the context that its operation runs in."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.auth.principals import Principal
from hashrange.auth.signature.claims import Claims, claims
from hashrange.auth.signature.rejection import Rejected
from hashrange.auth.signature.scope import check_region, scope_of
from hashrange.caches import BoundedCache
from hashrange.wire.interfaces import Exchange

_SIGNATURE = b"Signature="
_MULTI_REGION = "AWS4-ECDSA-P256-SHA256"  # SigV4A: its scope names no region
_MULTI_REGION_PIECES = 4
_CALLERS_MAX = 4096
_KEY_CHARS_MAX = 128  # IAM's limit; a header has room for a key of 16 KB, and the cache for thousands of them


class Identity(NamedTuple):
    """Who asks, and for where. No region means the server's own."""

    access_key: str
    region: str | None
    principal: Principal | None = None  # None: nobody has verified who it is


class Unidentified(ApiError):
    """A request is not served because of its signature."""


class Callers(Protocol):
    """Finds who asks."""

    def identify(self, exchange: Exchange, service: str) -> Context:
        """The context of whoever has signed a request to a service; raises `Unidentified`."""

    def later(self, exchange: Exchange, service: str, body: bytes) -> Callable[[], Context]:
        """The same, to be asked once the request is gone, and on any thread: for large bodies, which take long."""

    def lasting(self, exchange: Exchange) -> Context | None:
        """The context of all requests whose heads differ in date, signature and target only; None: each has its own."""


def unidentified(rejected: Rejected) -> Unidentified:
    """The answer to a request that is not signed as it must be."""
    return Unidentified(rejected.code, rejected.message)


class ClaimedCallers:
    """Believes everybody: signatures are not verified, and what stands before them is all that counts."""

    def __init__(self, context_for: Callable[[Identity], Context]) -> None:
        self._context_for = context_for
        self._contexts: BoundedCache[Identity, Context] = BoundedCache(_CALLERS_MAX)

    def identify(self, exchange: Exchange, _service: str) -> Context:
        """The caller's context; a client's requests mostly have all but the signature in common."""
        headers = exchange.headers
        authorization = headers.get(b"Authorization", b"")
        cached = exchange.identity_cache
        if cached is not None:
            scope: bytes
            context: Context
            scope, context = cached
            if (
                authorization.startswith(scope)
                and authorization[len(scope) :].isalnum()  # nothing comes behind the signature
                and b"X-Amz-Date" in headers
                and exchange.url == b"/"
            ):
                return context
        identity = claimed_identity(headers, exchange.url)
        known = self._contexts.get(identity)
        if known is None:
            known = self._context_for(identity)
            if len(identity.access_key) <= _KEY_CHARS_MAX:
                self._contexts.put(identity, known)
        scope, name, signature = authorization.rpartition(_SIGNATURE)
        if name and signature.isalnum():
            exchange.identity_cache = scope + name, known
        return known

    def lasting(self, exchange: Exchange) -> Context | None:
        """What stands before the signature is all that counts."""
        return known_caller(partial(self.identify, exchange, ""))

    def later(self, exchange: Exchange, service: str, _body: bytes) -> Callable[[], Context]:
        """The caller's context, or what is wrong with the request."""
        try:
            context = self.identify(exchange, service)
        except Unidentified as error:
            code, message = error.code, error.message

            def refuse() -> Context:
                # Not itself: its traceback would keep this request for as long as the request keeps it.
                raise Unidentified(code, message)

            return refuse
        return lambda: context


def known_caller(identified: Callable[[], Context]) -> Context | None:
    """Who sent a request that is refused; None: that cannot be said."""
    try:
        return identified()
    except Exception:  # noqa: BLE001 - which is what the request is refused for, or was about to be
        return None


def claimed_identity(headers: Mapping[bytes, bytes], url: bytes) -> Identity:
    """Who a request says has signed it."""
    try:
        return _identity(claims(headers, url.partition(b"?")[2]))
    except Rejected as rejected:
        raise unidentified(rejected) from None


def _identity(claimed: Claims) -> Identity:
    pieces = claimed.credential.split("/")
    if claimed.algorithm == _MULTI_REGION and len(pieces) == _MULTI_REGION_PIECES:
        return Identity(pieces[0], None)
    scope = scope_of(claimed.credential)
    check_region(scope)
    return Identity(scope.access_key, scope.region)
