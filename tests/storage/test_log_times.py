"""What is logged later is never older, through whatever happens to the log and to the clock."""

from typing import Any

import pytest

from hashrange.core.schema import changed
from hashrange.storage import appends, catalogue, holds, layout
from stream_tables import Streamed


@pytest.mark.parametrize("change", ["stream on", "stream off", "split", "roll"])
def test_a_write_behind_a_fence_is_younger_even_if_the_clock_is_set_back(change: str) -> None:
    table = Streamed("KEYS_ONLY", BillingMode=None, ProvisionedThroughput=units(5))
    if change == "stream on":
        table.switch(None)
    stored = table.service.catalogue.find("000000000000", "us-east-1", "tab")
    assert stored is not None
    now = table.clock.now()
    moment = table.service.engine.write(lambda tx: holds.hold(tx, stored, "test", now))
    table.service.catalogue.refresh(*catalogue.address(stored))
    table.clock.advance(-1)
    if change == "split":
        table.call("UpdateTable", TableName="tab", ProvisionedThroughput=units(3000))
    elif change == "roll":
        held = table.service.catalogue.find("000000000000", "us-east-1", "tab")
        assert held is not None
        after = changed(held, version=held.version + 1)
        table.service.engine.write(lambda tx: catalogue.save(tx, after, now - 1, roll=True))
        table.service.catalogue.refresh(*catalogue.address(held))
    else:
        off = {"StreamEnabled": False}
        on = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        spec = on if change == "stream on" else off
        table.call("UpdateTable", TableName="tab", StreamSpecification=spec)
    table.put("a")
    rows = table.service.engine.read(lambda reader: list(reader.scan(layout.LOG, layout.LOG_HEAD)))
    assert [appends.time_of(row) > moment for _, row in rows] == [True]


def units(count: int) -> dict[str, Any]:
    return {"ReadCapacityUnits": count, "WriteCapacityUnits": count}
