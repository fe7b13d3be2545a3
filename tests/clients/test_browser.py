"""A real browser: pages of this machine can use the server, pages from elsewhere can neither read nor write.

It needs Chromium (Debian's `chromium`); `HASHRANGE_BROWSER` names another. Names that end in .example are pointed at
this machine by a flag of the browser, as an attacker's DNS would.
"""

import http.server
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from serving import AUTHORIZATION, Serving, serving

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-extensions",
    ),
    # Newer versions ask the person before a page may reach a local address at all; the server must not rely on that.
    "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,HttpsUpgrades",
    "--host-resolver-rules=MAP *.example 127.0.0.1",
)
_BROWSER_SECONDS = 120
_TABLE = {
    "TableName": "page",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
# Every way in which a page can send something, and whether it got to see an answer.
_PAGE = """<!doctype html><title>page</title><script>
const endpoint = ENDPOINT, who = WHO;
const headers = {"Content-Type": "application/x-amz-json-1.0", "Authorization": AUTHORIZATION,
                 "X-Amz-Date": "20260101T000000Z"};
const put = JSON.stringify({TableName: "page", Item: {pk: {S: who}}});
async function attempt(options) {
  try {
    const answer = await fetch(endpoint + "/", options);
    return answer.type === "opaque" ? "opaque" : answer.status + " " + (await answer.text());
  } catch (error) { return "blocked"; }
}
const target = name => ({...headers, "X-Amz-Target": "DynamoDB_20120810." + name});
(async () => {
  const seen = {
    health: await attempt({}),
    list: await attempt({method: "POST", headers: target("ListTables"), body: "{}"}),
    put: await attempt({method: "POST", headers: target("PutItem"), body: put}),
    simple: await attempt({method: "POST", mode: "no-cors", body: put}),
  };
  await fetch("/seen", {method: "POST", body: JSON.stringify(seen)});
})();
</script>"""


def browser() -> str:
    """The browser's program."""
    named = os.environ.get("HASHRANGE_BROWSER")
    found = (
        named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    )
    if found is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    return found


@dataclass
class Site:
    """A web server with one page, which reports to it what it could do."""

    endpoint: str
    who: str
    port: int = 0
    seen: dict[str, str] = field(default_factory=dict)
    reported: threading.Event = field(default_factory=threading.Event)

    def page(self) -> bytes:
        values = {"ENDPOINT": self.endpoint, "WHO": self.who, "AUTHORIZATION": AUTHORIZATION}
        page = _PAGE.replace(
            '"Authorization": AUTHORIZATION', f'"Authorization": {json.dumps(AUTHORIZATION)}'
        )
        for name in ("ENDPOINT", "WHO"):
            page = page.replace(name, json.dumps(values[name]), 1)
        return page.encode()

    def start(self) -> http.server.ThreadingHTTPServer:
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(site.page() if self.path == "/" else b"")

            def do_POST(self) -> None:
                site.seen.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.answer(b"")
                site.reported.set()

            def answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = running.server_port
        threading.Thread(target=running.serve_forever, daemon=True).start()
        return running


def visited(site: Site, host: str, profile: Path) -> dict[str, str]:
    """Open the page under a name, and give what it reports."""
    program = browser()
    running = site.start()
    command = [program, *_FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    process = subprocess.Popen(
        [*command, f"http://{host}:{site.port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        assert site.reported.wait(_BROWSER_SECONDS), "the page reported nothing"
    finally:
        process.terminate()
        process.wait(30)
        running.shutdown()
        running.server_close()
    return site.seen


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Serving]:
    """A server with one empty table."""
    browser()
    with serving("--in-memory", "--transition-ms", "0", *getattr(request, "param", ())) as running:
        assert running.post("CreateTable", _TABLE).status == 200
        yield running


def stored(server: Serving) -> list[str]:
    return [item["pk"]["S"] for item in server.post("Scan", {"TableName": "page"}).body["Items"]]


def test_a_page_of_this_machine_can_read_and_write(server: Serving, tmp_path: Path) -> None:
    seen = visited(Site(server.endpoint, "local"), "localhost", tmp_path)
    assert seen["health"] == "200 healthy: dynamodb.us-east-1.amazonaws.com "
    assert seen["list"] == '200 {"TableNames":["page"]}'
    assert seen["put"] == "200 {}"
    assert stored(server) == ["local"]


def test_a_page_from_elsewhere_can_neither_read_nor_write(server: Serving, tmp_path: Path) -> None:
    seen = visited(Site(server.endpoint, "foreign"), "evil.example", tmp_path)
    assert seen == {"health": "blocked", "list": "blocked", "put": "blocked", "simple": "opaque"}
    assert stored(server) == []


def test_a_name_pointed_at_this_machine_does_not_help(server: Serving, tmp_path: Path) -> None:
    """DNS rebinding: the page asks the server by the attacker's name."""
    seen = visited(Site(f"http://rebound.example:{server.port}", "rebound"), "localhost", tmp_path)
    assert {seen[name] for name in ("health", "list", "put")} == {"blocked"}
    assert stored(server) == []


@pytest.mark.parametrize("server", [("--cors-origin", "*")], indirect=True)
def test_all_pages_can_be_allowed(server: Serving, tmp_path: Path) -> None:
    seen = visited(Site(server.endpoint, "allowed"), "app.example", tmp_path)
    assert seen["put"] == "200 {}"
    assert stored(server) == ["allowed"]
