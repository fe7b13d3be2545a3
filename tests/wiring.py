"""The HTTP front end alone, in this process, with a handful of made-up operations behind it."""

import asyncio
import socket
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
import orjson
import uvloop

from hashrange.api.errors import ApiError
from hashrange.api.protocol.operation import Service
from hashrange.api.protocol.plan import Answer, Plan, Read, Write
from hashrange.api.results import Described
from hashrange.chain.background import Background
from hashrange.chain.executor import LocalExecutor
from hashrange.chain.pipelines import Pipelines
from hashrange.core.errors import Invalid
from hashrange.storage.sqlite import MemoryEngine
from hashrange.wire.browsers import BrowserRules
from hashrange.wire.identity import ClaimedCallers
from hashrange.wire.json_endpoint import JsonEndpoint
from hashrange.wire.limits import Limits
from hashrange.wire.listener import Listener
from hashrange.wire.router import Router

_PATIENCE_SECONDS = 60.0  # on a machine that others use, too
AUTHORIZATION = (
    b"AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/dynamodb/aws4_request, "
    b"SignedHeaders=host;x-amz-date, Signature=0a1b"
)


class Fake:
    """An operation made of one function of caller and request; any JSON object will do as a request."""

    def __init__(self, handler: Callable[[Any, dict[str, Any]], Plan]) -> None:
        self.name, self.kind = "Fake", "read"
        self.handler = handler
        self.shortcut = None
        self.shape = self
        self.decode = self.read_patiently = msgspec.json.Decoder(dict[str, Any]).decode

    def check(self, sent: dict[str, Any]) -> None:
        """Whatever the handler found wrong is wrong."""

    def worded(self, invalid: Invalid) -> str:
        return invalid.message


def rendered_as(body: Any) -> Described:
    """A result that is rendered as this JSON."""
    return Described(msgspec.Raw(orjson.dumps(body)))  # type: ignore[arg-type]


class HeldEngine(MemoryEngine):
    """An engine whose writes are rendered_as when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[Callable[[], None]] = []
        self.hold = False

    def submit(self, step: Any, done: Any, *, reads: Any = ()) -> None:
        if self.hold:
            self.held.append(lambda: super(HeldEngine, self).submit(step, done))
        else:
            super().submit(step, done)


def echo(_: Any, request: dict[str, Any]) -> Plan:
    return Answer(rendered_as(request))


def who(context: Any, _: dict[str, Any]) -> Plan:
    return Answer(rendered_as([context.access_key, context.region]))


def read(_: Any, request: dict[str, Any]) -> Plan:
    return Read(lambda reader: rendered_as({"value": (reader.get(request["key"].encode()) or b"").decode()}))


def write(_: Any, request: dict[str, Any]) -> Plan:
    def step(tx: Any) -> Described:
        tx.put(request["key"].encode(), request["value"].encode())
        if request.get("fail"):
            raise Invalid("the step failed")
        return rendered_as({})

    return Write(step)


def big(_: Any, request: dict[str, Any]) -> Plan:
    return Answer(rendered_as("x" * request["bytes"]))


def fail(_: Any, request: dict[str, Any]) -> Plan:
    fields = request.get("fields")
    raise ApiError(request["code"], request.get("message"), status=request.get("status", 400), fields=fields)


def crash(_: Any, request: dict[str, Any]) -> Plan:
    raise RuntimeError("a bug")


OPERATIONS = {
    "Echo": Fake(echo),
    "Who": Fake(who),
    "Read": Fake(read),
    "Write": Fake(write),
    "Big": Fake(big),
    "Fail": Fake(fail),
    "Crash": Fake(crash),
}


@dataclass
class Caller:
    """Stands in for the api's context."""

    access_key: str
    region: str | None


