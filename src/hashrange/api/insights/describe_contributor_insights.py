"""DescribeContributorInsights: whether the keys of a table or index are watched, and by which rules."""

from hashrange.api.context import Context
from hashrange.api.insights.resources import observed
from hashrange.api.insights.rules import RULES_MAX, rules_of
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import IndexName, Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.tables.description import timestamp


class DescribeContributorInsights(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn
    index_name: IndexName | None = None


SHAPE = Shape(DescribeContributorInsights)


class FailureException(Response, kw_only=True):
    """Why insights could not be switched on."""

    exception_name: str
    exception_description: str


class DescribeContributorInsightsOutput(Response, kw_only=True):
    """The answer."""

    table_name: str
    index_name: str | None = None
    contributor_insights_rule_list: list[str]
    contributor_insights_status: str
    last_update_date_time: float | None = None
    failure_exception: FailureException | None = None
    contributor_insights_mode: str | None = None


def describe_contributor_insights(context: Context, request: DescribeContributorInsights) -> Plan:
    """Rules are listed once they are there."""
    resource = observed(context, request.table_name, request.index_name)
    insights, now = resource.insights, context.clock.now()
    status = resource.status_at(now)
    described = DescribeContributorInsightsOutput(
        table_name=resource.table.name,
        index_name=request.index_name,
        contributor_insights_rule_list=[rule.name for rule in rules_of(resource)]
        if status == "ENABLED"
        else [],
        contributor_insights_status=status,
    )
    if insights is not None:
        described.last_update_date_time = timestamp(insights.changed_at)
        described.contributor_insights_mode = insights.mode
    if status == "FAILED":
        described.failure_exception = FailureException(
            exception_name="LimitExceededException",
            exception_description=f"The number of rules exceeds the limit of {RULES_MAX}",
        )
    return Answer(Described(described))
