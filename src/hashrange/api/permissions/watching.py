"""What the services beside DynamoDB ask for: CloudWatch and Application Auto Scaling."""

from collections.abc import Iterable
from typing import Any

from hashrange.api.context import Context
from hashrange.api.permissions import targets
from hashrange.api.permissions.needs import ItemKeys, Need, TagKeys
from hashrange.api.permissions.settings import Needs, request_tags
from hashrange.auth.policy.keys import ConditionKeys


def on_alarms(action: str, member: str) -> Needs:
    """An action on the alarms that a request names."""

    def needs(context: Context, request: Any) -> Iterable[Need]:
        sent = getattr(request, member)
        names = [sent] if isinstance(sent, str) else sent or ()
        return [Need(action, _arn(context, "cloudwatch", f"alarm:{name}")) for name in names]

    return needs


def on_insight_rule(action: str) -> Needs:
    """An action on a rule of Contributor Insights."""
    return lambda context, request: (
        Need(action, _arn(context, "cloudwatch", f"insight-rule/{request.rule_name}")),
    )


def on_scalable_targets(action: str) -> Needs:
    """An action on what Application Auto Scaling scales."""
    return lambda context, _request: (
        Need(action, _arn(context, "application-autoscaling", "scalable-target/*")),
    )


def on_tagged(action: str) -> Needs:
    """An action on the tags of an ARN of such a service."""

    def needs(_context: Context, request: Any) -> Iterable[Need]:
        if request.resource_arn is None:
            return ()
        arn = targets.spelt(request.resource_arn)
        removed = getattr(request, "tag_keys", None)
        if removed:
            names = tuple(str(key) for key in removed)
            return (Need(action, arn, ItemKeys({}, lazy={"aws:tagkeys": lambda: names})),)
        return (Need(action, arn, _given(getattr(request, "tags", None))),)

    return needs


def _given(tags: Any) -> ConditionKeys:
    """Application Auto Scaling has its tags in a map."""
    if isinstance(tags, dict):
        return TagKeys((key, value or "") for key, value in tags.items())
    return request_tags(tags)


def _arn(context: Context, service: str, resource: str) -> str:
    return f"arn:aws:{service}:{context.region}:{context.account_id}:{resource}"
