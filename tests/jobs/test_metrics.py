"""Metrics that jobs publish: capacities and quotas every five minutes, and what TTL has deleted."""

from clocked import Clocked
from hashrange.capacity.series import Statistics, merged
from hashrange.jobs.metrics import SAMPLE_SECONDS, SampleCapacity
from hashrange.storage.metric_rows import read_series
from new_tables import request as new_table

UNITS = {"ReadCapacityUnits": 800, "WriteCapacityUnits": 40}


def read(service: Clocked, metric: str, **dimensions: str) -> Statistics:
    now = service.clock.now()
    return merged(
        service.engine.read(
            lambda reader: read_series(
                reader, "000000000000", "us-east-1", metric, dimensions, now - 7200, now + 60, 60
            )
        )
    )


def test_capacities_are_published_every_five_minutes() -> None:
    service = Clocked()
    table = new_table("p", TableName="tab", BillingMode="PROVISIONED", ProvisionedThroughput=UNITS)
    service.call("CreateTable", **table)
    service.call("CreateTable", **new_table("p", TableName="free"))
    job = SampleCapacity(service.engine, service.catalogue)
    for _ in range(3):
        assert 0 < job.step(service.clock.now()) <= SAMPLE_SECONDS
        assert 0 < job.step(service.clock.now()) <= SAMPLE_SECONDS  # twice in the same five minutes
        service.clock.advance(SAMPLE_SECONDS)
    provisioned = read(service, "ProvisionedReadCapacityUnits", TableName="tab")
    assert (provisioned.n, provisioned.min, provisioned.max) == (3, 800.0, 800.0)
    assert read(service, "ProvisionedReadCapacityUnits", TableName="free").n == 0
    assert read(service, "AccountMaxReads").max == 80_000.0
    assert read(service, "AccountProvisionedReadCapacityUtilization").max == 1.0
    assert read(service, "MaxProvisionedTableWriteCapacityUtilization").max == 0.1


def test_what_ttl_has_deleted_is_counted() -> None:
    service = Clocked()
    service.call("CreateTable", **new_table("p", TableName="tab"))
    service.clock.advance(5)
    service.run_jobs()
    specification = {"Enabled": True, "AttributeName": "ttl"}
    service.call("UpdateTimeToLive", TableName="tab", TimeToLiveSpecification=specification)
    expired = {"N": str(int(service.clock.now()) - 60)}
    for number in range(7):
        service.call("PutItem", TableName="tab", Item={"p": {"S": str(number)}, "ttl": expired})
    service.clock.advance(60)
    service.run_jobs()
    assert read(service, "TimeToLiveDeletedItemCount", TableName="tab").sum == 7.0
