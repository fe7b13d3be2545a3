"""TLS: what clients get to see, who is let in, and how a certificate is exchanged while the server runs."""

import http.client
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import pytest
from botocore.config import Config

from hashrange.certificates import Authority
from hashrange.config import SettingInvalid, load
from hashrange.tls_files import TlsInvalid
from hashrange.wire.handshake_log import LINE_SECONDS, HandshakeLog
from hashrange.wire.plain_http import answer
from hashrange.wire.tls import Tls, TlsFiles
from house import ROOT
from serving import Serving, serving


class Made:
    """An authority with files of a server and of a client."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = Authority(days=30)
        self.ca, self.certificate, self.key = (
            folder / name for name in ("ca.pem", "server.pem", "server.key")
        )
        self.ca.write_bytes(self.authority.certificate)
        self.exchange()
        self.client, self.client_key = folder / "client.pem", folder / "client.key"
        issued = self.authority.issue(["worker.example.org"], client=True)
        self.client.write_bytes(issued.certificate)
        self.client_key.write_bytes(issued.key)

    def exchange(self) -> None:
        """Put another certificate in the server's place."""
        issued = self.authority.issue(["localhost", "127.0.0.1"])
        self.certificate.write_bytes(issued.certificate)
        self.key.write_bytes(issued.key)
        self.key.chmod(0o600)

    @property
    def files(self) -> TlsFiles:
        return TlsFiles(self.certificate, self.key)

    @property
    def flags(self) -> tuple[str, ...]:
        return "--in-memory", "--tls-cert", str(self.certificate), "--tls-key", str(self.key)

    def trusting(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca))

    def connect(self, server: Serving, context: ssl.SSLContext | None = None) -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        return (context or self.trusting()).wrap_socket(plain, server_hostname="localhost")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def own(tmp_path: Path) -> Made:
    """Files that a test may change."""
    return Made(tmp_path)


@pytest.fixture(scope="module")
def server(made: Made) -> Iterator[Serving]:
    with serving(*made.flags) as running:
        yield running


def ask(connection: ssl.SSLSocket) -> bytes:
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection.recv(4096)


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def refused(made: Made, server: Serving, context: ssl.SSLContext) -> bool:
    """Whether a client gets nothing; with TLS 1.3 it is done before the server has looked at its certificate."""
    try:
        with made.connect(server, context) as connection:
            return ask(connection) == b""
    except (ssl.SSLError, ConnectionError):
        return True


def fingerprint(connection: ssl.SSLSocket) -> bytes:
    found = connection.getpeercert(binary_form=True)
    assert found is not None
    return found


