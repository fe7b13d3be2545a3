"""The HTTP front end with verified signatures, without sockets and threads; what is served is noted, and not run."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from auth.signature.signing import NOW, KnownKeys
from hashrange.api.registry import DYNAMODB
from hashrange.auth.principals import Principal
from hashrange.auth.signature.verifier import Directory, SignedRequest
from hashrange.chain.pipelines import Pipelines
from hashrange.services.cloudwatch.registry import CLOUDWATCH
from hashrange.services.sts.registry import STS
from hashrange.wire import cbor_endpoint
from hashrange.wire.browsers import BrowserRules
from hashrange.wire.cbor_endpoint import CborEndpoint
from hashrange.wire.connection import Connection
from hashrange.wire.failed_signatures import FailedSignatures
from hashrange.wire.guarded import Guarded, Page
from hashrange.wire.identity import Identity
from hashrange.wire.interfaces import ServerState
from hashrange.wire.json_endpoint import JsonEndpoint
from hashrange.wire.limits import Limits
from hashrange.wire.query_endpoint import query_endpoints
from hashrange.wire.router import Router
from hashrange.wire.rpc_call import RpcRunner
from hashrange.wire.verified_callers import VerifiedCallers

_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
OWN_PATH = b"/_hashrange/clock"


class Served(NamedTuple):
    """A call that would have been run."""

    operation: str
    body: bytes
    access_key: str
    region: str


class Caller(NamedTuple):
    """Stands in for the api's context."""

    access_key: str
    region: str | None
    principal: Principal


class _Transport:
    def __init__(self, peer: str) -> None:
        self.sent = b""
        self.closed = False
        self._peer = peer

    def write(self, data: bytes) -> None:
        self.sent += data

    def writelines(self, pieces: tuple[bytes, ...]) -> None:
        self.sent += b"".join(pieces)

    def close(self) -> None:
        self.closed = True

    abort = write_eof = close

    def can_write_eof(self) -> bool:
        return True

    def get_extra_info(self, _name: str) -> tuple[str, int]:
        return self._peer, 1

    def set_write_buffer_limits(self, high: int) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


class _Inline:
    """Does at once what others do in the background, or in the loop's next turn."""

    def submit(self, work: Callable[[], None], _size: int = 0) -> bool:
        work()
        return True

    def call_on_loop(self, callback: Callable[[], None]) -> None:
        callback()

    def call_soon(self, callback: Callable[..., None], *arguments: Any) -> None:
        callback(*arguments)


class SignedWire:
    """Answers requests as a server with `--auth signature` does."""

    def __init__(self, directory: Directory | None = None, *, failures: int = 0, **options: Any) -> None:
        self.served: list[Served] = []
        self.now = NOW
        inline: Any = _Inline()
        contexts: Any = self._caller
        self.callers = VerifiedCallers(
            directory or KnownKeys(),
            contexts,
            SimpleNamespace(now=lambda: self.now),
            FailedSignatures(failures),
            **options,
        )
        run: Any = self._run
        endpoint = JsonEndpoint((DYNAMODB,), Pipelines(run), self.callers, inline, body_bytes_max=1_000_000)
        runner = RpcRunner(run, self.callers, inline, body_bytes_max=1_000_000)
        own: Any = SimpleNamespace(handle=self._own)
        router = Router(
            endpoint,
            region="us-east-1",
            rules=BrowserRules(),
            paths={
                cbor_endpoint.PATH: CborEndpoint((CLOUDWATCH,), runner),
                OWN_PATH: Guarded(own, self.callers, Page("hashrange:GetHeat", asks=False)),
                b"/_hashrange/chaos": Guarded(own, self.callers, Page("hashrange:InjectFaults", asks=False)),
            },
            query_versions=dict(query_endpoints((CLOUDWATCH, STS), runner)),
            verifies=True,
        )
        self._state = ServerState(router, Limits())
        self._state.tail_open = b"Connection: keep-alive\r\n\r\n"
        self._state.tail_close = b"Connection: close\r\n\r\n"
        self._loop = inline

    @staticmethod
    def _caller(identity: Identity) -> Caller:
        principal: Any = identity.principal
        return Caller(identity.access_key, identity.region, principal)

    def _run(self, call: Any, _done: Any) -> None:
        context = call.context
        body = bytes(call.body)
        self.served.append(Served(call.operation.name, body, context.access_key, context.region))
        call.exchange.send(_OK, b"{}")

    def _own(self, exchange: Any, _request_id: bytes) -> None:
        path, _, query = exchange.url.decode("latin-1").partition("?")
        # Neither the order of parameters nor their spelling means anything.
        pairs = sorted(parse_qsl(query, keep_blank_values=True, encoding="latin-1"))
        self.served.append(Served(f"{path} {pairs}", bytes(exchange.body), "", ""))
        exchange.send(_OK, b"{}")

    def client(self, peer: str = "192.0.2.1") -> "SignedClient":
        """A connection."""
        return SignedClient(Connection(self._state, self._loop), _Transport(peer))


class SignedClient:
    """Sends bytes, and gives what came back."""

    def __init__(self, connection: Connection, transport: _Transport) -> None:
        self._connection, self._transport = connection, transport
        untyped: Any = transport
        connection.connection_made(untyped)

    @property
    def is_open(self) -> bool:
        return not self._transport.closed

    def send(self, *pieces: bytes) -> bytes:
        self._transport.sent = b""
        for piece in pieces:
            self._connection.data_received(piece)
        return self._transport.sent

    def close(self) -> None:
        self._connection.connection_lost(None)


def as_bytes(request: SignedRequest, *, length: bool = True) -> bytes:
    """A request as it is sent."""
    url = request.path + (b"?" + request.query if request.query else b"")
    fields = [*request.fields]
    if length and not any(name == b"Content-Length" for name, _ in fields):
        fields.append((b"Content-Length", b"%d" % len(request.body)))
    lines = [b"%b %b HTTP/1.1" % (request.method, url), *(b"%b: %b" % field for field in fields), b"", b""]
    return b"\r\n".join(lines) + bytes(request.body)
