"""Connections to a port that speaks TLS: the first byte tells a handshake from a request in plain HTTP."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable

from hashrange import logs
from hashrange.wire.handshake_log import HandshakeLog
from hashrange.wire.limits import Limits
from hashrange.wire.plain_http import PlainHttp
from hashrange.wire.tls import Tls

_HANDSHAKE = b"\x16"  # the type of a TLS record that begins one: RFC 8446 5.1
_PAUSE_SECONDS = 0.5  # without a free descriptor the next attempt would fail as well

log = logs.Log("tls")


class TlsAcceptor:
    """Waits for the first byte of every connection, then serves it or says what is wrong."""

    def __init__(
        self,
        tls: Tls,
        limits: Limits,
        make_connection: Callable[[], asyncio.Protocol],
        *,
        redirect_port: int | None = None,
    ) -> None:
        """Serve with `make_connection`; plain HTTP is redirected to a port, or refused if that is None."""
        self._tls = tls
        self._limits = limits
        self._make_connection = make_connection
        self._redirect_port = redirect_port
        self._loop = asyncio.get_running_loop()
        self._listening: list[socket.socket] = []
        self._silent: dict[socket.socket, asyncio.TimerHandle] = {}  # have not sent a byte
        self._tasks: set[asyncio.Task[None]] = set()
        self._refusals = HandshakeLog()

    def listen(self, sockets: list[socket.socket]) -> None:
        """Accept the connections to these sockets."""
        self._listening += sockets
        for listening in sockets:
            self._loop.add_reader(listening, self._accept, listening)

    def take(self, connection: socket.socket) -> None:
        """Take a connection that was accepted."""
        connection.setblocking(False)
        timer = self._loop.call_later(self._limits.handshake_seconds, self._give_up, connection)
        self._silent[connection] = timer
        self._loop.add_reader(connection, self._look, connection)

    def close(self) -> None:
        """Accept no more, and hang up on whoever has not sent a byte."""
        for listening in self._listening:
            self._loop.remove_reader(listening)
            listening.close()
        self._listening.clear()
        for connection in list(self._silent):
            self._give_up(connection)

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except (BlockingIOError, ConnectionError):
            return  # it is gone already
        except OSError:
            # The listener says that no descriptor is free.
            self._loop.remove_reader(listening)
            self._loop.call_later(_PAUSE_SECONDS, self._accept_again, listening)
            return
        self.take(connection)

    def _accept_again(self, listening: socket.socket) -> None:
        if listening in self._listening:
            self._loop.add_reader(listening, self._accept, listening)

    def _look(self, connection: socket.socket) -> None:
        """Look at the first byte, and leave it where it is."""
        try:
            first = connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            first = b""
        if not first:
            self._give_up(connection)
            return
        self._forget(connection)
        serve = self._serve(connection) if first == _HANDSHAKE else self._explain(connection)
        task = self._loop.create_task(serve)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _forget(self, connection: socket.socket) -> None:
        self._silent.pop(connection).cancel()
        self._loop.remove_reader(connection)

    def _give_up(self, connection: socket.socket) -> None:
        self._forget(connection)
        connection.close()

    async def _serve(self, connection: socket.socket) -> None:
        limits, peer = self._limits, _address(connection)
        try:
            await self._loop.connect_accepted_socket(
                self._make_connection,
                connection,
                ssl=self._tls.context,
                ssl_handshake_timeout=limits.handshake_seconds,
                ssl_shutdown_timeout=limits.linger_seconds,
            )
        except ssl.SSLError as problem:
            self._refusals.refused(peer, problem.reason or type(problem).__name__)
            connection.close()
        except OSError as problem:
            # Who hangs up in the middle was not refused: checks of a port do it all day.
            log.debug("tls.handshake_failed", address=peer, reason=type(problem).__name__)
            connection.close()

    async def _explain(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            await self._loop.connect_accepted_socket(
                lambda: PlainHttp(self._loop, self._redirect_port, self._limits), connection
            )


def _address(connection: socket.socket) -> str:
    try:
        return str(connection.getpeername()[0])
    except (OSError, IndexError):
        return ""  # it is gone already
