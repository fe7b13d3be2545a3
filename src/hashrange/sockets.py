"""Listening sockets."""

import socket

_BACKLOG = 1024


def listen(host: str, port: int) -> list[socket.socket]:
    """Bound and listening sockets for every address of a host, all on one port."""
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            listening = socket.socket(family, kind, protocol)
            sockets.append(listening)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            bound_port = port or (sockets[0].getsockname()[1] if len(sockets) > 1 else 0)
            listening.bind((address[0], bound_port, *address[2:]))
            listening.listen(_BACKLOG)
            listening.setblocking(False)
    except BaseException:
        for listening in sockets:
            listening.close()
        raise
    return sockets
