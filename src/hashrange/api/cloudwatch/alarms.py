"""Alarms as they are stored, described and changed."""

from typing import Literal

import msgspec

from hashrange.api.cloudwatch.structures import Dimension, MetricDataQuery, StateValue, Timestamp
from hashrange.api.context import Context
from hashrange.api.protocol.structures import Response
from hashrange.storage.engine import Transaction
from hashrange.storage.setting_rows import Place, SettingRows

INITIAL_REASON = "Unchecked: Initial alarm creation"

HistoryItemType = Literal["ConfigurationUpdate", "StateUpdate", "Action"]


class Configuration(Response, kw_only=True):
    """What PutMetricAlarm has set, but for the name and the tags. As the service shows it: some lists also if empty."""

    alarm_description: str | None = None
    ok_actions: list[str]
    alarm_actions: list[str]
    insufficient_data_actions: list[str]
    metric_name: str | None = None
    namespace: str | None = None
    statistic: str | None = None
    extended_statistic: str | None = None
    dimensions: list[Dimension]
    period: int | None = None
    unit: str | None = None
    evaluation_periods: int
    datapoints_to_alarm: int | None = None
    threshold: float | None = None
    comparison_operator: str
    treat_missing_data: str | None = None
    evaluate_low_sample_count_percentile: str | None = None
    metrics: list[MetricDataQuery] | None = None
    threshold_metric_id: str | None = None

    def actions(self, state: StateValue) -> list[str]:
        """What is to be done when the alarm gets into a state."""
        return {
            "OK": self.ok_actions,
            "ALARM": self.alarm_actions,
            "INSUFFICIENT_DATA": self.insufficient_data_actions,
        }[state]


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What an alarm is in, and why."""

    value: StateValue = "INSUFFICIENT_DATA"
    reason: str = INITIAL_REASON
    reason_data: str | None = None
    updated_at: float
    transitioned_at: float


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """An alarm."""

    name: str
    configuration: Configuration
    configured_at: float
    actions_enabled: bool = True
    state: State
    tags: dict[str, str] = {}
    policy_id: str | None = None  # of the scaling policy that the alarm is made for
    is_shown: bool = False  # its state is what the policy's controller has seen, and not evaluated


class HistoryItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to an alarm."""

    alarm: str
    time: float
    type: HistoryItemType
    summary: str
    data: str


class MetricAlarm(Configuration, kw_only=True):
    """An alarm as the service describes it."""

    alarm_name: str
    alarm_arn: str
    alarm_configuration_updated_timestamp: Timestamp
    actions_enabled: bool
    state_value: StateValue
    state_reason: str
    state_reason_data: str | None = None
    state_updated_timestamp: Timestamp
    state_transitioned_timestamp: Timestamp


ALARMS = SettingRows("alarm", Alarm)
HISTORY = SettingRows("alarm-history", HistoryItem)


def place_of(context: Context) -> Place:
    """Where the caller's alarms are."""
    return Place(context.account_id, context.region)


def arn(place: Place, name: str) -> str:
    """The alarm's Amazon resource name."""
    return f"arn:aws:cloudwatch:{place.region}:{place.account_id}:alarm:{name}"


def period_of(period: int | None, metrics: list[MetricDataQuery] | None) -> int:
    """How long one period of an alarm is; that of an expression is the longest of its metrics."""
    if not metrics:
        return period or 60
    periods = [query.metric_stat.period for query in metrics if query.metric_stat is not None]
    return max(periods + [query.period for query in metrics if query.period is not None], default=60)


def described(place: Place, alarm: Alarm) -> MetricAlarm:
    """An alarm as the service describes it."""
    state = alarm.state
    return MetricAlarm(
        alarm_name=alarm.name,
        alarm_arn=arn(place, alarm.name),
        alarm_configuration_updated_timestamp=alarm.configured_at,
        actions_enabled=alarm.actions_enabled,
        state_value=state.value,
        state_reason=state.reason,
        state_reason_data=state.reason_data,
        state_updated_timestamp=state.updated_at,
        state_transitioned_timestamp=state.transitioned_at,
        **msgspec.structs.asdict(alarm.configuration),
    )


def save(tx: Transaction, place: Place, alarm: Alarm) -> None:
    """Write an alarm."""
    ALARMS.save(tx, place, alarm.name, alarm)


def note(tx: Transaction, place: Place, item: HistoryItem) -> None:
    """Write down what happened; ids are by time, so that histories are read and trimmed by it."""
    base = f"{history_id(item.time)}\0{item.alarm}\0"
    number = sum(1 for _ in HISTORY.of_region(tx, place, beginning=base))
    HISTORY.save(tx, place, f"{base}{number:06d}", item)


def history_id(time: float) -> str:
    """What the ids of all that happened at a moment begin with."""
    return f"{max(0, round(time * 1000)):015d}"
