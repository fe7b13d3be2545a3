"""The listening socket, the clock its connections go by, and the way it stops."""

import asyncio
import contextlib
import os
import socket
import time

from hashrange import logs
from hashrange.sockets import listen
from hashrange.wire.connection import Connection
from hashrange.wire.interfaces import Handler, ServerState
from hashrange.wire.limits import Limits
from hashrange.wire.tls import Tls
from hashrange.wire.tls_acceptor import TlsAcceptor

_BACKLOG = 1024

log = logs.Log("wire")


class Listener:
    """An HTTP server on one address."""

    def __init__(self, handler: Handler, limits: Limits, tls: Tls | None = None) -> None:
        self._shared = ServerState(handler, limits)
        self._tls = tls
        self._acceptor: TlsAcceptor | None = None
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self._hurried = False
        self._is_full = False

    async def start(self, host: str, port: int, redirect_port: int = 0) -> int:
        """Listen, and give the port, which the system picks where 0 is asked for.

        The other port is for plain HTTP that is redirected to TLS.
        """
        loop = asyncio.get_running_loop()
        self._sweep(loop)
        if self._tls is not None:
            return self._start_secure(self._tls, host, port, redirect_port)
        ports = await self._bind(loop, host, port)
        if len(set(ports)) > 1:
            # A name such as localhost has two addresses, and the system picked a port for each.
            self._close()
            ports = await self._bind(loop, host, ports[0])
        return ports[0]

    def start_adopting(self, port: int = 0, redirect_port: int = 0) -> None:
        """Serve the connections that someone else accepts at these ports."""
        self._sweep(asyncio.get_running_loop())
        if self._tls is not None:
            self._acceptor = self._make_acceptor(self._tls, port if redirect_port else None)

    async def adopt(self, connection: socket.socket) -> None:
        """Serve a connection that was accepted elsewhere."""
        if self._acceptor is not None:
            self._acceptor.take(connection)
            return
        loop = asyncio.get_running_loop()
        shared = self._shared
        with contextlib.suppress(OSError):  # it may be over before it begins
            await loop.connect_accepted_socket(lambda: Connection(shared, loop), connection)

    def _start_secure(self, tls: Tls, host: str, port: int, redirect_port: int) -> int:
        sockets = listen(host, port)
        bound = int(sockets[0].getsockname()[1])
        if redirect_port:
            sockets += listen(host, redirect_port)
        self._acceptor = self._make_acceptor(tls, bound if redirect_port else None)
        self._acceptor.listen(sockets)
        return bound

    def _make_acceptor(self, tls: Tls, redirect_port: int | None) -> TlsAcceptor:
        shared, loop = self._shared, asyncio.get_running_loop()
        return TlsAcceptor(tls, shared.limits, lambda: Connection(shared, loop), redirect_port=redirect_port)

    async def _bind(self, loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[int]:
        shared = self._shared
        self._server = await loop.create_server(
            lambda: Connection(shared, loop), host, port, backlog=_BACKLOG
        )
        return [bound.getsockname()[1] for bound in self._server.sockets]

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        if self._acceptor is not None:
            self._acceptor.close()

    async def stop(self) -> None:
        """Take no new connections, let requests under way finish, then close what is left."""
        shared = self._shared
        self.announce_stop()
        # Whoever has connected already found a server here; the loop lets them in when it looks at its sockets.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        self._close()
        for connection in list(shared.connections):
            connection.drain()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(shared.limits.drain_seconds):
                while shared.connections and not self._hurried:
                    shared.one_left.clear()
                    await shared.one_left.wait()
        for connection in list(shared.connections):
            connection.abort()
        if self._sweeper is not None:
            self._sweeper.cancel()

    def announce_stop(self) -> None:
        """From now on every answer is the last of its connection."""
        self._shared.draining = True

    def hurry(self) -> None:
        """Wait no longer for requests under way."""
        self._hurried = True
        self._shared.one_left.set()

    def _look_for_descriptors(self) -> None:
        """Say when no descriptor is free for another client, and when one is again; the loop closes such clients."""
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as problem:
            if not self._is_full:
                log.warning(
                    "connections.full", connections=len(self._shared.connections), reason=str(problem)
                )
            self._is_full = True
        else:
            if self._is_full:
                log.info("connections.resumed", connections=len(self._shared.connections))
            self._is_full = False

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        # One timer for all connections: setting one per request would cost more than reading its headers.
        shared = self._shared
        shared.now = now = loop.time()
        shared.idle_deadline = now + shared.limits.idle_seconds
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()).encode()
        shared.tail_open = b"Server: Hashrange\r\nDate: %b\r\nConnection: keep-alive\r\n\r\n" % date
        shared.tail_close = b"Server: Hashrange\r\nDate: %b\r\nConnection: close\r\n\r\n" % date
        for connection in list(shared.connections):
            connection.check(now)
        self._look_for_descriptors()
        logs.settle_outages()
        self._sweeper = loop.call_later(shared.limits.sweep_seconds, self._sweep, loop)
