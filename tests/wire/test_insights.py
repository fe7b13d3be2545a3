"""`/_hashrange/insights`: the hot keys of a table, as all workers together have seen them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serving import Serving, serving
from wiring import eventually

_PATIENCE_SECONDS = 90
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder: Path = tmp_path_factory.mktemp("data")
    with serving("--data-dir", str(folder), "--workers", "2", "--log-level", "warning") as running:
        yield running
        assert "Traceback" not in running.log_text()


def create(server: Serving, name: str) -> None:
    request = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    assert server.post("CreateTable", request).status == 200
    enable = {"TableName": name, "ContributorInsightsAction": "ENABLE"}
    assert eventually(
        lambda: server.post("UpdateContributorInsights", enable).status == 200, _PATIENCE_SECONDS
    )


def top(server: Serving, name: str) -> Any:
    answer = server.request("GET", f"/_hashrange/insights?table={name}&minutes=5")
    assert answer.status == 200
    (accessed,) = [rule for rule in answer.body["rules"] if rule["rule"] == "PKC"]
    return [(one["keys"], one["value"]) for one in accessed["report"]["contributors"]]


def test_the_keys_of_all_workers_are_seen(workers: Serving) -> None:
    create(workers, "tab")
    # A connection for each request: the parent gives them to both workers in turn.
    for number in range(30):
        key = "hot" if number % 3 else f"cold{number}"
        assert workers.post("PutItem", {"TableName": "tab", "Item": {"pk": {"S": key}}}).status == 200
    assert eventually(lambda: sum(value for _, value in top(workers, "tab")) >= 90, _PATIENCE_SECONDS)
    contributors = top(workers, "tab")
    assert contributors[0] == (["hot"], 60.0)
    assert len(contributors) == 11


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("?index=x", 400),
        ("?table=nowhere", 404),
        ("?table=other&index=nix", 404),
        ("?table=other&minutes=0", 400),
        ("?table=other&minutes=1441", 400),
        ("?table=other&minutes=x", 400),
        ("?table=%ff", 400),
        ("?" + "&".join(f"a{number}=1" for number in range(11)), 400),
        ("/more", 404),
    ],
)
def test_refusals(workers: Serving, query: str, status: int) -> None:
    if "other" in query and workers.request("GET", "/_hashrange/insights?table=other").status == 404:
        create(workers, "other")
    assert workers.request("GET", "/_hashrange/insights" + query).status == status


def test_a_table_that_is_not_watched_has_no_rules(workers: Serving) -> None:
    create(workers, "quiet")
    disable = {"TableName": "quiet", "ContributorInsightsAction": "DISABLE"}
    assert workers.post("UpdateContributorInsights", disable).status == 200
    answer = workers.request("GET", "/_hashrange/insights?table=quiet")
    assert answer.body == {
        "table": "quiet",
        "index": None,
        "minutes": 60,
        "rules": [],
    }
