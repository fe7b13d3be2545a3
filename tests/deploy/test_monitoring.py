"""The dashboard and the alert rules: what they ask for is on the page of metrics, and is well formed."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from item_tables import make_table
from service_clients import client_of
from serving import Serving, serving

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "hashrange.json").read_text("utf-8"))
ALERTS: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text("utf-8"))
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
_PATIENCE_SECONDS = 60
_NAME = re.compile(r"\b(?:hashrange|process)_[a-z_]+")
# Grafana puts something in their place before Prometheus sees them.
_VARIABLES = {"$__rate_interval": "5m", "$region": ".*", "$table": ".*"}
# What has no samples without enforcement, faults or time.
_SILENT = {"hashrange_table_throttled_events_total", "hashrange_table_transaction_conflicts_total"}


def expressions() -> list[str]:
    exprs = [target["expr"] for panel in PANELS for target in panel["targets"]]
    for variable, value in _VARIABLES.items():
        exprs = [expr.replace(variable, value) for expr in exprs]
    return exprs + [rule["expr"] for rule in RULES]


@pytest.mark.parametrize("expression", expressions())
def test_every_expression_is_well_formed(expression: str) -> None:
    promql_parser.parse(expression)


def test_every_alert_says_what_prometheus_wants_to_know() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES) >= 6
    for rule in RULES:
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert re.fullmatch(r"\d+m", rule["for"])
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert label == "instance" or re.search(rf"by \([^)]*\b{label}\b", rule["expr"]), rule["alert"]


# What belongs to one server, and not to the data that all servers share.
_OF_A_SERVER = ("process_", "hashrange_data_file_bytes")


@pytest.mark.parametrize("expression", expressions())
def test_servers_that_tell_the_same_totals_are_not_added_up(expression: str) -> None:
    for name in _NAME.finditer(expression):
        if not name[0].startswith(_OF_A_SERVER):
            before = expression[: name.start()]
            assert re.search(r"max by \(job(?:, \w+)+\) \((?:rate\()?$", before), name[0]


def test_panels_lie_beside_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server that has answered a little of everything."""
    with serving("--data-dir", str(tmp_path_factory.mktemp("data"))) as server:
        client = client_of(server)
        name = make_table(
            client,
            "p",
            ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        )
        specification = {"Enabled": True, "AttributeName": "ttl"}
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=specification)
        client.put_item(TableName=name, Item={"p": {"S": "1"}})
        client.get_item(TableName=name, Key={"p": {"S": "1"}})
        client.scan(TableName=name)
        with pytest.raises(client.exceptions.ConditionalCheckFailedException):
            client.delete_item(
                TableName=name, Key={"p": {"S": "1"}}, ConditionExpression="attribute_exists(q)"
            )
        yield server


def page(server: Serving) -> dict[str, list[Any]]:
    text = server.request("GET", "/metrics").body.decode()
    families = text_string_to_metric_families(text)
    return {sample.name: family.samples for family in families for sample in family.samples}


def full_page(server: Serving) -> dict[str, list[Any]]:
    """The page, once everything is on it that the server was asked to do."""
    wanted = {name for expression in expressions() for name in _NAME.findall(expression)} - _SILENT
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while missing := wanted - (shown := page(server)).keys():
        assert time.monotonic() < deadline, missing
        time.sleep(0.5)
    return shown


def test_everything_that_is_asked_for_is_on_the_page(busy: Serving) -> None:
    full_page(busy)
    text = busy.request("GET", "/metrics").body.decode()
    assert all(f"# TYPE {name} " in text for name in _SILENT)


def test_the_largest_is_taken_of_one_series_and_not_of_several(busy: Serving) -> None:
    """`max by` has all labels of what it is about, so that nothing but servers is put together."""
    families = full_page(busy)
    taken = re.compile(r"max by \(job, ([^)]+)\) \((?:rate\()?(\w+)(\{[^}]*\})?")
    for by, name, matchers in (found.groups() for text in expressions() for found in taken.finditer(text)):
        fixed = set(re.findall(r'(\w+)="', matchers or ""))
        own = {label for sample in families.get(name, ()) if sample.name == name for label in sample.labels}
        assert own <= set(by.split(", ")) | fixed, name


def test_histograms_are_cumulative(busy: Serving) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (samples := page(busy).get("hashrange_request_duration_seconds_count")):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    operations = {sample.labels["operation"] for sample in samples}
    for operation in operations:
        own = [sample for sample in samples if sample.labels["operation"] == operation]
        buckets = [sample.value for sample in own if sample.name.endswith("_bucket")]
        counts = [sample.value for sample in own if sample.name.endswith("_count")]
        assert buckets == sorted(buckets)
        assert buckets[-1] == counts[0] > 0


def test_what_never_failed_is_zero_so_that_the_first_failure_is_an_increase(busy: Serving) -> None:
    samples = full_page(busy)["hashrange_requests_total"]
    outcomes = {
        sample.labels["outcome"]: sample.value
        for sample in samples
        if sample.labels["operation"] == "DeleteItem"
    }
    assert outcomes.pop("condition") == 1
    assert outcomes == dict.fromkeys(("ok", "conflict", "throttle", "user-error", "system-error"), 0)
