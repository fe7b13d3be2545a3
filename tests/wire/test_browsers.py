"""Which web pages may use the server, and under which names it is asked."""

from collections.abc import Callable, Iterator

import pytest

from hashrange.addresses import binds_loopback
from hashrange.config import SettingInvalid, load
from hashrange.wire.browsers import BrowserRules
from wiring import Response, Wire, request

LOCAL = ["http://localhost", "http://localhost:3000", "https://localhost:8443", "http://127.0.0.1:5173"]
LOCAL += ["http://127.8.9.1", "http://[::1]:8080", "http://app.localhost:3000", "HTTP://LOCALHOST:3000"]
FOREIGN = [
    "http://evil.example",
    "https://evil.example:8000",
    "http://localhost.evil.example",
    "null",
    "file://",
    "",
]
FOREIGN += [
    "http://127.0.0.1.evil.example",
    "http://evil.example#localhost",
    "http://u@localhost",
    "localhost",
]
FOREIGN += [
    "http://192.168.0.7:8000",
    "http://localhost:3000/x",
    "chrome-extension://abc",
    "http://[::2]",
    "*",
]
EXPOSED = "x-amzn-RequestId,x-amzn-ErrorType,x-amz-crc32,Date"


@pytest.fixture
def ruled() -> Iterator[Callable[[BrowserRules], Wire]]:
    """Start listeners with rules of the test's choice."""
    running: list[Wire] = []

    def start(rules: BrowserRules) -> Wire:
        running.append(Wire(rules=rules).start())
        return running[-1]

    yield start
    for wire in running:
        wire.stop()


def send(wire: Wire, method: bytes, *headers: bytes, path: bytes = b"/") -> Response:
    whole = request("Write", {"key": "k", "value": "v"}, *headers)
    with wire.connect() as client:
        client.send(whole.replace(b"POST /", method + b" " + path, 1))
        return client.read(to_head=method == b"HEAD")


def origin(value: str) -> bytes:
    return b"Origin: " + value.encode()


def with_origin(method: bytes, value: str, *lines: bytes) -> bytes:
    """A request with an Origin, also an empty one."""
    whole = request("Write", {"key": value, "value": "v"}).replace(b"POST", method, 1)
    return whole.replace(b"\r\n", b"\r\n" + b"\r\n".join((b"Origin: " + value.encode(), *lines)) + b"\r\n", 1)


@pytest.mark.parametrize("value", LOCAL)
@pytest.mark.parametrize("method", [b"POST", b"GET", b"OPTIONS"])
def test_pages_of_this_machine_may_use_it(wire: Wire, method: bytes, value: str) -> None:
    answer = send(wire, method, origin(value))
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-expose-headers"] == EXPOSED


def test_browsers_may_read_errors_too(wire: Wire) -> None:
    for operation in ("Crash", "Nothing"):
        answer = wire.post(operation, {}, origin("http://localhost:3000"))
        assert answer.status in {400, 500}
        assert answer.headers["access-control-allow-origin"] == "*"
    assert (
        send(wire, b"POST", origin("http://localhost"), path=b"/x").headers["access-control-allow-origin"]
        == "*"
    )


@pytest.mark.parametrize("value", FOREIGN)
@pytest.mark.parametrize("method", [b"POST", b"GET", b"OPTIONS", b"PUT"])
def test_pages_from_elsewhere_are_refused_before_anything_is_run(
    wire: Wire, method: bytes, value: str
) -> None:
    ask = b"Access-Control-Request-Method: POST"
    with wire.connect() as client:
        client.send(with_origin(method, value, ask))
        answer = client.read()
        assert (answer.status, answer.error) == (403, "com.amazon.coral.service#AccessDeniedException")
        assert [name for name in answer.headers if name.startswith("access-control")] == []
        client.send(request("Read", {"key": value}))
        assert client.read().json == {"value": ""}


def test_a_refusal_of_head_has_no_body(wire: Wire) -> None:
    with wire.connect() as client:
        client.send(b"HEAD / HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n\r\n")
        assert client.read(to_head=True).status == 403
        client.send(request("Echo", {}))
        assert client.read().status == 200


@pytest.mark.parametrize("method", [b"POST", b"GET", b"OPTIONS"])
def test_without_an_origin_nothing_is_said_about_origins(wire: Wire, method: bytes) -> None:
    answer = send(wire, method)
    assert answer.status == 200
    assert [name for name in answer.headers if name.startswith("access-control")] == []


def test_preflight(wire: Wire) -> None:
    asked = (
        b"Access-Control-Request-Method: POST",
        b"Access-Control-Request-Headers: x-amz-target,authorization",
    )
    answer = send(wire, b"OPTIONS", origin("http://localhost:3000"), *asked)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["access-control-allow-methods"] == "POST"
    assert answer.headers["access-control-allow-headers"] == "x-amz-target,authorization"
    assert answer.headers["access-control-max-age"] == "172800"


