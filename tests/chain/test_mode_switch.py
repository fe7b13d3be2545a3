"""Switches to on-demand: the old rate until the switch is done, and then what the table's history allows at once."""

import pytest

from clocked import Clocked
from hashrange.api.results import Charge
from hashrange.api.throttling.gate import Gate
from hashrange.capacity.admission import Admission
from hashrange.core.schema import Table
from item_tables import index
from new_tables import request as new_table
from schemas import item_key

SWITCH_SECONDS = 100
KEYS = [item_key({"S": f"key-{number}"}) for number in range(997)]
STEP = 20.0


class Switched(Clocked):
    """A provisioned table with an index, whose mode and capacity are changed."""

    def __init__(self, reads: int, writes: int) -> None:
        super().__init__(transition_ms=SWITCH_SECONDS * 1000)
        self.gate = Gate(Admission(), self.clock, "enforce")
        self.context.gate = self.gate
        self.call(
            "CreateTable",
            **new_table(
                "pk",
                types={"a": "S"},
                TableName="ttt",
                BillingMode="PROVISIONED",
                ProvisionedThroughput=throughput(reads, writes),
                GlobalSecondaryIndexes=[
                    index("ggg", "a") | {"ProvisionedThroughput": throughput(reads, writes)}
                ],
            ),
        )
        self.finish()

    def finish(self) -> None:
        """Let a change be done."""
        self.clock.advance(SWITCH_SECONDS + 1)
        self.run_jobs()
        assert self.describe("ttt")["TableStatus"] == "ACTIVE"

    def update(self, **request: object) -> None:
        self.call("UpdateTable", TableName="ttt", **request)

    def table(self) -> Table:
        table = self.catalogue.find("000000000000", "us-east-1", "ttt")
        assert table is not None
        return table

    def reads(self, index_name: str | None = None) -> float:
        """Units that are admitted now, in no time."""
        table = self.table()
        index = None if index_name is None else table.index_by_name[index_name]
        units = 0.0
        for key in KEYS * 4:
            if self.gate.read_refusal(table, index, key) is None:
                self.gate.charge([Charge(table, index, key, STEP, write=False)])
                units += STEP
        return units

    def writes(self) -> float:
        """The same for writes of the table."""
        table = self.table()
        units = 0.0
        for key in KEYS * 4:
            if self.gate.write_refusal(table, key) is None:
                self.gate.charge([Charge(table, None, key, STEP, write=True)])
                units += STEP
        return units

    def drain(self) -> None:
        """Spend what was saved: a partition gives no more than a second's worth at once."""
        for _ in range(4):
            self.clock.advance(1)
            self.reads()
            self.reads("ggg")
            self.writes()


def throughput(reads: int, writes: int) -> dict[str, int]:
    return {"ReadCapacityUnits": reads, "WriteCapacityUnits": writes}


def test_while_a_table_is_switched_it_delivers_what_was_provisioned() -> None:
    service = Switched(50, 20)
    service.drain()
    service.update(BillingMode="PAY_PER_REQUEST")
    service.clock.advance(10)
    assert service.describe("ttt")["TableStatus"] == "UPDATING"
    assert service.reads() == pytest.approx(500, abs=STEP)
    assert service.reads("ggg") == pytest.approx(500, abs=STEP)
    assert service.writes() == pytest.approx(200, abs=STEP)
    refusal = service.gate.write_refusal(service.table(), KEYS[0])
    assert refusal is not None
    assert refusal.code == "ProvisionedThroughputExceededException"
    assert [reason["reason"] for reason in refusal.reasons] == ["TableWriteProvisionedThroughputExceeded"]
    assert refusal.message.startswith("The level of configured provisioned throughput for the table")
    service.finish()
    assert service.writes() == pytest.approx(4_000, abs=STEP)
    assert service.reads() == pytest.approx(12_000, abs=STEP)
    assert service.reads("ggg") == pytest.approx(12_000, abs=STEP)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The developer guide's three cases: little, much, and much in the past.
        ([(10, 10)], (12_000, 4_000)),
        ([(24_000, 8_000)], (24_000, 8_000)),
        ([(10_000, 10_000), (10, 10)], (12_000, 10_000)),
    ],
)
def test_what_on_demand_serves_at_first_goes_by_what_was_ever_provisioned(
    before: list[tuple[int, int]], after: tuple[int, int]
) -> None:
    service = Switched(*before[0])
    for reads, writes in before[1:]:
        service.update(ProvisionedThroughput=throughput(reads, writes))
        service.finish()
    service.update(BillingMode="PAY_PER_REQUEST")
    service.finish()
    # Where there are more partitions than that needs, the rate of the whole is what counts.
    assert service.reads() == pytest.approx(after[0], rel=0.05)
    assert service.writes() == pytest.approx(after[1], rel=0.05)


def test_a_table_that_was_on_demand_keeps_its_partitions_and_serves_the_same_again() -> None:
    service = Switched(10, 10)
    service.update(BillingMode="PAY_PER_REQUEST")
    service.finish()
    partitions = service.table().partitions
    update = {"IndexName": "ggg", "ProvisionedThroughput": throughput(10, 10)}
    service.update(
        BillingMode="PROVISIONED",
        ProvisionedThroughput=throughput(10, 10),
        GlobalSecondaryIndexUpdates=[{"Update": update}],
    )
    service.finish()
    assert service.table().partitions == partitions
    service.drain()
    service.clock.advance(10)
    assert service.writes() == pytest.approx(100, abs=STEP)
    service.update(BillingMode="PAY_PER_REQUEST")
    service.finish()
    assert service.writes() == pytest.approx(4_000, abs=STEP)
