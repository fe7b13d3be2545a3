"""What Contributor Insights know of a table's keys, for programs that do not speak CloudWatch."""

import msgspec

from hashrange.api.insights.report import CONTRIBUTORS_MAX, InsightReport, ReportRequest, report
from hashrange.api.insights.resources import Observed
from hashrange.api.insights.rules import InsightRule, rules_of
from hashrange.clock import Clock
from hashrange.core.schema import Index, Table
from hashrange.storage.engine import Engine, Reader
from hashrange.wire.table_pages import Answer, Fields, TableFinder, TablePage, WrongFields, unavailable

PATH = b"/_hashrange/insights"
_MINUTES, _MINUTES_MAX = 60, 1440


class RuleReport(msgspec.Struct, frozen=True):
    """One rule, with its most important keys."""

    rule: str
    counts: str
    report: InsightReport


class InsightsShown(msgspec.Struct, frozen=True):
    """The answer."""

    table: str
    index: str | None
    minutes: int
    rules: list[RuleReport]


class InsightsEndpoint(TablePage):
    """Answers `GET /_hashrange/insights?table=NAME`."""

    path = PATH
    rule = b"ask for a table: /_hashrange/insights?table=NAME, with &index=NAME and &minutes=NUMBER\n"

    def __init__(self, engine: Engine, clock: Clock, finder: TableFinder) -> None:
        super().__init__(finder)
        self._engine = engine
        self._clock = clock

    def show(self, table: Table, index: Index | None, fields: Fields, answer: Answer) -> None:
        """Answer when the rows of all processes have been read."""
        minutes = _minutes(fields)
        rules = rules_of(Observed(table, index))

        def done(reports: list[RuleReport] | None, _error: BaseException | None) -> None:
            if reports is None:
                unavailable(answer)
                return
            shown = InsightsShown(table.name, None if index is None else index.name, minutes, reports)
            answer(b"200 OK", msgspec.json.encode(shown) + b"\n")

        self._engine.submit_read(lambda reader: self._reports(reader, rules, minutes), done, more=True)

    def _reports(self, reader: Reader, rules: list[InsightRule], minutes: int) -> list[RuleReport]:
        now = self._clock.now()
        request = ReportRequest(
            start=now - 60 * minutes, end=now, period=60 * minutes, contributors_max=CONTRIBUTORS_MAX
        )
        return [RuleReport(rule.rule, rule.statistic, report(reader, rule, request)) for rule in rules]


def _minutes(fields: Fields) -> int:
    try:
        minutes = int(fields.get("minutes", [str(_MINUTES)])[0])
    except ValueError:
        minutes = 0
    if not 1 <= minutes <= _MINUTES_MAX:
        raise WrongFields(f"minutes are from 1 to {_MINUTES_MAX}")
    return minutes
