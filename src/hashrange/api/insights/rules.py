"""The rules of Contributor Insights as CloudWatch knows them: their names, and what they are about."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hashrange.api.insights.resources import Observed, all_observed
from hashrange.capacity.key_sketches import RULES, Rule
from hashrange.core.schema import Table
from hashrange.core.table_life import gone

RULES_MAX = 100  # CloudWatch's quota per account and region
_PREFIX = "DynamoDBContributorInsights"


class InsightRule(NamedTuple):
    """One rule."""

    name: str
    rule: Rule
    observed: Observed
    since: float

    @property
    def key_labels(self) -> list[str]:
        """The names of the key attributes that it ranks."""
        table, index = self.observed.table, self.observed.index
        hash_keys = (table.hash,) if index is None else index.hash
        sort_keys = (() if table.range is None else (table.range,)) if index is None else index.range
        keys = (*hash_keys, *sort_keys) if self.rule.startswith("SK") else hash_keys
        return [key.name for key in keys]

    @property
    def statistic(self) -> str:
        """What it adds up."""
        return "ConsumedThroughputUnits" if self.rule.endswith("C") else "ThrottleCount"


def rules_of(observed: Observed) -> list[InsightRule]:
    """The rules of a table or index: those of throttled keys, those of accessed keys only in their mode."""
    insights = observed.insights
    if insights is None or insights.failed:
        return []
    resource = (
        observed.table.name if observed.index is None else f"{observed.table.name}-{observed.index.name}"
    )
    rules = []
    for rule in RULES:
        since = insights.accessed_since if rule.endswith("C") else insights.throttled_since
        if since is None or (rule.startswith("SK") and not observed.has_sort_key):
            continue
        name = f"{_PREFIX}-{rule}-{resource}-{round(since * 1000)}"
        rules.append(InsightRule(name, rule, observed, since))
    return rules


def rules_in(tables: Iterable[Table], account_id: str, region: str, now: float) -> Iterator[InsightRule]:
    """All rules of an account and region."""
    for table in tables:
        if (table.account_id, table.region) == (account_id, region) and not gone(table, now):
            for observed in all_observed(table):
                yield from rules_of(observed)
