"""DescribeInsightRules: the rules of Contributor Insights, which DynamoDB makes for tables and indexes, by pages."""

import json
from itertools import islice
from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.insights.rules import InsightRule, rules_in
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.cloudwatch import tokens
from hashrange.storage.engine import Reader

_PAGE_MAX = 500
_SCHEMA = {"Name": "ServiceLogRule", "Version": 1}


class DescribeInsightRules(Request, kw_only=True):
    """The request."""

    next_token: str | None = None
    max_results: Annotated[int, Meta(ge=1, le=_PAGE_MAX)] | None = None


SHAPE = Shape(DescribeInsightRules)


class InsightRuleDescription(Response, kw_only=True):
    """One rule."""

    name: str
    state: str
    schema: str
    definition: str
    managed_rule: bool


class DescribeInsightRulesOutput(Response, kw_only=True):
    """The answer."""

    next_token: str | None = None
    insight_rules: list[InsightRuleDescription]


def describe_insight_rules(context: Context, request: DescribeInsightRules) -> Plan:
    """All of them are managed: nobody can put others."""
    after = tokens.position(request.next_token, "insight-rules") or ""
    limit = request.max_results or _PAGE_MAX
    now = context.clock.now()

    def step(_: Reader) -> Described:
        rules = rules_in(context.catalogue.tables(), context.account_id, context.region, now)
        following = sorted((rule for rule in rules if rule.name > after), key=lambda rule: rule.name)
        page = list(islice(following, limit))
        token = tokens.token(page[-1].name, "insight-rules") if len(following) > limit else None
        shown = [_described(rule) for rule in page]
        return Described(DescribeInsightRulesOutput(insight_rules=shown, next_token=token))

    return Read(step)


def _described(rule: InsightRule) -> InsightRuleDescription:
    """Definitions have only ASCII, which names of attributes need not have."""
    definition = {
        "Schema": _SCHEMA,
        "AggregateOn": "Sum",
        "Contribution": {"Keys": rule.key_labels, "ValueOf": rule.statistic, "Filters": []},
    }
    return InsightRuleDescription(
        name=rule.name,
        state="ENABLED",
        schema=json.dumps(_SCHEMA),
        definition=json.dumps(definition),
        managed_rule=True,
    )
