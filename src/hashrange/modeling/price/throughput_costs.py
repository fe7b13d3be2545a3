"""What reads and writes cost a month: on demand, provisioned for the peak, or auto scaled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Literal

from hashrange.modeling.model import Model, Scaling, Table
from hashrange.modeling.price.capacity_days import CapacityDay, fixed, scaled
from hashrange.modeling.price.money import MONTH_HOURS, MONTH_SECONDS, exact
from hashrange.modeling.price.price_list import ClassPrices
from hashrange.modeling.price.uses import Throughput, Use, day

Mode = Literal["on-demand", "provisioned", "auto-scaled"]
MODES: tuple[Mode, ...] = ("on-demand", "provisioned", "auto-scaled")


@dataclass(frozen=True)
class Traffic:
    """What one throughput has to carry over a day. The simulation runs when somebody asks for it."""

    throughput: Throughput
    uses: tuple[Use, ...]
    scaling: Scaling
    months: float = 0

    @cached_property
    def average(self) -> float:
        """Units per second."""
        return sum(use.average(self.months) for use in self.uses)

    @cached_property
    def day(self) -> tuple[float, ...]:
        """Units per second in every minute."""
        return day(self.uses, self.months)

    @cached_property
    def fixed(self) -> CapacityDay:
        """Capacity for the peak."""
        return fixed(self.day, self.scaling.target_percent)

    @cached_property
    def scaled(self) -> CapacityDay:
        """Capacity under auto scaling."""
        return scaled(self.day, self.scaling)

    def later(self, months: float) -> "Traffic":
        """The same in some months; itself if nothing grows, as its days are simulated already."""
        return replace(self, months=months) if self.grows else self

    @property
    def grows(self) -> bool:
        """Whether its traffic changes from month to month."""
        return any(use.rate.percent_per_month for use in self.uses)

    def cost(self, mode: Mode, prices: ClassPrices) -> Decimal:
        """A month of it."""
        write = self.throughput.write
        match mode:
            case "on-demand":
                return exact(self.average) * MONTH_SECONDS * prices.request_unit(write=write)
            case "provisioned":
                return self.fixed.capacities[0] * MONTH_HOURS * prices.unit_hour(write=write)
            case "auto-scaled":
                capacity = Decimal(sum(self.scaled.capacities)) / len(self.scaled.capacities)
                return capacity * MONTH_HOURS * prices.unit_hour(write=write)


def traffic_of(table: Table, uses_by_throughput: Mapping[Throughput, tuple[Use, ...]]) -> tuple[Traffic, ...]:
    """The reads and writes of a table and of its global indexes, those without any traffic included."""
    names = (None, *(index.name for index in table.indexes if not index.local))
    return tuple(
        Traffic(
            throughput,
            uses_by_throughput.get(throughput, ()),
            table.write_scaling if throughput.write else table.read_scaling,
        )
        for name in names
        for throughput in (
            Throughput(table.name, name, write=False),
            Throughput(table.name, name, write=True),
        )
    )


def by_throughput(all_uses: tuple[Use, ...]) -> dict[Throughput, tuple[Use, ...]]:
    """The uses of every throughput."""
    lists: dict[Throughput, list[Use]] = {}
    for use in all_uses:
        lists.setdefault(use.throughput, []).append(use)
    return {throughput: tuple(members) for throughput, members in lists.items()}


def modelled_mode(table: Table) -> Mode:
    """The mode that the model file gives a table."""
    return "on-demand" if table.billing == "PAY_PER_REQUEST" else "auto-scaled"


def chosen_modes(model: Model, mode: Mode | None) -> dict[str, Mode]:
    """The mode of every table: one for all, or each as it is modelled."""
    return {name: mode or modelled_mode(table) for name, table in model.tables.items()}
