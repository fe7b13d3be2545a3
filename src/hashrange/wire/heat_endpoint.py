"""The heat of a table: `hashrange heat` and consoles read it here, for all workers and servers together."""

from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qs

import msgspec

from hashrange.capacity.heat import Heat, Window
from hashrange.capacity.heat_report import report
from hashrange.clock import Clock
from hashrange.core.schema import Index, Table
from hashrange.storage import heat_rows
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.engine import Engine
from hashrange.storage.errors import StorageError
from hashrange.wire import plain
from hashrange.wire.codec import CORS
from hashrange.wire.interfaces import Exchange

PATH = b"/_hashrange/heat"
_JSON = b"Content-Type: application/json\r\n"
_RULE = b"ask for a table: /_hashrange/heat?table=NAME, and &index=NAME for one of its global indexes\n"
_QUERY_FIELDS_MAX = 10

Answer = Callable[[bytes, bytes], None]  # takes the status and the body


class HeatSource(msgspec.Struct, frozen=True):
    """Where heat comes from: what this process has seen, and what the others have written."""

    heat: Heat
    worker: bytes  # that this process writes its rows as
    engine: Engine
    catalogue: Catalogue
    clock: Clock


class HeatEndpoint:
    """Answers `GET /_hashrange/heat?table=NAME`."""

    def __init__(self, source: HeatSource, *, account_id: str, region: str) -> None:
        """The `region` is that of requests that name none."""
        self._source = source
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
            name = fields["table"][0]
        except (ValueError, LookupError):
            answer(b"400 Bad Request", _RULE)
            return
        self._look_up(fields, name, answer)

    def _look_up(self, fields: dict[str, list[str]], name: str, answer: Answer) -> None:
        region = fields.get("region", [self._region])[0]
        try:
            table = self._source.catalogue.find(self._account_id, region, name)
        except StorageError:
            answer(b"503 Service Unavailable", b"the storage does not answer\n")
            return
        index_name = fields.get("index", [None])[0]
        index = None if table is None or index_name is None else table.index_by_name.get(index_name)
        if table is None:
            answer(b"404 Not Found", f"there is no table {name!r} in {region}\n".encode())
        elif index_name is not None and (index is None or index.local):
            answer(b"404 Not Found", f"{name!r} has no global index {index_name!r}\n".encode())
        else:
            self._report(table, index, answer)

    def _report(self, table: Table, index: Index | None, answer: Answer) -> None:
        source = self._source
        now = source.clock.now()
        place = (table.number, 0 if index is None else index.slot)

        def done(others: list[Window] | None, _error: BaseException | None) -> None:
            if others is None:
                answer(b"503 Service Unavailable", b"the storage does not answer\n")
                return
            windows = source.heat.windows(table, index, now) + others
            answer(b"200 OK", msgspec.json.encode(report(table, index, windows, now)) + b"\n")

        source.engine.submit_read(
            partial(heat_rows.read, place=place, now=now, but=source.worker), done, more=True
        )
