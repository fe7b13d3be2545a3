"""DescribeLimits, DescribeEndpoints and DescribeContinuousBackups: fixed answers."""

from typing import Any

from item_tables import make_table, refused


def test_the_quotas(client: Any) -> None:
    answer = client.describe_limits()
    answer.pop("ResponseMetadata")
    assert answer == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }


def test_the_server_is_its_own_endpoint(client: Any, server: Any) -> None:
    (endpoint,) = client.describe_endpoints()["Endpoints"]
    assert endpoint == {
        "Address": server.endpoint.removeprefix("http://"),
        "CachePeriodInMinutes": 1440,
    }


def test_no_table_has_point_in_time_recovery(client: Any) -> None:
    name = make_table(client, "p")
    assert client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"] == {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }


def test_backups_of_a_table_there_is_not(client: Any) -> None:
    assert refused(client.describe_continuous_backups, TableName="never-made") == (
        "TableNotFoundException",
        "Table not found: never-made",
    )
