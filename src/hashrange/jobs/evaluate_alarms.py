"""Alarms: every minute each is compared with the latest data of its metric, and changes its state if need be."""

import time
from collections import deque
from collections.abc import Callable
from functools import partial

from hashrange import logs
from hashrange.api.cloudwatch import alarms, transitions
from hashrange.api.cloudwatch.alarms import Alarm, Configuration, State
from hashrange.api.errors import ApiError
from hashrange.capacity.series import Point
from hashrange.core.limits import ALARM_MATH_POINTS_MAX
from hashrange.jobs.clock_jumps import WRITTEN_SECONDS, ClockJumps
from hashrange.services.cloudwatch import evaluation, metrics, statistics
from hashrange.services.cloudwatch.evaluation import SPARE_PERIODS, Evaluated, Rule
from hashrange.services.cloudwatch.math.values import Series
from hashrange.services.cloudwatch.metrics import DYNAMODB, Store, Wanted
from hashrange.services.cloudwatch.queries import Queries
from hashrange.services.cloudwatch.statistics import Sampled
from hashrange.storage.custom_metric_rows import CustomStatistics
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.setting_rows import Place

MINUTE = 60
SETTLED_SECONDS = int(WRITTEN_SECONDS)
_EARLY_SECONDS = 1.0  # until it is looked again whether all is written
_BATCH = 20  # alarms of one step
_DAY = 86_400
_HOUR = 3600

log = logs.Log("alarms")


class EvaluateAlarms:
    """Goes through all alarms once a minute, some in every step.

    Where a minute is not enough for all of them it goes on where it was, so that each has its turn.
    """

    name = "evaluate-alarms"

    def __init__(self, engine: Engine, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._jumps = ClockJumps(monotonic)
        self._minute: int | None = None  # at which the present round began
        self._is_hourly = False  # whether it is the first round of an hour
        self._is_early = False  # the round began before all that was counted was written
        self._left: deque[tuple[Place, str]] = deque()

    def step(self, now: float) -> float:
        """Evaluate some alarms at the end of the last minute that is complete."""
        self._jumps.look(now)
        minute = int((now - SETTLED_SECONDS) // MINUTE) * MINUTE
        is_due = minute != self._minute or (self._is_early and not self._jumps.is_recent)
        if is_due and not self._left:
            self._left = deque(self._engine.read(_all_alarms))
            if minute != self._minute:
                self._is_hourly = self._minute is None or minute // _HOUR != self._minute // _HOUR
            self._minute = minute
            self._is_early = self._jumps.is_recent
        for _ in range(min(_BATCH, len(self._left))):
            self._evaluate(*self._left.popleft(), minute, now)
        if self._left or minute != self._minute:
            return 0.0
        return _EARLY_SECONDS if self._is_early else _until_next(minute, now)

    def _evaluate(self, place: Place, name: str, minute: int, now: float) -> None:
        decide = partial(
            _decide,
            place=place,
            name=name,
            minute=minute,
            now=now,
            is_hourly=self._is_hourly,
            is_early=self._is_early,
        )
        decided = self._engine.read(decide)
        if decided is None:
            return
        alarm, state = decided
        changed = self._engine.write(partial(_enter, place=place, planned=alarm, state=state))
        if changed:
            actions = alarm.configuration.actions(state.value) if alarm.actions_enabled else []
            log.info(
                "alarm.changed", alarm=name, region=place.region, state=state.value, actions=len(actions)
            )


def _all_alarms(reader: Reader) -> list[tuple[Place, str]]:
    """All but those whose state a scaling policy's controller tells: see tracking_alarms.py."""
    return [(place, name) for place, name, alarm in alarms.ALARMS.everywhere(reader) if not alarm.is_shown]


def _until_next(minute: int, now: float) -> float:
    return max(0.1, min(minute + MINUTE + SETTLED_SECONDS - now, MINUTE))


def _is_counted(configuration: Configuration) -> bool:
    """Whether an alarm watches what workers count and write later; clients' samples are written at once."""
    stats = [query.metric_stat for query in configuration.metrics or () if query.metric_stat is not None]
    return DYNAMODB in {configuration.namespace, *(stat.metric.namespace for stat in stats)}


def _decide(
    reader: Reader,
    *,
    place: Place,
    name: str,
    minute: int,
    now: float,
    is_hourly: bool,
    is_early: bool,
) -> tuple[Alarm, State] | None:
    """The alarm and the state that it should be in, if that is another one."""
    alarm = alarms.ALARMS.find(reader, place, name)
    if alarm is None or (is_early and _is_counted(alarm.configuration)):
        return None
    configuration = alarm.configuration
    rule = evaluation.rule_of(configuration)
    period = max(alarms.period_of(configuration.period, configuration.metrics), MINUTE)
    if rule.periods * period > _DAY:
        if not is_hourly:
            return None  # those of long ranges are evaluated by the hour
        minute -= minute % _HOUR
    points = _points(Store(reader, *place, now), configuration, rule, period, minute)
    verdict = evaluation.verdict(rule, points)
    if verdict is None or verdict.value == alarm.state.value:
        return None
    return alarm, evaluation.state(configuration, rule, verdict, now)


def _enter(tx: Transaction, *, place: Place, planned: Alarm, state: State) -> bool:
    """Change the state, unless somebody has changed the alarm meanwhile."""
    if alarms.ALARMS.find(tx, place, planned.name) != planned:
        return False
    transitions.enter(tx, place, planned, state)
    return True


def _points(
    store: Store, configuration: Configuration, rule: Rule, period: int, minute: int
) -> list[Evaluated]:
    count = rule.periods + SPARE_PERIODS
    if configuration.metrics:
        return _expression_points(store, configuration, count, period, minute)
    key = metrics.key_of(
        configuration.namespace or "", configuration.metric_name or "", configuration.dimensions
    )
    start = minute - count * period
    stat = configuration.statistic or configuration.extended_statistic or ""
    extended = statistics.parsed(stat)
    windows: dict[int, Sampled] = {}
    # Periods end now, and not at a multiple of their length: every minute there is a new one to look at.
    for point in store.points(Wanted(key, MINUTE, configuration.unit), start, minute):
        begin = start + (point.time - start) // period * period
        known = windows.get(begin)
        windows[begin] = point if known is None else _merged(known, point)
    return [_evaluated(begin, stat, extended, windows.get(begin)) for begin in range(start, minute, period)]


def _evaluated(
    begin: int, stat: str, extended: statistics.Extended | None, window: Sampled | None
) -> Evaluated:
    if window is None:
        return Evaluated(begin, None)
    return Evaluated(begin, statistics.value_of(stat, extended, window), float(window.n))


def _merged(known: Sampled, point: Sampled) -> Sampled:
    """Both come from one series, and are of one kind."""
    if isinstance(known, CustomStatistics) and isinstance(point, CustomStatistics):
        known.merge(point)
    if isinstance(known, Point) and isinstance(point, Point):
        known.merge(point)
    return known


def _expression_points(
    store: Store, configuration: Configuration, count: int, period: int, minute: int
) -> list[Evaluated]:
    """The points of the one query that returns data; what cannot be evaluated has none."""
    end = minute - minute % period
    start = end - count * period
    queries = configuration.metrics or []
    returned = next(query.id for query in queries if query.return_data is not False)
    try:
        value = Queries(queries).values(store, start, end, ALARM_MATH_POINTS_MAX)[returned]
    except ApiError:
        value = 0.0
    points = value.points if isinstance(value, Series) else {}
    return [Evaluated(time, points.get(time)) for time in range(start, end, period)]
