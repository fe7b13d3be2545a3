"""A service that enforces capacity, with one table and an index of so many units."""

from typing import Generic, TypeVar

from clocked import Clocked
from hashrange.api.throttling.gate import Gate
from hashrange.capacity.admission import Admission
from item_tables import index
from new_tables import request as new_table

M = TypeVar("M", bound=Admission)


class GuardedTable(Clocked, Generic[M]):
    """The table is `ttt`, its index `ggg`."""

    def __init__(self, model: M, units: int) -> None:
        super().__init__()
        self.model = model
        self.gate = Gate(model, self.clock, "enforce")
        self.context.gate = self.gate
        throughput = {"ReadCapacityUnits": units, "WriteCapacityUnits": units}
        self.call(
            "CreateTable",
            **new_table(
                "pk",
                types={"a": "S"},
                TableName="ttt",
                BillingMode="PROVISIONED",
                ProvisionedThroughput=throughput,
                GlobalSecondaryIndexes=[index("ggg", "a") | {"ProvisionedThroughput": throughput}],
            ),
        )
        self.settle()
