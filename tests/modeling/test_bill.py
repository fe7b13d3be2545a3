"""Bills for metered traffic, against arithmetic written out by hand; and the command that asks a server."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hashrange.cli import main
from hashrange.modeling.bill_command import render
from hashrange.modeling.price.bill import Metered, Part, bill
from hashrange.modeling.price.price_list import price_list
from serving import Serving, serving
from wiring import eventually

_PATIENCE_SECONDS = 90
HOUR = 3600


def metered(
    reads: list[float], writes: list[float], period: int = 60, table_class: str = "STANDARD"
) -> Metered:
    parts = [Part(None, 0, 0, reads, writes), Part("LSI", 1000, 2**30 - 100_000, [], [])]
    end = len(writes) * period
    return Metered(
        table="tab",
        region="us-east-1",
        table_class=table_class,
        on_demand=True,
        start=0,
        end=end,
        period_seconds=period,
        parts=parts,
    )


def test_what_was_metered_is_priced() -> None:
    # An hour: 4,200 units read and 8,400 written in every minute are 70 and 140 a second, 70 % of 100 and of 200.
    result = bill([metered([4200.0] * 60, [8400.0] * 60)], price_list(), "us-east-1")
    on_demand = 60 * (4200 * Decimal("0.125") + 8400 * Decimal("0.625")) / 1_000_000
    assert result.on_demand == on_demand
    assert result.auto_scaled == 100 * Decimal("0.00013") + 200 * Decimal("0.00065")
    # The local index stores a gigabyte, of which an hour is a 730th of a month.
    assert result.storage == round(Decimal("0.25") / 730, 8)
    assert (result.start, result.end, result.hours) == (0, HOUR, Decimal(1))
    own, local = result.rows
    assert (own.read_units, own.write_units) == (Decimal(252_000), Decimal(504_000))
    assert (local.index, local.on_demand, local.auto_scaled) == ("LSI", Decimal(0), Decimal(0))


def test_longer_periods_are_spread_over_their_minutes() -> None:
    result = bill([metered([0.0], [140.0 * HOUR], HOUR)], price_list(), "us-east-1")
    assert result.auto_scaled == 1 * Decimal("0.00013") + 200 * Decimal("0.00065")


def test_prices_are_those_of_the_class_and_the_region() -> None:
    rare = metered([0.0] * 60, [1e6] * 60, table_class="STANDARD_INFREQUENT_ACCESS")
    result = bill([rare], price_list(), "sa-east-1")
    assert result.on_demand == 60 * Decimal("0.78") * Decimal("1.5")


def test_the_time_and_a_month_like_it_are_said() -> None:
    lines = render(bill([metered([0.0] * 60, [1e6] * 60)], price_list(), "us-east-1")).splitlines()
    assert lines[0].startswith("1970-01-01 00:00 to 1970-01-01 01:00 UTC, 1.0 hours; prices of ")
    # 60 x 0.625 an hour, 730 times
    assert "27,375.00 on demand" in lines[-1]
    assert render(bill([], price_list(), "us-east-1")) == "there are no tables in us-east-1"


def test_copies_streams_and_replicas_are_in_the_bill() -> None:
    part = Part(None, 0, 2**30, [0.0] * 60, [1e6] * 60)
    table = msgspec.structs.replace(
        metered([0.0] * 60, [1e6] * 60),
        parts=[part, Part("LSI", 0, 2**30, [], []), Part("GSI", 0, 2**30, [0.0] * 60, [0.0] * 60)],
        recovery_since=HOUR / 2,
        stream_reads=300_000,
        backup_bytes=3 * 2**30,
    )
    result = bill([table], price_list(), "us-east-1", ["us-west-2", "sa-east-1"])
    # Half an hour of recovery for the table and its local index, an hour of three gigabytes of backups.
    assert result.recovery == round(2 * Decimal("0.20") / 730 / 2, 8)
    assert result.backups == round(3 * Decimal("0.10") / 730, 8)
    assert result.stream == Decimal("0.06")
    # Sixty million writes again, and three gigabytes for an hour, at 1 and at 1.5 times the price.
    assert result.replicas == round((60 * Decimal("0.625") + 3 * Decimal("0.25") / 730) * Decimal("2.5"), 8)
    lines = render(result).splitlines()
    assert lines[1].split()[-4:] == ["recovery", "backups", "stream", "replicas"]
    assert "43.80 for reading streams" in lines[-1]


def test_recovery_that_is_off_costs_nothing() -> None:
    result = bill([metered([0.0] * 60, [1e6] * 60)], price_list(), "us-east-1")
    assert not any((result.recovery, result.backups, result.stream, result.replicas))
    assert "recovery" not in render(result)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_server_is_asked_for_what_its_tables_consumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with serving("--data-dir", str(tmp_path), "--log-level", "warning") as server:
        _fill(server)

        def billed(*words: str) -> list[list[object]]:
            capsys.readouterr()
            assert main(["bill", "--endpoint", server.endpoint, "--json", *words]) == 0
            rows = json.loads(capsys.readouterr().out)["rows"]
            return [[row["table"], row["index"], Decimal(row["write_units"])] for row in rows]

        # Ten items of two units; an entry of the index is one.
        expected = [["tab", None, 20], ["tab", "GSI", 10]]
        assert eventually(lambda: billed() == expected, _PATIENCE_SECONDS)
        assert billed("tab", "--hours", "360") == billed("tab", "tab", "--hours", "120") == expected
        assert billed("--region", "eu-west-1") == []
        assert main(["bill", "none", "--endpoint", server.endpoint]) == 1
        assert "there is no table 'none'" in capsys.readouterr().err
        for query in (
            "",
            "?table=tab&hours=0",
            "?table=tab&hours=361",
            "?table=tab&hours=x",
            "?table=tab&hours=-1",
        ):
            assert server.request("GET", f"/_hashrange/bill{query}").status == 400
        assert "Traceback" not in server.log_text()
        _read_stream(server, times=3)
        page_path = "/_hashrange/bill?table=tab"
        assert eventually(
            lambda: server.request("GET", page_path).body["stream_reads"] == 3, _PATIENCE_SECONDS
        )
        page = server.request("GET", "/_hashrange/bill?table=tab").body
        assert (page["recovery_since"] is not None, page["backup_bytes"]) == (True, 0)
        # While the server has the data, nobody else opens it.
        assert main(["bill", "--data-dir", str(tmp_path)]) == 1
        assert "Traceback" not in capsys.readouterr().err

    def stored(*words: str) -> list[list[object]]:
        capsys.readouterr()
        assert main(["bill", "--data-dir", str(tmp_path), "--json", *words]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        return [[row["table"], row["index"], Decimal(row["write_units"])] for row in rows]

    assert stored() == stored("tab") == expected
    assert stored("--region", "eu-west-1") == []
    assert main(["bill", "none", "--data-dir", str(tmp_path)]) == 1
    assert "there is no table 'none'" in capsys.readouterr().err
    assert main(["bill", "--data-dir", str(tmp_path / "nowhere")]) == 1
    assert "there is no data in" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()


def _fill(server: Serving) -> None:
    create = {
        "TableName": "tab",
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "other")],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI",
                "KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    }
    assert server.post("CreateTable", create).status == 200
    for number in range(10):
        item = {"pk": {"S": str(number)}, "other": {"S": "x"}, "body": {"S": "y" * 1500}}
        put = {"TableName": "tab", "Item": item}
        assert eventually(lambda put=put: server.post("PutItem", put).status == 200, _PATIENCE_SECONDS)
    protected = {"PointInTimeRecoveryEnabled": True}
    changed = server.post(
        "UpdateContinuousBackups", {"TableName": "tab", "PointInTimeRecoverySpecification": protected}
    )
    assert changed.status == 200


def _read_stream(server: Serving, times: int) -> None:
    def ask(operation: str, body: dict[str, object]) -> Any:
        target = {"X-Amz-Target": f"DynamoDBStreams_20120810.{operation}"}
        answer = server.post(operation, body, headers=target)
        assert answer.status == 200
        return answer.body

    arn = ask("ListStreams", {"TableName": "tab"})["Streams"][0]["StreamArn"]
    shard = ask("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]["ShardId"]
    place = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = ask("GetShardIterator", place)["ShardIterator"]
    for _ in range(times):
        ask("GetRecords", {"ShardIterator": iterator})


def test_a_server_that_is_not_there_and_prices_that_are_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bill", "tab", "--endpoint", "http://127.0.0.1:1"]) == 1
    assert "there is no server at" in capsys.readouterr().err
    assert main(["bill", "tab", "--prices", str(tmp_path / "none")]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["bill", "--hours", "361"])
    assert "write a number from 1 to 360" in capsys.readouterr().err
