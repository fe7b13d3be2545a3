"""The table of the operations of CloudWatch, as api/registry.py has it for DynamoDB."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from hashrange.api.protocol.operation import Operation, QueryProtocol, Service
from hashrange.api.registry import Resources
from hashrange.services.cloudwatch import (
    delete_alarms,
    describe_alarm_history,
    describe_alarms,
    describe_alarms_for_metric,
    disable_alarm_actions,
    enable_alarm_actions,
    get_metric_data,
    get_metric_statistics,
    list_metrics,
    list_tags_for_resource,
    put_metric_alarm,
    put_metric_data,
    set_alarm_state,
    tag_resource,
    untag_resource,
)


def _nothing(_: Any) -> Iterable[str]:
    return ()


def _alarm(request: Any) -> Iterable[str]:
    return (request.alarm_name,)


def _alarms(request: Any) -> Iterable[str]:
    return tuple(request.alarm_names)


def _arn(request: Any) -> Iterable[str]:
    return (request.resource_arn,)


_ROWS: tuple[tuple[str, ModuleType, Resources], ...] = (
    ("DeleteAlarms", delete_alarms, _alarms),
    ("DescribeAlarmHistory", describe_alarm_history, _nothing),
    ("DescribeAlarms", describe_alarms, _nothing),
    ("DescribeAlarmsForMetric", describe_alarms_for_metric, _nothing),
    ("DisableAlarmActions", disable_alarm_actions, _alarms),
    ("EnableAlarmActions", enable_alarm_actions, _alarms),
    ("GetMetricData", get_metric_data, _nothing),
    ("GetMetricStatistics", get_metric_statistics, _nothing),
    ("ListMetrics", list_metrics, _nothing),
    ("ListTagsForResource", list_tags_for_resource, _arn),
    ("PutMetricAlarm", put_metric_alarm, _alarm),
    ("PutMetricData", put_metric_data, _nothing),
    ("SetAlarmState", set_alarm_state, _alarm),
    ("TagResource", tag_resource, _arn),
    ("UntagResource", untag_resource, _arn),
)


def _operation(name: str, module: ModuleType, resources: Resources) -> Operation[Any]:
    handler = getattr(module, module.__name__.rpartition(".")[2])
    action = f"cloudwatch:{name}"
    return Operation(name, module.SHAPE, handler, kind="control", resources=resources, action=action)


CLOUDWATCH = Service(
    "cloudwatch",
    "GraniteServiceVersion20100801.",
    "com.amazonaws.cloudwatch#",
    {row[0]: _operation(*row) for row in _ROWS},
    QueryProtocol(
        "2010-08-01",
        "http://monitoring.amazonaws.com/doc/2010-08-01/",
        {
            "InternalServerError": "InternalServiceError",
            "InvalidFormatFault": "InvalidFormat",
            "InvalidParameterCombinationException": "InvalidParameterCombination",
            "InvalidParameterValueException": "InvalidParameterValue",
            "LimitExceededFault": "LimitExceeded",
            "MissingRequiredParameterException": "MissingParameter",
        },
    ),
)
