"""Which web pages may use the server, and under which names it may be asked.

A page that somebody visits can send requests to any address of their machine, and a name that its owner points at
127.0.0.1 (DNS rebinding) makes them requests to the page's own server. So a request with a foreign Origin is refused
before it is run, whether or not the browser would have shown its answer, and so is one for a foreign Host where only
this machine can connect. Clients that are no browsers send no Origin.
"""

import re
from collections.abc import Mapping, Sequence

from hashrange import logs
from hashrange.addresses import address, is_loopback
from hashrange.api.errors import ApiError
from hashrange.caches import BoundedCache

_ORIGIN = re.compile(rb"https?://((?:\[[0-9a-f:.]+\]|[^:/\[\]]+)(?::[0-9]+)?)")
_ANY = "*"
# Nobody can register these (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal), nor the service's own names, which a
# hosts file may point here. A stranger cannot decide what such a name means, nor one without a dot, nor an address.
_PRIVATE_SUFFIXES = (".localhost", ".internal", ".local", ".test", ".home.arpa")
_SERVICE_NAME = re.compile(
    r"(?:[a-z0-9-]+\.)?(?:dynamodb|ddb|monitoring)\.[a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|api\.aws)"
)
_SEEN_MAX = 1024

log = logs.Log("wire")


class BrowserRules:
    """Decides by the Origin and Host of a request whether it is answered."""

    def __init__(
        self, origins: Sequence[str] = (), hosts: Sequence[str] = (), *, only_loopback: bool = True
    ) -> None:
        """Allow `origins` and `hosts` beside what is safe; `only_loopback` says that no other machine connects."""
        self._origins = frozenset(origin.encode() for origin in origins)
        self._any_origin = _ANY in origins
        self._hosts = frozenset(host for host in hosts if not host.startswith("."))
        self._suffixes = tuple(host for host in hosts if host.startswith("."))
        self._names_any = _ANY in hosts
        self._any_host = self._names_any or not (only_loopback or hosts)
        self.admitted: BoundedCache[bytes, bool] = BoundedCache(_SEEN_MAX)  # Host headers
        self._logged: BoundedCache[bytes, bool] = BoundedCache(_SEEN_MAX)

    def refusal(self, headers: Mapping[bytes, bytes]) -> ApiError | None:
        """What is wrong with a request that is not admitted."""
        host = headers.get(b"Host", b"")
        if not (self._any_host or self._is_safe_host(host)):
            return self._foreign_host(host)
        self.admitted.put(host, True)
        origin = headers.get(b"Origin")
        if origin is not None and not self._is_allowed_origin(origin.lower(), host):
            self._log("origin.refused", origin)
            page = origin.decode("latin-1")
            return _denied(f"Pages of {page} may not use this server; --cors-origin allows it to them")
        return None

    def page_refusal(self, headers: Mapping[bytes, bytes]) -> ApiError | None:
        """What is wrong with a request for a page that anybody may read, wherever the server listens.

        A browser sends no Origin with a GET to what it takes for the page's own server, so only the name is left to
        tell a rebound page by.
        """
        host = headers.get(b"Host", b"")
        return None if self._names_any or self._is_safe_host(host) else self._foreign_host(host)

    def _foreign_host(self, host: bytes) -> ApiError:
        self._log("host.refused", host)
        name = host_name(host).decode("latin-1")
        return _denied(f"This server is not {name}; --allowed-host lets it answer to that name")

    def _is_safe_host(self, host: bytes) -> bool:
        name = host_name(host).decode("latin-1")
        return is_private(name) or name in self._hosts or name.endswith(self._suffixes or (" ",))

    def _is_allowed_origin(self, origin: bytes, host: bytes) -> bool:
        if self._any_origin or origin in self._origins:
            return True
        authority = _ORIGIN.fullmatch(origin)
        if authority is None:
            return False
        name = host_name(authority[1]).decode("latin-1")
        if is_loopback(name):
            return True
        # The server's own pages; of a name that a stranger could point here that would say nothing.
        return authority[1] == host.lower() and (is_private(name) or name in self._hosts)

    def _log(self, event: str, value: bytes) -> None:
        """Say it once: a page may try a thousand times."""
        if not self._logged.get(value):
            self._logged.put(value, True)
            log.warning(event, value=value.decode("latin-1"))


def _denied(message: str) -> ApiError:
    return ApiError("AccessDeniedException", message, status=403)


def host_name(host: bytes) -> bytes:
    """A Host header without its port, in lower case."""
    name = host.lower()
    if name.startswith(b"["):
        return name[1:].partition(b"]")[0]
    return name.partition(b":")[0].removesuffix(b".")


def is_private(name: str) -> bool:
    """Whether a stranger on the internet cannot decide what a name means."""
    return (
        "." not in name
        or name.endswith(_PRIVATE_SUFFIXES)
        or _SERVICE_NAME.fullmatch(name) is not None
        or address(name) is not None
    )
