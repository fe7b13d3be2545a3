"""A whole server that verifies signatures, asked by boto3, by our own commands and by strangers."""

import asyncio
import http.client
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import boto3
import pytest
import uvloop
from botocore.config import Config
from botocore.exceptions import ClientError

from auth.signature.signing import (
    ACCESS_KEY,
    SECRET,
    SESSION_KEY,
    SESSION_SECRET,
    TOKEN,
    KnownKeys,
    credential_of,
)
from hashrange import admin, cli
from hashrange.config import Settings
from hashrange.server import Server

SETTINGS = Settings(in_memory=True, port=0, auth="signature", transition_ms=0, test_clock=True)
SCHEMA = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class Running:
    """A server on a thread and loop of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._main)
        self._thread.start()
        assert self._ready.wait(60)
        self.endpoint = f"http://127.0.0.1:{self.port}"

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        keys = KnownKeys(**{SESSION_KEY: credential_of(SESSION_SECRET, token=TOKEN)})
        serving = Server(self._settings, keys=keys)
        _, self.port = await serving.start()
        self._ready.set()
        await self._stop.wait()
        await serving.stop()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    def client(self, service: str, secret: str = SECRET, *, session: bool = False) -> object:
        keys = (SESSION_KEY, SESSION_SECRET, TOKEN) if session else (ACCESS_KEY, secret, None)
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name="eu-west-1",
            aws_access_key_id=keys[0],
            aws_secret_access_key=keys[1],
            aws_session_token=keys[2],
            config=Config(retries={"total_max_attempts": 1}),
        )

    def get(self, path: str, method: str = "GET") -> int:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path)
            return connection.getresponse().status


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    one = Running(SETTINGS)
    yield one
    one.stop()


def ask(running: Running, service: str, method: str, **options: object) -> object:
    secret = options.pop("secret", SECRET)
    client = running.client(service, str(secret), session=bool(options.pop("session", False)))
    return getattr(client, method)(**options)


CALLS = [
    ("dynamodb", "list_tables"),
    ("dynamodbstreams", "list_streams"),
    ("cloudwatch", "list_metrics"),
    ("sts", "get_caller_identity"),
    ("application-autoscaling", "describe_scalable_targets"),
]
REQUIRED = {"application-autoscaling": {"ServiceNamespace": "dynamodb"}}
MISMATCHES = {"InvalidSignatureException", "SignatureDoesNotMatch"}


@pytest.mark.parametrize(("service", "method"), CALLS)
@pytest.mark.parametrize("session", [False, True])
def test_every_service_serves_whoever_has_signed(
    running: Running, service: str, method: str, session: bool
) -> None:
    for _ in range(2):
        assert ask(running, service, method, session=session, **REQUIRED.get(service, {}))


@pytest.mark.parametrize(("service", "method"), CALLS)
def test_every_service_refuses_another_secret(running: Running, service: str, method: str) -> None:
    with pytest.raises(ClientError) as raised:
        ask(running, service, method, secret="another", **REQUIRED.get(service, {}))
    assert raised.value.response["Error"]["Code"] in MISMATCHES


def test_items_small_and_large(running: Running) -> None:
    ask(running, "dynamodb", "create_table", TableName="items", **SCHEMA)
    for size in (1, 100_000):
        item = {"pk": {"S": str(size)}, "v": {"S": "é" * size}}
        ask(running, "dynamodb", "put_item", TableName="items", Item=item)
        answer = ask(running, "dynamodb", "get_item", TableName="items", Key={"pk": item["pk"]})
        assert answer["Item"] == item  # type: ignore[index]
    arn = ask(running, "dynamodb", "describe_table", TableName="items")["Table"]["TableArn"]  # type: ignore[index]
    assert arn == "arn:aws:dynamodb:eu-west-1:111122223333:table/items"


def test_strangers_see_whether_it_lives_and_nothing_else(running: Running) -> None:
    for path in ("/", "/_hashrange/health", "/_hashrange/ready"):
        assert running.get(path) == 200
    for path in ("/metrics", "/_hashrange/clock", "/_hashrange/chaos", "/_hashrange/heat?table=items"):
        assert running.get(path) == 403
    assert running.get("/_hashrange/clock", "POST") == 403


def test_our_own_commands_sign(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(admin.AdminFailed, match="Request is missing Authentication Token"):
        admin.ask(running.endpoint, "GET", "/metrics")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert "hashrange_" in admin.ask(running.endpoint, "GET", "/metrics")
    assert cli.main(["clock", "advance", "3h", "--endpoint", running.endpoint]) == 0
    # The time of tables is another one now; that of signatures is not.
    assert ask(running, "dynamodb", "list_tables")


def test_metrics_can_be_public() -> None:
    public = Running(replace(SETTINGS, public_metrics=True))
    try:
        assert public.get("/metrics") == 200
        assert public.get("/_hashrange/clock") == 403
    finally:
        public.stop()
