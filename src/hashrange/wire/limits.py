"""How much of the server one client may take, and for how long."""

import msgspec

KIB = 1024
MIB = 1024 * KIB


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes and times of the HTTP front end; tests make them small."""

    body_bytes_max: int = 20 * MIB  # BatchWriteItem carries 16 MB of items, and JSON adds to that
    head_bytes_max: int = 64 * KIB  # request line and headers
    headers_max: int = 128
    head_seconds: float = 20.0  # from a request's first byte to the end of its headers
    body_seconds: float = 120.0  # from there to the end of its body
    idle_seconds: float = 120.0  # between requests; longer than the SDKs keep a connection in their pools
    unread_seconds: float = 60.0  # a client that takes nothing of its answer
    linger_seconds: float = 2.0  # reading on after a refusal, so that the client gets to see it
    drain_seconds: float = 10.0  # for requests under way when the server stops
    sweep_seconds: float = 1.0  # how often the times above are looked at
    pipelined_max: int = 32  # requests waiting on one connection before it is read no further
    waiting_bytes_max: int = 1 * MIB  # the same, counted in body bytes
    unsent_bytes_max: int = 256 * KIB  # answers waiting for a slow reader before its next request is run
    partial_bytes_max: int = 256 * MIB  # unfinished large bodies over all connections
