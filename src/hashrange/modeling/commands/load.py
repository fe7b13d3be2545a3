"""`hashrange model load`: a day of traffic against the partition model: heat, splits, throttles, hot keys."""

import argparse
import re
from dataclasses import dataclass, replace

from hashrange.modeling.columns import amount, columns, printable
from hashrange.modeling.load.back_pressure import with_back_pressure
from hashrange.modeling.load.day import PlaceDay, SideDay, simulate
from hashrange.modeling.load.flows import SHARDS_MAX, flows, sharded
from hashrange.modeling.load.records import Place
from hashrange.modeling.load.sharding import fewest_shards
from hashrange.modeling.model import Model
from hashrange.modeling.problems import ModelErrors, refused
from hashrange.modeling.report.heat_section import heat_section
from hashrange.modeling.report.page import page

DESCRIPTION = (
    "Simulate a day: the requests of all patterns, by their curves and key distributions, against the partitions, "
    "token buckets, splits, on-demand growth and auto scaling of the server itself. Shows how hot the hottest "
    "partition of each table and index is over the day, what is throttled, the hottest keys, and how many shards a "
    "hot key needs."
)
_QUESTIONS_MAX = 2_000_000  # to the admission, by all places together: some ten seconds of work
_SEARCH_QUESTIONS_MAX = 1_000_000
_BLOCKS = "·▁▂▃▄▅▆▇█"
_THROTTLED = "!"
_COLUMNS = 48
_KEYED = ("hot key", "rolling hot partition")
_OBSTACLES = {
    "item": "one key has it all",
    "collection": "items of one partition key cannot be divided",
    "sequential": "the traffic moves through the keys",
    "unknown": "no place to split at was found",
}


@dataclass(frozen=True, slots=True)
class Sharded:
    """What shards would change about a place: the shares of its units that are throttled, without and with them."""

    place: str
    shards: int
    throttled_before: float
    throttled_after: float


@dataclass(frozen=True, slots=True)
class LoadReport:
    """A day of the whole model; with `what_if`, places are as they would be with these shards."""

    name: str
    places: tuple[PlaceDay, ...]
    what_if: tuple[Sharded, ...] = ()


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument(
        "--shards",
        action="append",
        default=[],
        metavar="TABLE=N",
        help="as if the partition keys of a table, or of TABLE.INDEX, had N shards; may be given several times",
    )


def run(model: Model, options: argparse.Namespace) -> LoadReport:
    """Let the day pass."""
    by_place = flows(model)
    shards = _shards(options.shards, list(by_place))
    questions = _QUESTIONS_MAX // max(len(by_place) + len(shards), 1)
    days, what_if = [], []
    for place in sorted(by_place, key=lambda place: (place.table, place.index or "")):
        parts = by_place[place]
        day, machine = simulate(model, place, parts, questions)
        if place in shards:
            before = _throttled(day)
            parts = [sharded(part, shards[place]) for part in parts]
            day, machine = simulate(model, place, parts, questions)
            what_if.append(Sharded(place.title, shards[place], before, _throttled(day)))
        elif day.throttles and day.kind in _KEYED:
            budget = _SEARCH_QUESTIONS_MAX // len(by_place)
            day = replace(day, shards=fewest_shards(model, machine, parts, budget))
        days.append(day)
    return LoadReport(model.name, tuple(with_back_pressure(days)), tuple(what_if))


def _shards(words: list[str], places: list[Place]) -> dict[Place, int]:
    by_title = {place.title: place for place in places}
    shards = {}
    for word in words:
        title, _, number = word.rpartition("=")
        if title not in by_title:
            known = ", ".join(sorted(by_title)) or "nothing"
            raise _refused(f"{word}: there is traffic on {known}")
        if not re.fullmatch("[0-9]{1,3}", number) or not 1 <= int(number) <= SHARDS_MAX:
            raise _refused(f"{word}: give a number from 1 to {SHARDS_MAX}")
        shards[by_title[title]] = int(number)
    return shards


def _refused(message: str) -> ModelErrors:
    return ModelErrors(refused(message).problems, "--shards")


def _throttled(day: PlaceDay) -> float:
    return max(day.reads.throttled_share, day.writes.throttled_share)


def status(report: LoadReport) -> int:
    """1 if anything is throttled."""
    return int(any(place.throttles for place in report.places))


