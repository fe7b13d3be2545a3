"""DescribeAlarmHistory: what happened to alarms, newest first unless told otherwise, by pages."""

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import Meta

from hashrange.api.cloudwatch import alarms
from hashrange.api.cloudwatch.alarms import HistoryItem
from hashrange.api.cloudwatch.structures import AlarmName, AlarmType, ScanBy, Timestamp
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.cloudwatch import tokens
from hashrange.storage.engine import Reader
from hashrange.storage.setting_rows import Place

_PAGE = 100
_ROWS_MAX = 5000  # that one page looks at
_EPOCH_MAX = 10.0**11


class DescribeAlarmHistory(Request, kw_only=True):
    """The request."""

    alarm_name: AlarmName | None = None
    alarm_contributor_id: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None
    alarm_types: list[AlarmType] | None = None
    history_item_type: (
        Literal[
            "ConfigurationUpdate",
            "StateUpdate",
            "Action",
            "AlarmContributorStateUpdate",
            "AlarmContributorAction",
        ]
        | None
    ) = None
    start_date: Timestamp | None = None
    end_date: Timestamp | None = None
    max_records: Annotated[int, Meta(ge=1, le=100)] | None = None
    next_token: str | None = None
    scan_by: ScanBy | None = None


SHAPE = Shape(DescribeAlarmHistory)


class AlarmHistoryItem(Response, kw_only=True):
    """Something that happened."""

    alarm_name: str
    alarm_type: str
    timestamp: Timestamp
    history_item_type: str
    history_summary: str
    history_data: str


class DescribeAlarmHistoryOutput(Response, kw_only=True):
    """The answer."""

    alarm_history_items: list[AlarmHistoryItem]
    next_token: str | None = None


def describe_alarm_history(context: Context, request: DescribeAlarmHistory) -> Plan:
    """A page ends also after many rows that do not fit; the next one goes on behind them."""
    asked = (
        request.alarm_name,
        request.history_item_type,
        request.start_date,
        request.end_date,
        request.scan_by,
    )
    after = tokens.position(request.next_token, asked)
    limit = request.max_records or _PAGE
    place = alarms.place_of(context)
    is_possible = request.alarm_types is None or "MetricAlarm" in request.alarm_types

    def step(reader: Reader) -> Described:
        items: list[AlarmHistoryItem] = []
        following = None
        rows = _rows(reader, place, request, after) if is_possible else iter(())
        for looked_at, (item_id, item) in enumerate(rows, 1):
            if _fits(item, request):
                items.append(_shown(item))
            if len(items) == limit or looked_at == _ROWS_MAX:
                following = tokens.token(item_id, asked)
                break
        return Described(DescribeAlarmHistoryOutput(alarm_history_items=items, next_token=following))

    return Read(step)


def _rows(
    reader: Reader, place: Place, request: DescribeAlarmHistory, after: str | None
) -> Iterator[tuple[str, HistoryItem]]:
    """The rows of the time range, which is what ids begin with."""
    start = alarms.history_id(_bounded(request.start_date, 0.0))
    end = alarms.history_id(_bounded(request.end_date, _EPOCH_MAX))
    newest_first = request.scan_by != "TimestampAscending"
    behind = after or (end if newest_first else start)
    for item_id, item in alarms.HISTORY.of_region(reader, place, after=behind, reverse=newest_first):
        if item_id < start if newest_first else item_id >= end:
            return
        yield item_id, item


def _bounded(moment: float | None, default: float) -> float:
    return default if moment is None else min(max(moment, 0.0), _EPOCH_MAX)


def _fits(item: HistoryItem, request: DescribeAlarmHistory) -> bool:
    return request.alarm_name in {None, item.alarm} and request.history_item_type in {None, item.type}


def _shown(item: HistoryItem) -> AlarmHistoryItem:
    return AlarmHistoryItem(
        alarm_name=item.alarm,
        alarm_type="MetricAlarm",
        timestamp=item.time,
        history_item_type=item.type,
        history_summary=item.summary,
        history_data=item.data,
    )