def plain_answer(server: Serving, text: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_an_sdk_works_as_over_plain_http(server: Serving, made: Made) -> None:
    assert server.endpoint.startswith("https://")
    client = boto3.client(
        "dynamodb",
        endpoint_url=server.endpoint,
        verify=str(made.ca),
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )
    client.create_table(
        TableName="safe",
        AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    item = {"k": {"S": "x"}, "large": {"S": "y" * 300_000}}
    client.put_item(TableName="safe", Item=item)
    assert client.get_item(TableName="safe", Key={"k": {"S": "x"}})["Item"] == item


def test_the_protocol_is_http_1_1_over_tls_1_3(server: Serving, made: Made) -> None:
    context = made.trusting()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with made.connect(server, context) as connection:
        assert (connection.selected_alpn_protocol(), connection.version()) == ("http/1.1", "TLSv1.3")
        assert ask(connection).startswith(b"HTTP/1.1 200 OK\r\n")


def test_the_page_of_metrics_says_when_the_certificate_expires(server: Serving, made: Made) -> None:
    connection = http.client.HTTPSConnection("localhost", server.port, timeout=30, context=made.trusting())
    connection.request("GET", "/metrics")
    page = connection.getresponse().read().decode()
    connection.close()
    end = int(Tls(made.files).certificate.not_after.timestamp())
    assert f"\nhashrange_tls_certificate_expiry_seconds {end}\n" in page


@pytest.mark.parametrize("cipher", ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"])
def test_tls_1_2_has_forward_secrecy(server: Serving, made: Made, cipher: str) -> None:
    context = made.trusting()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(cipher)
    with made.connect(server, context) as connection:
        assert connection.cipher() == (cipher, "TLSv1.2", 256 if "CHACHA" in cipher else 128)


@pytest.mark.parametrize("cipher", ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256"])
def test_weaker_ciphers_are_refused(server: Serving, made: Made, cipher: str) -> None:
    context = made.trusting()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(cipher)
    with pytest.raises(ssl.SSLError):
        made.connect(server, context)


def test_tls_1_1_is_refused(made: Made) -> None:
    context = Tls(made.files).context
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_plain_http_is_told_what_is_wrong(server: Serving) -> None:
    status, headers, body = server.post("ListTables", {})
    assert (status, headers["connection"]) == (400, "close")
    assert body["message"] == "This port speaks TLS: the endpoint begins with https://"


def test_what_is_neither_is_cut_off(server: Serving) -> None:
    assert plain_answer(server, b"\x00\x01\x02\x03") == b""


def test_a_refused_request_gets_its_answer_over_tls(server: Serving, made: Made) -> None:
    with made.connect(server) as connection:
        connection.sendall(b"NONSENSE\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_a_certificate_is_exchanged_while_connections_go_on(own: Made) -> None:
    with serving(*own.flags) as server, own.connect(server) as old:
        before = fingerprint(old)
        own.exchange()
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.log_text().count("tls.loaded") == 2)
        with own.connect(server) as new:
            assert fingerprint(new) != before
            assert ask(new).startswith(b"HTTP/1.1 200 OK")
        assert ask(old).startswith(b"HTTP/1.1 200 OK")


def test_a_certificate_that_does_not_fit_is_not_taken(own: Made) -> None:
    with serving(*own.flags) as server:
        with own.connect(server) as connection:
            before = fingerprint(connection)
        own.certificate.write_bytes(own.authority.issue(["localhost"]).certificate)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "tls.not_reloaded" in server.log_text())
        assert "is not the key of the certificate" in server.log_text()
        with own.connect(server) as connection:
            assert fingerprint(connection) == before


def spoil_with_expired(own: Made) -> str:
    """An expired certificate with its own key; gives what is said of it."""
    issued = Authority(days=1, now=datetime.now(UTC) - timedelta(days=9)).issue(["localhost"])
    own.certificate.write_bytes(issued.certificate)
    own.key.write_bytes(issued.key)
    return "has expired"


def spoil_key(own: Made) -> str:
    own.key.write_bytes(own.authority.issue(["localhost"]).key)
    return "is not the key of the certificate"


def spoil_mode(own: Made) -> str:
    own.key.chmod(0o644)
    return "can be read by other users"


def lose_certificate(own: Made) -> str:
    own.certificate.unlink()
    return "cannot be read"


def spoil_certificate(own: Made) -> str:
    own.certificate.write_bytes(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    return "has no certificate in PEM form"


def spoil_authority(own: Made) -> str:
    own.ca.write_bytes(b"nothing")
    return "has no certificate in PEM form"


def lose_authority(own: Made) -> str:
    own.ca.unlink()
    return "cannot be read"


SPOILERS = (
    spoil_with_expired,
    spoil_key,
    spoil_mode,
    lose_certificate,
    spoil_certificate,
    spoil_authority,
    lose_authority,
)


@pytest.mark.parametrize("spoil", SPOILERS)
def test_unfit_files_leave_the_old_certificate_in_use_and_one_line_in_the_log(
    own: Made, spoil: Callable[[Made], str], caplog: pytest.LogCaptureFixture
) -> None:
    tls = Tls(own.files._replace(client_ca=own.ca))
    context, certificate = tls.context, tls.certificate
    reason = spoil(own)
    with caplog.at_level("INFO"):
        assert not tls.reload()
    assert (tls.context, tls.certificate) == (context, certificate)
    [line] = caplog.records
    assert (line.levelname, line.getMessage()) == ("ERROR", "tls.not_reloaded")
    assert reason in str(line.__dict__)


def test_an_expired_certificate_is_taken_for_another_expired_one(own: Made) -> None:
    later = datetime.now(UTC) + timedelta(days=90)
    tls = Tls(own.files, now=later.timestamp)
    own.exchange()
    assert tls.reload()


def test_refused_handshakes_have_one_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = [0.0]
    refusals = HandshakeLog(lambda: clock[0])
    for number in range(3 * int(LINE_SECONDS)):
        clock[0] = float(number)
        refusals.refused("192.0.2.1", "NO_SHARED_CIPHER")
    assert [record.__dict__["fields"]["times"] for record in caplog.records] == [1, 60, 60]


def test_all_workers_take_the_new_certificate(own: Made, tmp_path: Path) -> None:
    flags = ("--workers", "2", "--data-dir", str(tmp_path / "data"), *own.flags[1:])
    with serving(*flags) as server:
        with own.connect(server) as first, own.connect(server) as second:
            old = {fingerprint(first), fingerprint(second)}
            assert len(old) == 1
            own.exchange()
            server.process.send_signal(signal.SIGHUP)

            def all_new() -> bool:
                seen = set()
                for _ in range(4):
                    with own.connect(server) as connection:
                        seen.add(fingerprint(connection))
                return len(seen) == 1 and not seen & old

            until(all_new)
            assert ask(first).startswith(b"HTTP/1.1 200 OK")
            assert ask(second).startswith(b"HTTP/1.1 200 OK")
        assert plain_answer(server, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_clients_without_a_certificate_are_not_let_in(made: Made) -> None:
    with serving(*made.flags, "--tls-client-ca", str(made.ca)) as server:
        assert refused(made, server, made.trusting())
        stranger = made.trusting()
        issued = Authority(days=1).issue(["stranger"], client=True)
        files = made.folder / "stranger.pem", made.folder / "stranger.key"
        for path, content in zip(files, issued, strict=True):
            path.write_bytes(content)
        stranger.load_cert_chain(*files)
        assert refused(made, server, stranger)
        until(lambda: "tls.handshake_refused" in server.log_text())
        assert server.log_text().count("tls.handshake_refused") == 1
        client = boto3.client(
            "dynamodb",
            endpoint_url=server.endpoint,
            verify=str(made.ca),
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=Config(client_cert=(str(made.client), str(made.client_key))),
        )
        assert client.list_tables()["TableNames"] == []


def test_plain_http_is_redirected(made: Made) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    with serving(*made.flags, "--tls-redirect-port", str(port)) as server:
        connection = http.client.HTTPConnection("localhost", port, timeout=30)
        connection.request("GET", "/metrics?x=1")
        response = connection.getresponse()
        connection.close()
        assert response.status == 308
        assert response.getheader("Location") == f"https://localhost:{server.port}/metrics?x=1"


@pytest.mark.parametrize(
    ("head", "location"),
    [
        (b"GET / HTTP/1.1\r\nHost: a.example.org:80\r\n\r\n", b"https://a.example.org:8443/"),
        (b"POST /x HTTP/1.1\r\nhost: [::1]\r\n\r\n", b"https://[::1]:8443/x"),
        (b"GET / HTTP/1.1\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", None),
        (b"GET //evil.example\x01 HTTP/1.1\r\nHost: a\r\n\r\n", None),
        (b"GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nX: y\r\n\r\nHost: a\r\n", None),
    ],
)
def test_a_redirect_leads_to_the_same_host_only(head: bytes, location: bytes | None) -> None:
    found = [line for line in answer(head, 8443).split(b"\r\n") if line.startswith(b"Location: ")]
    assert found == ([] if location is None else [b"Location: " + location])


def test_a_key_that_others_can_read_is_refused(own: Made) -> None:
    own.key.chmod(0o640)
    with pytest.raises(TlsInvalid, match=r"can be read by other users: its mode is 0640; `chmod 0600 "):
        Tls(own.files)


def test_an_encrypted_key_needs_its_password(own: Made) -> None:
    encrypted, password = own.folder / "encrypted.key", own.folder / "password"
    command = [
        "openssl",
        "pkcs8",
        "-topk8",
        "-in",
        str(own.key),
        "-out",
        str(encrypted),
        "-passout",
        "pass:open sesame",
    ]
    subprocess.run(command, check=True, capture_output=True)
    encrypted.chmod(0o600)
    files = TlsFiles(own.certificate, encrypted)
    with pytest.raises(TlsInvalid, match="is encrypted: its password goes into --tls-key-password-file"):
        Tls(files)
    password.write_text("wrong\n")
    password.chmod(0o600)
    with pytest.raises(TlsInvalid, match="its password is another one") as refused:
        Tls(files._replace(key_password=password))
    assert "wrong" not in str(refused.value)
    password.write_text("open sesame\n")
    assert Tls(files._replace(key_password=password)).certificate.names == ("localhost", "127.0.0.1")


@pytest.mark.parametrize("name", ["certificate", "key", "client_ca"])
def test_files_that_are_none_are_refused_at_the_start(own: Made, name: str) -> None:
    bad = own.folder / "bad.pem"
    bad.write_text("no PEM")
    bad.chmod(0o600)
    with pytest.raises(TlsInvalid):
        Tls(own.files._replace(**{name: bad}))
    with pytest.raises(TlsInvalid, match="cannot be read: No such file"):
        Tls(own.files._replace(**{name: own.folder / "missing"}))


def test_a_certificate_near_its_end_is_warned_of(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    end = Tls(made.files).certificate.not_after.timestamp()
    for now in (end - 20 * 86400, end - 3 * 86400, end + 1):
        Tls(made.files, lambda now=now: now).check_expiry()
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["tls.expires_soon", "tls.expired"]


@pytest.mark.parametrize(
    "flags",
    [{"tls_cert": "a"}, {"tls_key": "a"}, {"tls_client_ca": "a"}, {"tls_redirect_port": "8080"}],
)
def test_settings_that_need_each_other(flags: dict[str, str]) -> None:
    with pytest.raises(SettingInvalid):
        load(flags, {})


def test_self_signed_certificates_work_as_the_command_says(tmp_path: Path) -> None:
    folder = tmp_path / "tls"
    command = ["hashrange", "tls", "self-signed", "--out", str(folder)]
    run = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=True)
    assert f"AWS_CA_BUNDLE={folder}/ca.pem" in run.stdout
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        "ca.pem": 0o644,
        "server.pem": 0o644,
        "server.key": 0o600,
    }
    flags = ("--tls-cert", str(folder / "server.pem"), "--tls-key", str(folder / "server.key"))
    with serving("--in-memory", *flags) as server:
        context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            assert ask(connection).startswith(b"HTTP/1.1 200 OK")
    again = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    assert (again.returncode, "--force replaces it" in again.stderr) == (1, True)


@pytest.mark.parametrize("is_mutual", [False, True])
def test_the_image_s_health_check_asks_over_tls(made: Made, is_mutual: bool) -> None:
    authorities = ("--tls-client-ca", str(made.ca)) if is_mutual else ()
    with serving(*made.flags, *authorities) as server:
        environment = {"HASHRANGE_PORT": str(server.port), "HASHRANGE_TLS_CERT": str(made.certificate)}
        if is_mutual:
            environment["HASHRANGE_TLS_CLIENT_CA"] = str(made.ca)
        command = [sys.executable, str(ROOT / "deploy" / "healthcheck.py")]
        assert subprocess.run(command, env=environment, check=False).returncode == 0
        assert server.stop() == 0
        assert (
            subprocess.run(command, env=environment, check=False, stderr=subprocess.DEVNULL).returncode == 1
        )