def test_more_pages_can_be_allowed(ruled: Callable[[BrowserRules], Wire]) -> None:
    wire = ruled(BrowserRules(("https://app.example.org", "null")))
    for value, status in (
        ("https://app.example.org", 200),
        ("https://App.Example.Org", 200),
        ("null", 200),
        ("http://localhost:3000", 200),
        ("http://app.example.org", 403),
        ("https://app.example.org:444", 403),
        ("https://app.example.org.evil.example", 403),
    ):
        assert send(wire, b"POST", origin(value)).status == status, value


def test_all_pages_can_be_allowed_as_the_service_does(ruled: Callable[[BrowserRules], Wire]) -> None:
    wire = ruled(BrowserRules(("*",)))
    for value in FOREIGN:
        if value:
            answer = send(wire, b"POST", origin(value))
            assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, "*")


OURS = [
    "localhost:8000",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1:8000",
    "[::1]:8000",
    "192.168.1.5:8000",
    "hashrange:8000",
]
OURS += ["host.docker.internal:8000", "dynamodb.localhost", "db.test", "dynamodb.us-east-1.amazonaws.com"]
OURS += ["123456789012.ddb.eu-west-1.amazonaws.com"]
THEIRS = ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example"]
THEIRS += [
    "dynamodb.evil.amazonaws.com.evil.example",
    "ec2-1-2-3-4.compute-1.amazonaws.com",
    "rebind.example.",
]


@pytest.mark.parametrize("host", OURS)
def test_on_loopback_it_answers_to_names_that_no_stranger_decides_about(wire: Wire, host: str) -> None:
    for method in (b"POST", b"GET"):
        assert send(wire, method, b"Host: " + host.encode()).status == 200


@pytest.mark.parametrize("host", THEIRS)
def test_on_loopback_a_name_that_a_stranger_may_have_pointed_here_is_refused(wire: Wire, host: str) -> None:
    """DNS rebinding: to the browser page and server are of one origin, so it sends no Origin with GET."""
    for method in (b"POST", b"GET", b"OPTIONS"):
        answer = send(wire, method, b"Host: " + host.encode())
        assert (answer.status, answer.error) == (403, "com.amazon.coral.service#AccessDeniedException")
    target = b"http://" + host.encode() + b"/"
    assert send(wire, b"POST", path=target).status == 403


def test_names_can_be_allowed(ruled: Callable[[BrowserRules], Wire]) -> None:
    wire = ruled(BrowserRules(hosts=("db.example.org", ".lan.example.org")))
    for host, status in (
        ("db.example.org:8000", 200),
        ("DB.example.org", 200),
        ("one.lan.example.org", 200),
        ("lan.example.org", 403),
        ("evil.example", 403),
        ("localhost", 200),
    ):
        assert send(wire, b"POST", b"Host: " + host.encode()).status == status, host


def test_beyond_loopback_any_name_will_do_unless_some_are_named(
    ruled: Callable[[BrowserRules], Wire],
) -> None:
    assert send(ruled(BrowserRules(only_loopback=False)), b"POST", b"Host: db.example.org").status == 200
    strict = ruled(BrowserRules(hosts=("db.example.org",), only_loopback=False))
    assert send(strict, b"POST", b"Host: evil.example").status == 403
    assert send(ruled(BrowserRules(hosts=("*",))), b"POST", b"Host: db.example.org").status == 200


def test_a_rebound_name_is_a_foreign_origin_even_to_itself(ruled: Callable[[BrowserRules], Wire]) -> None:
    wire = ruled(BrowserRules(only_loopback=False))
    for host, status in (
        ("evil.example:8000", 403),
        ("192.168.0.7:8000", 200),
        ("hashrange:8000", 200),
        ("[fd00::1]:8000", 200),
    ):
        answer = send(wire, b"POST", b"Host: " + host.encode(), origin("http://" + host))
        assert answer.status == status, host
    named = ruled(BrowserRules(hosts=("db.example.org",), only_loopback=False))
    assert send(named, b"POST", b"Host: db.example.org", origin("https://db.example.org")).status == 200


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
    ],
)
def test_what_is_reached_from_this_machine_only(host: str, local: bool) -> None:
    assert binds_loopback(host) is local


def test_the_settings() -> None:
    settings = load(
        {"cors_origin": "https://A.example, null"}, {"HASHRANGE_ALLOWED_HOST": "db.example,.example.org"}
    )
    assert settings.cors_origin == ("https://a.example", "null")
    assert settings.allowed_host == ("db.example", ".example.org")
    for wrong in ("https://a.example/", "a.example", "https://", "https://a b"):
        with pytest.raises(SettingInvalid):
            load({"cors_origin": wrong}, {})
    for wrong in ("http://a", "a:8000", "a b", "/"):
        with pytest.raises(SettingInvalid):
            load({"allowed_host": wrong}, {})
