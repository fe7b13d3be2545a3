"""UpdateContributorInsights: have the keys of a table or index watched, or no longer."""

from typing import Literal

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.insights.resources import Observed, global_index, observed
from hashrange.api.insights.rules import RULES_MAX, rules_in, rules_of
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import IndexName, Request, Response, TableNameOrArn
from hashrange.api.tables.changes import change_table
from hashrange.core.schema import Insights, InsightsMode, Table, changed


class UpdateContributorInsights(Request, kw_only=True):
    """The request."""

    table_name: TableNameOrArn
    index_name: IndexName | None = None
    contributor_insights_action: Literal["ENABLE", "DISABLE"]
    contributor_insights_mode: InsightsMode | None = None


SHAPE = Shape(UpdateContributorInsights)


class UpdateContributorInsightsOutput(Response, kw_only=True):
    """The answer."""

    table_name: str
    index_name: str | None = None
    contributor_insights_status: str
    contributor_insights_mode: str | None = None


def update_contributor_insights(context: Context, request: UpdateContributorInsights) -> Plan:
    """A table's insights and those of its indexes are switched one by one."""
    planned = observed(context, request.table_name, request.index_name)
    now = context.clock.now()
    settles_at = now + context.settings.transition_ms / 1000
    others = [
        rule
        for rule in rules_in(context.catalogue.tables(), context.account_id, context.region, now)
        if (rule.observed.table.number, rule.observed.slot) != (planned.table.number, planned.slot)
    ]

    def edit(table: Table) -> Table:
        current = Observed(
            table, None if request.index_name is None else global_index(table, request.index_name)
        )
        _check_active(current, now)
        errors.refuse_inaccessible(table)
        before = current.insights
        after = (
            _enabled(before, request.contributor_insights_mode, now, settles_at)
            if request.contributor_insights_action == "ENABLE"
            else _disabled(before, now, settles_at)
        )
        if after is before:
            return table
        if after is not None and len(others) + len(rules_of(_with(current, after))) > RULES_MAX:
            after = changed(after, failed=True, accessed_since=None, throttled_since=None)
        return _with(current, after).table

    def describe(_tx: object, table: Table) -> UpdateContributorInsightsOutput:
        index = None if request.index_name is None else table.index_by_name[request.index_name]
        resource = Observed(table, index)
        insights = resource.insights
        return UpdateContributorInsightsOutput(
            table_name=table.name,
            index_name=request.index_name,
            contributor_insights_status=resource.status_at(now),
            contributor_insights_mode=None if insights is None else insights.mode,
        )

    return change_table(context, planned.table, edit, describe)


def _check_active(resource: Observed, now: float) -> None:
    if resource.table.status_at(now) != "ACTIVE":
        raise errors.validation("TableStatus must be ACTIVE")
    if resource.index is not None and resource.index.status_at(now) != "ACTIVE":
        raise errors.validation("IndexStatus must be ACTIVE")


def _enabled(
    before: Insights | None, mode: InsightsMode | None, now: float, settles_at: float
) -> Insights | None:
    """Rules that there are keep their moment; a failure stays until insights are switched off."""
    wanted: InsightsMode = mode or "ACCESSED_AND_THROTTLED_KEYS"
    is_on = before is not None and before.throttled_since is not None
    if before is not None and (before.failed or (is_on and before.mode == wanted)):
        return before
    accessed = None if wanted == "THROTTLED_KEYS" else now
    throttled = before.throttled_since if before is not None and is_on else now
    return Insights(
        mode=wanted, changed_at=now, settles_at=settles_at, accessed_since=accessed, throttled_since=throttled
    )


def _disabled(before: Insights | None, now: float, settles_at: float) -> Insights | None:
    if before is None or (before.throttled_since is None and not before.failed):
        return before
    return Insights(mode=before.mode, changed_at=now, settles_at=settles_at)


def _with(resource: Observed, insights: Insights | None) -> Observed:
    table, index = resource.table, resource.index
    if index is None:
        return Observed(changed(table, insights=insights), None)
    after = changed(index, insights=insights)
    indexes = tuple(after if one.name == index.name else one for one in table.indexes)
    return Observed(changed(table, indexes=indexes), after)
