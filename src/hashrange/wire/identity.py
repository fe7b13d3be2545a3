"""From the credential scope of a request to the context that its operation runs in."""

from collections.abc import Callable

from hashrange.api.context import Context
from hashrange.caches import BoundedCache
from hashrange.wire import sigv4
from hashrange.wire.interfaces import Exchange

_SIGNATURE = b"Signature="
_CALLERS_MAX = 4096
_KEY_CHARS_MAX = 128  # IAM's limit; a header has room for a key of 16 KB, and the cache for thousands of them


class Callers:
    """Finds who asks. Signatures are not verified yet, so what stands before them is all that counts."""

    def __init__(self, context_for: Callable[[sigv4.Identity], Context]) -> None:
        self._context_for = context_for
        self._contexts: BoundedCache[sigv4.Identity, Context] = BoundedCache(_CALLERS_MAX)

    def identify(self, exchange: Exchange) -> Context:
        """The caller's context; a client's requests mostly have all but the signature in common."""
        headers = exchange.headers
        authorization = headers.get(b"Authorization", b"")
        cached = exchange.identity_cache
        if (
            cached is not None
            and authorization.startswith(cached[0])
            and len(authorization) > len(cached[0])
            and b"X-Amz-Date" in headers
            and exchange.url == b"/"
        ):
            context: Context = cached[1]
            return context
        identity = sigv4.identify(headers, exchange.url)
        known = self._contexts.get(identity)
        if known is None:
            known = self._context_for(identity)
            if len(identity.access_key) <= _KEY_CHARS_MAX:
                self._contexts.put(identity, known)
        scope, name, _ = authorization.rpartition(_SIGNATURE)
        if name:
            exchange.identity_cache = scope + name, known
        return known
