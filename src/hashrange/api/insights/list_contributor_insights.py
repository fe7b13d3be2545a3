"""ListContributorInsights: the tables and indexes whose keys are watched, by pages."""

from typing import Annotated

from msgspec import Meta

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.insights.resources import Observed, all_observed
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, TableNameOrArn
from hashrange.api.results import Described
from hashrange.api.table_names import control_table
from hashrange.core.table_life import gone, settled

_PAGE_MAX = 100


class ListContributorInsights(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn | None = None
    next_token: str | None = None
    max_results: Annotated[int, Meta(le=_PAGE_MAX)] | None = None


SHAPE = Shape(ListContributorInsights)


class ContributorInsightsSummary(Response, kw_only=True):
    """One table or index."""

    table_name: str
    index_name: str | None = None
    contributor_insights_status: str
    contributor_insights_mode: str | None = None


class ListContributorInsightsOutput(Response, kw_only=True):
    """The answer."""

    contributor_insights_summaries: list[ContributorInsightsSummary]
    next_token: str | None = None


def list_contributor_insights(context: Context, request: ListContributorInsights) -> Plan:
    """A table stands before its indexes; what is DISABLED is left out."""
    now = context.clock.now()
    here = (context.account_id, context.region)
    if request.table_name is None:
        tables = [table for table in context.catalogue.tables() if (table.account_id, table.region) == here]
    else:
        tables = [control_table(context, request.table_name)]
    resources = [
        observed
        for table in sorted(tables, key=lambda table: table.name)
        if not gone(table, now)
        for observed in all_observed(settled(table, now))
        if observed.status_at(now) != "DISABLED" and _name(observed) > _start(request.next_token)
    ]
    limit = request.max_results or _PAGE_MAX
    if limit < 1:
        raise errors.validation("MaxResults must be greater than or equal to 1")
    page = resources[:limit]
    token = "/".join(_name(page[-1])) if len(resources) > limit else None
    shown = [_summary(observed, now) for observed in page]
    return Answer(
        Described(ListContributorInsightsOutput(contributor_insights_summaries=shown, next_token=token))
    )


def _name(observed: Observed) -> tuple[str, str]:
    return observed.table.name, "" if observed.index is None else observed.index.name


def _start(token: str | None) -> tuple[str, str]:
    """The name that the page before ended with; neither part has a slash."""
    table_name, _, index_name = (token or "").partition("/")
    return table_name, index_name


def _summary(observed: Observed, now: float) -> ContributorInsightsSummary:
    insights = observed.insights
    return ContributorInsightsSummary(
        table_name=observed.table.name,
        index_name=None if observed.index is None else observed.index.name,
        contributor_insights_status=observed.status_at(now),
        contributor_insights_mode=None if insights is None else insights.mode,
    )