def html(report: LoadReport) -> str:
    """The day as a page."""
    notes = [_what_if(change) for change in report.what_if]
    return page(report.name, [heat_section(report.places)], kind="A day of traffic", facts=notes)


def render(report: LoadReport) -> str:
    """The day as text."""
    lines = [f"{printable(report.name)}: a day of traffic"]
    lines += [printable(_what_if(change)) for change in report.what_if]
    for place in report.places:
        lines += ["", *_place_lines(place)]
    if not report.places:
        lines.append("no pattern has a rate")
    return "\n".join(lines)


def _what_if(change: Sharded) -> str:
    before, after = _percent(change.throttled_before), _percent(change.throttled_after)
    return f"with {change.shards} shards {change.place} throttles {after} instead of {before}"


def _place_lines(day: PlaceDay) -> list[str]:
    begin, end = day.partitions
    count = f"{begin} partitions" if begin == end else f"{begin} partitions, {end} at the end"
    kind = "index" if day.index is not None else "table"
    lines = [f"{kind} {day.title}: {count}", f"           {_hours()}"]
    for word, side in (("reads", day.reads), ("writes", day.writes)):
        if side.peak:
            lines += [f"  {word:<8} {_picture(side)}", f"           {_facts(side)}"]
    lines += _split_lines(day)
    if day.hottest_keys:
        rows = [
            [f"{amount(key.units)}/s", _percent(key.use), "writes" if key.write else "reads", key.key]
            for key in day.hottest_keys
        ]
        lines += [
            "  hottest keys, at their peaks",
            *columns([["units", "of a partition", "", "key"], *rows], "    "),
        ]
    lines.append(f"  {day.kind.upper()}: {printable(day.verdict)}")
    if day.remedy is not None:
        lines.append(f"  What to do: {printable(day.remedy)}")
    return lines + _shard_lines(day)


def _hours() -> str:
    return "".join(f"{hour:<12}" for hour in ("0 h", "6 h", "12 h", "18 h")).rstrip()


def _picture(side: SideDay) -> str:
    """How hot the hottest partition is, in half hours; where something is throttled there is an exclamation mark."""
    size = max(len(side.bins) // _COLUMNS, 1)
    cells = []
    for at in range(0, len(side.bins), size):
        bins = side.bins[at : at + size]
        use = max(one.hottest for one in bins)
        full = len(_BLOCKS) - 1
        throttled = any(one.throttled for one in bins)
        cells.append(_THROTTLED if throttled else _BLOCKS[min(max(round(use * full), 0), full)])
    return "".join(cells)


def _facts(side: SideDay) -> str:
    limit = next(one.limit for one in reversed(side.bins) if one.time <= side.peak_time)
    text = f"peak {amount(side.peak)} units/s at {side.peak_time}, of {amount(limit)}; "
    text += f"the hottest partition at {_percent(side.hottest)}; "
    if not side.throttled_share:
        return text + "nothing is throttled"
    share = _percent(side.throttled_share)
    return f"{text}throttled {share} of the day, {amount(side.throttled_peak)} units/s at worst"


def _split_lines(day: PlaceDay) -> list[str]:
    made = [split.time for split in day.splits if split.obstacle is None]
    lines = []
    if made:
        shown = ", ".join(made[:6]) + (" …" if len(made) > 6 else "")
        lines.append(f"  split for heat: {len(made)} (at {shown})")
    lines += [
        f"  hot from {split.time} on, but not split: {_OBSTACLES[split.obstacle]}"
        for split in day.splits
        if split.obstacle is not None
    ]
    return lines


def _shard_lines(day: PlaceDay) -> list[str]:
    lines = []
    if day.shards is not None:
        lines.append(f"  The smallest number of shards that carries the peak: {day.shards}")
    elif day.throttles and day.kind in _KEYED:
        lines.append(f"  Up to {SHARDS_MAX} shards were tried, and none of them carries the peak.")
    lines += [
        f"  {pressure.index} cannot keep up: {day.table} refuses {_percent(pressure.refused_share)} of its own writes "
        f"for it, {amount(pressure.worst)} units/s at worst (at {pressure.worst_time})"
        for pressure in day.back_pressure
    ]
    if day.estimated_minutes:
        lines.append(f"  {day.estimated_minutes} minutes were computed as steady states, to save time.")
    return lines


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %" if 0 < share < 0.1 else f"{share * 100:.0f} %"
