"""The table of the operations of CloudWatch, as api/registry.py has it for DynamoDB."""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from hashrange.api.protocol.operation import QueryProtocol, Service
from hashrange.api.registry import Resources, control_operations, no_resource, resource_arn
from hashrange.services.cloudwatch import (
    delete_alarms,
    describe_alarm_history,
    describe_alarms,
    describe_alarms_for_metric,
    describe_insight_rules,
    disable_alarm_actions,
    enable_alarm_actions,
    get_insight_rule_report,
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


def _alarm(request: Any) -> Iterable[str]:
    return (request.alarm_name,)


def _alarms(request: Any) -> Iterable[str]:
    return tuple(request.alarm_names)


def _rule(request: Any) -> Iterable[str]:
    return (request.rule_name,)


_ROWS: tuple[tuple[str, ModuleType, Resources], ...] = (
    ("DeleteAlarms", delete_alarms, _alarms),
    ("DescribeAlarmHistory", describe_alarm_history, no_resource),
    ("DescribeAlarms", describe_alarms, no_resource),
    ("DescribeAlarmsForMetric", describe_alarms_for_metric, no_resource),
    ("DescribeInsightRules", describe_insight_rules, no_resource),
    ("DisableAlarmActions", disable_alarm_actions, _alarms),
    ("EnableAlarmActions", enable_alarm_actions, _alarms),
    ("GetInsightRuleReport", get_insight_rule_report, _rule),
    ("GetMetricData", get_metric_data, no_resource),
    ("GetMetricStatistics", get_metric_statistics, no_resource),
    ("ListMetrics", list_metrics, no_resource),
    ("ListTagsForResource", list_tags_for_resource, resource_arn),
    ("PutMetricAlarm", put_metric_alarm, _alarm),
    ("PutMetricData", put_metric_data, no_resource),
    ("SetAlarmState", set_alarm_state, _alarm),
    ("TagResource", tag_resource, resource_arn),
    ("UntagResource", untag_resource, resource_arn),
)


CLOUDWATCH = Service(
    "cloudwatch",
    "GraniteServiceVersion20100801.",
    "com.amazonaws.cloudwatch#",
    control_operations("cloudwatch", _ROWS),
    "monitoring",
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
