"""Callers whose signatures are verified, over the bytes that came."""

from collections.abc import Callable
from threading import Lock

from hashrange import logs
from hashrange.api.context import Context
from hashrange.auth.principals import Principal
from hashrange.auth.signature.rejection import Rejected, invalid
from hashrange.auth.signature.repeats import Repeats
from hashrange.auth.signature.verifier import Directory, SignedRequest, Verified, Verifier
from hashrange.caches import BoundedCache
from hashrange.clock import Clock
from hashrange.wire.failed_signatures import FailedSignatures
from hashrange.wire.identity import Identity, Unidentified, unidentified
from hashrange.wire.interfaces import Exchange

_CALLERS_MAX = 4096
# What is signed is where such a path leads, and the server goes by how it begins.
_DETOUR = "The path of a signed request must have neither dots nor empty segments."
_TOKEN_LINE = b"\nx-amz-security-token:"

NoteUse = Callable[[Principal, str, str, float], None]

log = logs.Log("auth")


class VerifiedCallers:
    """Serves nobody who has not signed the request with a key that the directory knows."""

    def __init__(
        self,
        directory: Directory,
        context_for: Callable[[Identity], Context],
        clock: Clock,
        failures: FailedSignatures,
        *,
        note_use: NoteUse | None = None,
        shows_canonical: bool = False,
    ) -> None:
        self._verifier = Verifier(directory)
        self._repeats = Repeats(directory)
        self._now = clock.now
        self._context_for = context_for
        self._contexts: BoundedCache[tuple[str, str], Context] = BoundedCache(_CALLERS_MAX)
        self._lock = Lock()  # large bodies are verified on threads of their own
        self._failures = failures
        self._note_use = note_use
        self._shows_canonical = shows_canonical

    def identify(self, exchange: Exchange, service: str) -> Context:
        """The context of whoever has signed a request."""
        now = self._now()
        is_usual = exchange.url == b"/" and exchange.method == b"POST" and not exchange.repeats_headers
        if is_usual:
            verified = self._repeats.verified(exchange.headers, exchange.body, service, now)
            if verified is not None:
                cached = exchange.identity_cache
                if cached is not None and cached[0] is verified:
                    context: Context = cached[1]
                    return context
                context = self._context(verified)
                exchange.identity_cache = verified, context
                return context
        request = _request(exchange, exchange.body)
        return self._verified(request, service, now, exchange.peer.address, is_usual=is_usual)

    def lasting(self, _exchange: Exchange) -> Context | None:
        """Every signature is verified."""
        return None

    def later(self, exchange: Exchange, service: str, body: bytes) -> Callable[[], Context]:
        """Take what of the request is only good for now."""
        request = _request(exchange, body)
        peer = exchange.peer.address
        return lambda: self._verified(request, service, self._now(), peer, is_usual=False)

    def _verified(
        self, request: SignedRequest, service: str, now: float, peer: str, *, is_usual: bool
    ) -> Context:
        # Clients that have been served before do not come here: nobody can have them put off by failing beside them.
        if not self._failures.admits(peer, now):
            raise Unidentified("ThrottlingException", "Rate exceeded")
        try:
            if b"//" in request.path or b"/." in request.path:
                raise invalid(_DETOUR)
            verified = self._verifier.verified(request, service, now)
        except Rejected as rejected:
            self._failures.note(peer, rejected.code, now)
            if self._shows_canonical and rejected.canonical is not None:
                log.warning("signature.mismatch", address=peer, canonical=_without_token(rejected.canonical))
            raise unidentified(rejected) from None
        if is_usual:
            self._repeats.remember(request.headers, verified)
        return self._context(verified)

    def _context(self, verified: Verified) -> Context:
        principal = verified.credential.principal
        access_key, region = verified.scope.access_key, verified.scope.region
        if self._note_use is not None:
            # Once a connection, and whenever a signature is computed: nobody asks more exactly.
            self._note_use(principal, verified.scope.service, region, self._now())
        known = self._contexts.get((access_key, region))
        if known is not None and known.principal is principal:
            return known
        context = self._context_for(Identity(access_key, region, principal))
        with self._lock:
            self._contexts.put((access_key, region), context)
        return context


def _request(exchange: Exchange, body: bytes | bytearray) -> SignedRequest:
    path, _, query = exchange.url.partition(b"?")
    headers = dict(exchange.headers)
    # A target in absolute form goes before the Host that was sent: it has to be the one that was signed.
    host = headers.get(b"Host", b"")
    fields = [(name, host if name.lower() == b"host" else value) for name, value in exchange.fields]
    return SignedRequest(exchange.method, path, query, headers, fields, body)


def _without_token(canonical: bytes) -> str:
    """A canonical request as the log may have it: a session's token is as good as a key until it ends."""
    before, name, after = canonical.partition(_TOKEN_LINE)
    shown = before + name + b"(hidden)\n" + after.partition(b"\n")[2] if name else canonical
    return shown.decode("latin-1")
