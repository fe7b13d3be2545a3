"""The server's own pages, under names that a stranger may have pointed at it."""

from collections.abc import Iterator, Mapping

import pytest

from hashrange import authentication
from hashrange.config import load
from hashrange.wire import cbor_endpoint, clock_endpoint, health, heat_endpoint, metrics_endpoint, plain
from hashrange.wire.browsers import BrowserRules
from hashrange.wire.identity import ClaimedCallers
from hashrange.wire.interfaces import Exchange
from hashrange.wire.router import Endpoint
from wiring import Wire

PAGES = (metrics_endpoint.PATH, heat_endpoint.PATH, clock_endpoint.PATH)
REBOUND = b"Host: evil.example:8000"


class Page:
    """A page that shows something."""

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        plain.send(exchange, request_id, b"200 OK", b"shown\n")


def pages(rules: BrowserRules, **settings: str) -> Mapping[bytes, Endpoint]:
    paths: dict[bytes, Endpoint] = {path: Page() for path in (*PAGES, health.PATH, cbor_endpoint.PATH)}

    def nobody(_: object) -> object:
        raise AssertionError

    known = ClaimedCallers(nobody)  # type: ignore[arg-type]
    return authentication.guarded(paths, known, load(settings, {}), None, rules)


def status(wire: Wire, path: bytes, host: bytes, *headers: bytes) -> int:
    with wire.connect() as client:
        client.send(b"\r\n".join((b"GET " + path + b" HTTP/1.1", host, *headers, b"", b"")))
        return client.read().status


@pytest.fixture
def exposed() -> Iterator[Wire]:
    """A server beyond loopback, which nobody told its names."""
    rules = BrowserRules(only_loopback=False)
    wire = Wire(rules=rules, paths=dict(pages(rules))).start()
    yield wire
    wire.stop()


@pytest.mark.parametrize("path", PAGES)
def test_beyond_loopback_a_rebound_page_reads_none_of_them(exposed: Wire, path: bytes) -> None:
    assert status(exposed, path, b"Host: 192.0.2.7:8000") == 200
    assert status(exposed, path, b"Host: hashrange:8000") == 200
    for host in (REBOUND, b"Host: evil.example.", b"Host: 127.0.0.1.evil.example"):
        assert status(exposed, path, host) == 403
    assert status(exposed, b"http://evil.example" + path, b"Host: localhost") == 403


def test_a_name_that_is_allowed_shows_them() -> None:
    rules = BrowserRules(hosts=("db.example.org",), only_loopback=False)
    wire = Wire(rules=rules, paths=dict(pages(rules))).start()
    try:
        assert status(wire, metrics_endpoint.PATH, b"Host: db.example.org:8000") == 200
        assert status(wire, metrics_endpoint.PATH, REBOUND) == 403
    finally:
        wire.stop()


def test_public_metrics_are_held_to_the_name_too() -> None:
    rules = BrowserRules(only_loopback=False)
    shown = pages(rules, auth="iam", public_metrics="true")
    wire = Wire(rules=rules, paths={metrics_endpoint.PATH: shown[metrics_endpoint.PATH]}).start()
    try:
        assert status(wire, metrics_endpoint.PATH, b"Host: 192.0.2.7") == 200
        assert status(wire, metrics_endpoint.PATH, REBOUND) == 403
    finally:
        wire.stop()


@pytest.mark.parametrize("path", [b"/_hashrange/health", b"/_hashrange/ready"])
@pytest.mark.parametrize("only_loopback", [True, False])
def test_a_load_balancer_may_ask_for_health_by_any_name(path: bytes, only_loopback: bool) -> None:
    rules = BrowserRules(only_loopback=only_loopback)
    wire = Wire(rules=rules, paths=dict(pages(rules))).start()
    try:
        assert status(wire, path, b"Host: balancer.example") == 200
        assert status(wire, path, b"Host: balancer.example", b"Origin: http://balancer.example") == 403
    finally:
        wire.stop()
