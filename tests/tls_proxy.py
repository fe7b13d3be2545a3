"""TLS before a PostgreSQL that was built without it: what a server with a certificate says, then bytes passed on."""

import contextlib
import socket
import ssl
import subprocess
import threading
from pathlib import Path

_SSL_REQUEST_BYTES = 8
_GO_ON = b"S"


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a certificate that signs itself, for one host name; gives it and its key."""
    found, key = folder / f"{name}.pem", folder / f"{name}.key"
    names = f"subjectAltName=DNS:{name}"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-days", "1", "-subj", f"/CN={name}", "-addext", names]
    subprocess.run([*command, "-keyout", key, "-out", found], check=True, capture_output=True)
    return found, key


class TlsProxy:
    """Takes TLS connections as PostgreSQL does and passes them on to a port on this machine."""

    def __init__(self, port: int, chain: Path, key: Path) -> None:
        self._target = port
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(chain, key)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._target)) as far:
            near.recv(_SSL_REQUEST_BYTES, socket.MSG_WAITALL)
            near.sendall(_GO_ON)
            with self._context.wrap_socket(near, server_side=True) as safe:
                inward = threading.Thread(target=_pump, args=(safe, far), daemon=True)
                inward.start()
                _pump(far, safe)
                inward.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
