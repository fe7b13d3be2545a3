"""The server's own pages: health, metrics, consumption, heat and insights."""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hashrange.clock import Clock
from hashrange.metering import Metering, collect
from hashrange.metrics import Metric
from hashrange.storage import follower, layout
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.follower import StaleCatalogue
from hashrange.wire import bill_endpoint, heat_endpoint, insights_endpoint
from hashrange.wire.bill_endpoint import BillEndpoint
from hashrange.wire.health import HealthEndpoint
from hashrange.wire.heat_endpoint import HeatEndpoint, HeatSource
from hashrange.wire.insights_endpoint import InsightsEndpoint
from hashrange.wire.metrics_endpoint import MetricsEndpoint
from hashrange.wire.router import Endpoint
from hashrange.wire.table_pages import TableFinder


class Data(NamedTuple):
    """What pages are about."""

    engine: Engine
    catalogue: Catalogue
    clock: Clock


def health_page(data: Data) -> HealthEndpoint:
    """The page that says whether the server lives and is ready."""
    return HealthEndpoint(partial(_probe, data.engine, data.catalogue))


def metrics_page(data: Data, worker: int, more: Callable[[], list[Metric]]) -> MetricsEndpoint:
    """The page for Prometheus, with `more` metrics of the process."""
    return MetricsEndpoint(partial(collect, data.engine, data.catalogue, data.clock, worker, more))


def monitoring(data: Data, metering: Metering, finder: TableFinder) -> dict[bytes, Endpoint]:
    """The pages about single tables."""
    source = HeatSource(metering.heat, metering.heat_worker, data.engine, data.clock)
    return {
        bill_endpoint.PATH: BillEndpoint(data.engine, data.clock, finder),
        insights_endpoint.PATH: InsightsEndpoint(data.engine, data.clock, finder),
        heat_endpoint.PATH: HeatEndpoint(source, finder),
    }


def _probe(engine: Engine, catalogue: Catalogue, done: Callable[[BaseException | None], None]) -> None:
    """Read one key of the data, and see that it is still the same database; others may change its tables."""

    def step(reader: Reader) -> None:
        if engine.shared:
            with contextlib.suppress(StaleCatalogue):
                follower.check(reader, catalogue.epoch)
        else:
            reader.get(layout.CATALOGUE_EPOCH)

    engine.submit_read(step, lambda _, error: done(error), reads=(layout.CATALOGUE_EPOCH,))