@dataclass
class Wire:
    """A listener on its own thread and loop."""

    limits: Limits = field(default_factory=Limits)
    engine: HeldEngine = field(default_factory=HeldEngine)
    port: int = 0
    paths: dict[bytes, Any] = field(default_factory=dict)
    query_versions: dict[str, Any] = field(default_factory=dict)
    services: tuple[Service, ...] = ()  # beside the made-up DynamoDB
    rules: BrowserRules = field(default_factory=BrowserRules)

    def start(self) -> "Wire":
        ready = threading.Event()
        self._thread = threading.Thread(target=self._main, args=(ready,))
        self._thread.start()
        assert ready.wait(60)
        return self

    def stop(self) -> None:
        self.call(self._stop.set)
        self._thread.join(60)
        self.background.close()
        self.engine.close()

    def _deliver(self, callbacks: list[Callable[[], None]]) -> None:
        for callback in callbacks:
            self.call(callback)

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call on the loop's thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def pass_turns(self, turns: int = 2) -> None:
        """Wait until the loop has looked at its sockets again; it may be about to do so, hence two turns."""
        for _ in range(turns):
            turn = threading.Event()
            self.call(turn.set)
            assert turn.wait(60)

    def trickle(self, client: "Client", *packets: bytes) -> None:
        """Send packets that the server reads one by one."""
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for packet in packets:
            client.send(packet)
            self.pass_turns()

    def release(self) -> None:
        """Let all held writes go through."""

        def run() -> None:
            held, self.engine.held = self.engine.held, []
            for write_through in held:
                write_through()

        self.call(run)

    def connect(self) -> "Client":
        return Client(self.port)

    def post(self, operation: str, body: Any, *headers: bytes) -> "Response":
        """Send one request on a connection of its own."""
        with self.connect() as client:
            client.send(request(operation, body, *headers))
            return client.read()

    def connections(self) -> int:
        return len(self._listener._shared.connections)

    def _main(self, ready: threading.Event) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve(ready))

    @staticmethod
    def _caller(identity: Any) -> Any:
        return Caller(identity.access_key, identity.region)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self.background = Background(self._deliver)
        operations: Any = OPERATIONS
        context_for: Any = lambda identity: Caller(identity.access_key, identity.region)  # noqa: E731
        endpoint = JsonEndpoint(
            (
                Service(
                    "fake", "DynamoDB_20120810.", "com.amazonaws.dynamodb.v20120810#", operations, "dynamodb"
                ),
                *self.services,
            ),
            Pipelines(LocalExecutor(self.engine, self.background).run),
            ClaimedCallers(context_for),
            self.background,
            body_bytes_max=self.limits.body_bytes_max,
        )
        router = Router(
            endpoint,
            region="us-east-1",
            rules=self.rules,
            paths=self.paths,
            query_versions=self.query_versions,
        )
        self._listener = Listener(router, self.limits)
        self.port = await self._listener.start("127.0.0.1", 0)
        ready.set()
        await self._stop.wait()
        await self._listener.stop()


def request(operation: str, body: Any, *headers: bytes, target: bytes = b"DynamoDB_20120810.") -> bytes:
    """Give the bytes of a request; an extra header replaces the usual one of its name."""
    payload = body if isinstance(body, bytes) else orjson.dumps(body)
    fields = {
        b"Host": b"localhost",
        b"Content-Type": b"application/x-amz-json-1.0",
        b"X-Amz-Target": target + operation.encode(),
        b"X-Amz-Date": b"20260101T000000Z",
        b"Authorization": AUTHORIZATION,
        b"Content-Length": b"%d" % len(payload),
    }
    for header in headers:
        name, _, value = header.partition(b":")
        fields[name] = value.strip()
    lines = [b"%b: %b" % pair for pair in fields.items() if pair[1]]
    return b"\r\n".join([b"POST / HTTP/1.1", *lines, b"", payload])


@dataclass
class Response:
    """An answer as it came over the socket."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["__type"])

    def crc_matches(self) -> bool:
        return int(self.headers["x-amz-crc32"]) == zlib.crc32(self.body)


class Client:
    """A socket that can read one answer at a time."""

    def __init__(self, port: int, *, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(_PATIENCE_SECONDS)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self, *, to_head: bool = False) -> Response:
        """Read one whole answer; one to HEAD has a length but no body."""
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {line.split(": ", 1)[0].lower(): line.split(": ", 1)[1] for line in lines}
        length = 0 if to_head else int(headers.get("content-length", 0))
        while len(self._buffer) < length:
            self._more()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return Response(int(status.split()[1]), headers, body)

    def read_chunk(self) -> bytes:
        """Read one chunk of a streamed body; the last is empty."""
        while b"\r\n" not in self._buffer:
            self._more()
        line, _, self._buffer = self._buffer.partition(b"\r\n")
        end = int(line, 16)
        while len(self._buffer) < end + 2:
            self._more()
        chunk, mark, self._buffer = self._buffer[:end], self._buffer[end : end + 2], self._buffer[end + 2 :]
        assert mark == b"\r\n"
        return chunk

    def read_chunks(self) -> list[bytes]:
        """Read the rest of a streamed body."""
        return list(iter(self.read_chunk, b""))

    def read_to_end(self) -> bytes:
        """Read all that comes until the server closes the connection."""
        while data := self.socket.recv(1 << 16):
            self._buffer += data
        rest, self._buffer = self._buffer, b""
        return rest

    def silent(self, seconds: float = 0.05) -> bool:
        """Tell whether nothing comes for a while."""
        if self._buffer:
            return False
        self.socket.settimeout(seconds)
        try:
            self._buffer += self.socket.recv(1)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(_PATIENCE_SECONDS)
        return False

    def stop_sending(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def closed(self, within: float = _PATIENCE_SECONDS) -> bool:
        """Tell whether the server closes the connection, without another byte, in this time."""
        self.socket.settimeout(within)
        try:
            return self._buffer + self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def _more(self) -> None:
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the server closed the connection")
        self._buffer += data


def eventually(truth: Callable[[], bool], seconds: float = _PATIENCE_SECONDS) -> bool:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not truth():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
