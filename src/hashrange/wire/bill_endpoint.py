"""What a table has consumed: `hashrange bill` reads it here, and puts prices to it."""

import msgspec

from hashrange.clock import Clock
from hashrange.core.schema import Index, Table
from hashrange.storage.consumption import HOURS_MAX, consumption
from hashrange.storage.engine import Engine, Reader
from hashrange.wire.table_pages import Answer, Fields, TableFinder, TablePage, WrongFields, unavailable

PATH = b"/_hashrange/bill"
HOURS = 24


class BillEndpoint(TablePage):
    """Answers `GET /_hashrange/bill?table=NAME`."""

    path = PATH
    rule = b"ask for a table: /_hashrange/bill?table=NAME, with &hours=NUMBER\n"

    def __init__(self, engine: Engine, clock: Clock, finder: TableFinder) -> None:
        super().__init__(finder)
        self._engine = engine
        self._clock = clock

    def show(self, table: Table, _index: Index | None, fields: Fields, answer: Answer) -> None:
        """Answer when the rows have been read, for the table with all of its indexes."""
        hours = _hours(fields)

        def done(body: bytes | None, _error: BaseException | None) -> None:
            if body is None:
                unavailable(answer)
            else:
                answer(b"200 OK", body)

        def read(reader: Reader) -> bytes:
            return msgspec.json.encode(consumption(reader, table, hours, self._clock.now())) + b"\n"

        self._engine.submit_read(read, done, more=True)


def _hours(fields: Fields) -> int:
    text = fields.get("hours", [str(HOURS)])[0]
    hours = int(text) if text.isascii() and text.isdecimal() and len(text) <= 3 else 0
    if not 1 <= hours <= HOURS_MAX:
        raise WrongFields(f"hours are from 1 to {HOURS_MAX}")
    return hours
