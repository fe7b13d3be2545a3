"""How much of the server one client may take, and for how long."""

import msgspec

KIB = 1024
MIB = 1024 * KIB


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes and times of the HTTP front end; tests make them small."""

    body_bytes_max: int = 16 * MIB  # as the service
    head_bytes_max: int = 16 * KIB  # request line and headers, as the service
    headers_max: int = 128
    handshake_seconds: float = (
        20.0  # from a connection to its first byte, and from there to the end of a TLS handshake
    )
    head_seconds: float = 20.0  # from a request's first byte to the end of its headers
    body_seconds: float = 120.0  # from there to the end of its body
    idle_seconds: float = 120.0  # between requests; longer than the SDKs keep a connection in their pools
    unread_seconds: float = (
        60.0  # a client that takes less of its answers in this time than the next line says
    )
    read_bytes_min: int = 64 * KIB
    linger_seconds: float = 2.0  # reading on after a refusal, so that the client gets to see it
    drain_seconds: float = 10.0  # for requests under way when the server stops
    sweep_seconds: float = 1.0  # how often the times above are looked at
    pipelined_max: int = 32  # requests waiting on one connection before it is read no further
    waiting_bytes_max: int = 1 * MIB  # the same, counted in body bytes
    unsent_bytes_max: int = 64 * KIB  # answers waiting for a slow reader before its next request is run
    unread_bytes_max: int = 256 * MIB  # such answers over all connections, of which one may be 16 MB
    request_bytes_max: int = 256 * MIB  # request bodies over all connections: incomplete, waiting, under way
