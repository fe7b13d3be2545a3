"""Addresses: what can be reached from this machine only."""

import ipaddress
import socket


def is_loopback(name: str) -> bool:
    """Whether a name or an address is this machine, seen from itself."""
    found = address(name)
    if found is not None:
        return found.is_loopback
    return name == "localhost" or name.endswith(".localhost")


def binds_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return False
    return all(is_loopback(str(entry[4][0])) for entry in found)


def network(name: str) -> str:
    """An address, or of IPv6 the network that one client has all addresses of."""
    found = address(name)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return name


def address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a text is; None: it is a name."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
