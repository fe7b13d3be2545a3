"""The endpoint of test suites: what it refuses, and that other servers have none."""

import json
from collections.abc import Iterator

import pytest

from hashrange.chain import eventual_lag
from hashrange.chain.eventual_lag import Lags, TooManyLags
from hashrange.chain.journal import Journal, RequestRecord
from hashrange.config import SettingInvalid, load
from serving import Serving, serving

_PATH = "/_hashrange/testing"


@pytest.fixture(scope="module")
def kit() -> Iterator[Serving]:
    with serving("--in-memory", "--test-kit", "--log-level", "warning") as running:
        yield running
        assert running.log_text() == ""


def test_a_server_without_the_flag_has_no_such_path(server: Serving) -> None:
    for method, path in (
        ("POST", "/namespaces"),
        ("GET", "/requests"),
        ("DELETE", "/namespaces/000000000000"),
    ):
        answer = server.request(method, _PATH + path)
        assert answer.status in {400, 404}
        assert b"account_id" not in answer.body


def test_a_server_without_the_flag_takes_no_account_from_a_key(server: Serving) -> None:
    headers = {"Authorization": _signed("123456789012")}
    request = {
        "TableName": "of_nobody",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    created = server.post("CreateTable", request, headers=headers)
    assert ":000000000000:" in created.body["TableDescription"]["TableArn"]
    assert server.post("DeleteTable", {"TableName": "of_nobody"}).status == 200


def _signed(access_key: str) -> str:
    return (
        f"AWS4-HMAC-SHA256 Credential={access_key}/20260101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-amz-target, Signature=0"
    )


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/namespaces"),
        ("DELETE", "/namespaces"),
        ("DELETE", "/namespaces/"),
        ("DELETE", "/namespaces/12"),
        ("DELETE", "/namespaces/1000000000011"),
        ("DELETE", "/namespaces/%D9%A1"),
        ("POST", "/requests"),
        ("GET", "/idle"),
        ("GET", "/other"),
        ("PUT", ""),
    ],
)
def test_what_there_is_not_is_not_found(kit: Serving, method: str, path: str) -> None:
    assert kit.request(method, _PATH + path).status == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"account_id": "1", "lag_ms": 5},
        {"account_id": "100000000001", "lag_ms": -1},
        {"account_id": "100000000001", "lag_ms": 60_001},
        {"account_id": "100000000001", "lag_ms": 5, "more": 1},
        [],
    ],
)
def test_a_lag_that_cannot_be_is_refused(kit: Serving, body: object) -> None:
    assert kit.request("POST", f"{_PATH}/lag", json.dumps(body).encode()).status == 400


def test_requests_after_what_is_no_number_are_refused(kit: Serving) -> None:
    assert kit.request("GET", f"{_PATH}/requests?after=x").status == 400
    assert kit.request("GET", f"{_PATH}/requests?" + "a=1&" * 20).status == 400
    shown = kit.request("GET", f"{_PATH}/requests?after={'9' * 500}")
    assert shown.body["requests"] == []


def test_only_so_many_accounts_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eventual_lag, "ACCOUNTS_MAX", 2)
    lags = Lags(0)
    lags.set("a", 1, 0)
    lags.set("b", 1, 0)
    lags.set("b", 2, 0)
    with pytest.raises(TooManyLags):
        lags.set("c", 1, 0)
    lags.set("a", 0, 0)
    lags.set("c", 1, 0)
    assert [lags.moment(account, 100) for account in "abc"] == [100, 98, 99]


def test_nobody_reads_as_of_a_moment_before_the_lag_began() -> None:
    lags = Lags(5)
    assert lags.moment("a", 100) == 95
    lags.set("a", 60, 90)
    assert [lags.moment("a", now) for now in (90, 100, 150, 151)] == [90, 90, 90, 91]
    lags.set("a", 0, 151)
    assert lags.moment("a", 151) == 146


def test_requests_beyond_what_is_kept_are_said_to_be_lost() -> None:
    journal = Journal(records_max=2)
    assert not journal.has_lost(0)
    for number in (1, 2, 3):
        journal._records.append(RequestRecord(number, 0.0, "a" if number < 3 else "b", "", "Query"))
    assert (journal.has_lost(0), journal.has_lost(1)) == (True, False)
    assert [record.number for record in journal.since(1, None)] == [2, 3]
    assert [record.number for record in journal.since(0, "b")] == [3]


@pytest.mark.parametrize(
    "flags",
    [
        {"test_kit": "true"},
        {"test_kit": "true", "in_memory": "true", "host": "0.0.0.0", "auth": "off"},
        {"test_kit": "true", "in_memory": "true", "host": "192.0.2.1", "auth": "off"},
    ],
)
def test_the_flag_is_refused_where_data_or_other_machines_are(flags: dict[str, str]) -> None:
    with pytest.raises(SettingInvalid, match="--test-kit needs --in-memory"):
        load(flags, {})


def test_the_flag_is_taken_on_this_machine() -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        assert load({"test_kit": "true", "in_memory": "true", "host": host}, {}).lag_ms_max == 60_000
