"""What Contributor Insights know of a table's keys, for programs that do not speak CloudWatch."""

from collections.abc import Callable
from urllib.parse import parse_qs

import msgspec

from hashrange.api.insights.report import CONTRIBUTORS_MAX, InsightReport, ReportRequest, report
from hashrange.api.insights.resources import Observed
from hashrange.api.insights.rules import InsightRule, rules_of
from hashrange.clock import Clock
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine, Reader
from hashrange.storage.errors import StorageError
from hashrange.wire import plain
from hashrange.wire.codec import CORS
from hashrange.wire.interfaces import Exchange

PATH = b"/_hashrange/insights"
_JSON = b"Content-Type: application/json\r\n"
_RULE = b"ask for a table: /_hashrange/insights?table=NAME, with &index=NAME and &minutes=NUMBER\n"
_QUERY_FIELDS_MAX = 10
_MINUTES, _MINUTES_MAX = 60, 1440

Answer = Callable[[bytes, bytes], None]  # takes the status and the body


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


class InsightsEndpoint:
    """Answers `GET /_hashrange/insights?table=NAME`."""

    def __init__(
        self, engine: Engine, catalogue: Catalogue, clock: Clock, *, account_id: str, region: str
    ) -> None:
        """The `region` is that of requests that name none."""
        self._engine = engine
        self._catalogue = catalogue
        self._clock = clock
        self._account_id = account_id
        self._region = region

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request, now or when the rows have been read."""
        path, _, query = exchange.url.partition(b"?")
        if path != PATH or exchange.method not in {b"GET", b"HEAD"}:
            plain.not_found(exchange, request_id)
            return
        # By the time of the answer the request is gone.
        lines = CORS if b"Origin" in exchange.headers else b""
        is_head = exchange.method == b"HEAD"

        def answer(status: bytes, body: bytes) -> None:
            kind = _JSON if body.startswith(b"{") else b""
            exchange.send(*plain.rendered(request_id, status, body, lines + kind, is_head=is_head))

        try:
            fields = parse_qs(query.decode(), errors="strict", max_num_fields=_QUERY_FIELDS_MAX)
            minutes = int(fields.get("minutes", [str(_MINUTES)])[0])
            names = (
                fields["table"][0],
                fields.get("index", [None])[0],
                fields.get("region", [self._region])[0],
            )
        except (ValueError, LookupError):
            answer(b"400 Bad Request", _RULE)
            return
        if not 1 <= minutes <= _MINUTES_MAX:
            answer(b"400 Bad Request", b"minutes are from 1 to 1440\n")
            return
        self._look_up(*names, minutes, answer)

    def _look_up(self, name: str, index_name: str | None, region: str, minutes: int, answer: Answer) -> None:
        try:
            table = self._catalogue.find(self._account_id, region, name)
        except StorageError:
            answer(b"503 Service Unavailable", b"the storage does not answer\n")
            return
        index = None if table is None or index_name is None else table.index_by_name.get(index_name)
        if table is None or (index_name is not None and (index is None or index.local)):
            answer(b"404 Not Found", b"there is no such table or global index\n")
            return
        rules = rules_of(Observed(table, index))

        def done(reports: list[RuleReport] | None, _error: BaseException | None) -> None:
            if reports is None:
                answer(b"503 Service Unavailable", b"the storage does not answer\n")
                return
            shown = InsightsShown(table.name, index_name, minutes, reports)
            answer(b"200 OK", msgspec.json.encode(shown) + b"\n")

        self._engine.submit_read(lambda reader: self._reports(reader, rules, minutes), done, more=True)

    def _reports(self, reader: Reader, rules: list[InsightRule], minutes: int) -> list[RuleReport]:
        now = self._clock.now()
        request = ReportRequest(
            start=now - 60 * minutes, end=now, period=60 * minutes, contributors_max=CONTRIBUTORS_MAX
        )
        return [RuleReport(rule.rule, rule.statistic, report(reader, rule, request)) for rule in rules]
