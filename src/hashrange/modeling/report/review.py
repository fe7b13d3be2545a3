"""A review: what all commands have to say about a model, gathered for one page."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from hashrange.modeling.check.rules import Report
from hashrange.modeling.commands import check, load, price, prove, show
from hashrange.modeling.commands.show import Shown
from hashrange.modeling.demand import ReadDemand, read_demand
from hashrange.modeling.load.day import PlaceDay
from hashrange.modeling.load.flows import flows
from hashrange.modeling.load.records import Place
from hashrange.modeling.load.sharding import day_with_shards
from hashrange.modeling.model import Model, Silence
from hashrange.modeling.planning import plans
from hashrange.modeling.price.pricing import Priced
from hashrange.modeling.problems import ModelErrors
from hashrange.modeling.prove.results import Proof
from hashrange.modeling.report.collections import View, view_count, views
from hashrange.modeling.report.excerpts import excerpts

_REMEDIED_MAX = 4  # days that are simulated once more, with shards


@dataclass(frozen=True, slots=True)
class Review:
    """Everything a page shows. Without prices for the region `unpriced` says so."""

    name: str
    description: str
    region: str
    path: str
    shown: Shown
    rules: Report
    rules_failed: bool
    proof: Proof
    priced: Priced | None
    unpriced: str
    days: tuple[PlaceDay, ...]
    sharded_days: tuple[PlaceDay, ...]
    demands: Mapping[str, ReadDemand]
    views: tuple[View, ...]
    views_left_out: int
    silences: tuple[Silence, ...]
    excerpts: Mapping[int, str]

    @property
    def passed(self) -> bool:
        return self.proof.holds and not self.rules_failed and not self.throttled

    @property
    def throttled(self) -> tuple[PlaceDay, ...]:
        return tuple(day for day in self.days if day.throttles)


def review(model: Model, options: argparse.Namespace) -> Review:
    """Check, prove, price and load a model. A region without prices leaves the costs out, and nothing else."""
    checked = check.run(model, options)
    cost, unpriced = _priced(model, options)
    days = load.run(model, options).places
    lines = [finding.place.line for finding in checked.report.findings]
    lines += [silence.line for silence in model.silences]
    shown_views = views(model, seed=options.seed)
    return Review(
        model.name,
        model.description,
        model.region,
        model.path,
        show.run(model, options),
        checked.report,
        checked.failed,
        prove.run(model, options),
        cost,
        unpriced,
        days,
        _sharded_days(model, days),
        {name: read_demand(model, plan) for name, plan in plans(model).items()},
        shown_views,
        view_count(model) - len(shown_views),
        model.silences,
        excerpts(model.path, lines),
    )


def _priced(model: Model, options: argparse.Namespace) -> tuple[Priced | None, str]:
    try:
        return price.run(model, options), ""
    except ModelErrors as errors:
        if options.prices is not None or options.region is not None:
            raise  # what the caller asked for is wrong
        return None, "; ".join(problem.message for problem in errors.problems)


def _sharded_days(model: Model, days: tuple[PlaceDay, ...]) -> tuple[PlaceDay, ...]:
    """The days of hot places, with the smallest number of shards that carries their peaks."""
    hot = [day for day in days if day.shards is not None][:_REMEDIED_MAX]
    if not hot:
        return ()
    by_place = flows(model)
    return tuple(day_with_shards(model, day, by_place[Place(day.table, day.index)]) for day in hot)
