"""DescribeAlarms: alarms by name, prefix, state or action, by pages."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from msgspec import Meta

from hashrange.api.cloudwatch import alarms
from hashrange.api.cloudwatch.alarms import Alarm, MetricAlarm
from hashrange.api.cloudwatch.structures import AlarmName, AlarmNames, AlarmType, StateValue
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.cloudwatch import errors, tokens
from hashrange.storage.engine import Reader
from hashrange.storage.setting_rows import Place

_PAGE = 50


class DescribeAlarms(Request, kw_only=True):
    """The request."""

    alarm_names: AlarmNames | None = None
    alarm_name_prefix: AlarmName | None = None
    alarm_types: list[AlarmType] | None = None
    children_of_alarm_name: AlarmName | None = None
    parents_of_alarm_name: AlarmName | None = None
    state_value: StateValue | None = None
    action_prefix: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None
    max_records: Annotated[int, Meta(ge=1, le=100)] | None = None
    next_token: str | None = None


SHAPE = Shape(DescribeAlarms)


class CompositeAlarm(Response, kw_only=True):
    """An alarm on alarms, of which there are none."""

    alarm_name: str


class DescribeAlarmsOutput(Response, kw_only=True):
    """The answer."""

    composite_alarms: list[CompositeAlarm]
    metric_alarms: list[MetricAlarm]
    next_token: str | None = None


def describe_alarms(context: Context, request: DescribeAlarms) -> Plan:
    """There are no composite alarms, so nothing has children or parents."""
    if request.alarm_names and request.alarm_name_prefix is not None:
        raise errors.invalid_combination(
            "The parameters AlarmNames and AlarmNamePrefix are mutually exclusive and you have specified both."
        )
    asked = (request.alarm_names, request.alarm_name_prefix, request.state_value, request.action_prefix)
    after = tokens.position(request.next_token, asked) or ""
    limit = request.max_records or _PAGE
    place = alarms.place_of(context)
    is_composite = request.children_of_alarm_name is not None or request.parents_of_alarm_name is not None
    if is_composite or (request.alarm_types is not None and "MetricAlarm" not in request.alarm_types):
        limit = 0

    def step(reader: Reader) -> Described:
        fitting = (alarm for alarm in _candidates(reader, place, request, after) if _fits(alarm, request))
        page = list(islice(fitting, limit + 1 if limit else 0))
        following = tokens.token(page[limit - 1].name, asked) if len(page) > limit else None
        shown = [alarms.described(place, alarm) for alarm in page[:limit]]
        return Described(DescribeAlarmsOutput(composite_alarms=[], metric_alarms=shown, next_token=following))

    return Read(step)


def _candidates(reader: Reader, place: Place, request: DescribeAlarms, after: str) -> Iterator[Alarm]:
    if request.alarm_names:
        for name in sorted(set(request.alarm_names)):
            alarm = alarms.ALARMS.find(reader, place, name) if name > after else None
            if alarm is not None:
                yield alarm
        return
    prefix = request.alarm_name_prefix or ""
    for _, alarm in alarms.ALARMS.of_region(reader, place, beginning=prefix, after=after):
        yield alarm


def _fits(alarm: Alarm, request: DescribeAlarms) -> bool:
    if request.state_value is not None and alarm.state.value != request.state_value:
        return False
    if request.action_prefix is None:
        return True
    configuration = alarm.configuration
    actions = configuration.ok_actions + configuration.alarm_actions + configuration.insufficient_data_actions
    return any(action.startswith(request.action_prefix) for action in actions)
