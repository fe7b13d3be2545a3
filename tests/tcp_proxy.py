"""A line between a client and a server that a test can cut, silence or close."""

import contextlib
import socket
import threading


class Proxy:
    """Passes bytes on, in both directions, to one port on this machine."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self.open = True  # whether new connections are taken
        self.answers = threading.Event()  # whether what the server says gets through
        self.answers.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End every connection at once."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()

    def close(self) -> None:
        self.open = False
        self._listening.close()
        self.answers.set()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if not self.open:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.append((near, far))
            threading.Thread(target=self._pump, args=(near, far, None), daemon=True).start()
            threading.Thread(target=self._pump, args=(far, near, self.answers), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, gate: threading.Event | None) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if gate is not None:
                    gate.wait()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
