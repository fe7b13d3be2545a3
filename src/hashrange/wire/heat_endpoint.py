"""The heat of a table: `hashrange heat` and consoles read it here, for all workers and servers together."""

import msgspec

from hashrange.capacity.heat import Heat, Window
from hashrange.capacity.heat_report import report
from hashrange.clock import Clock
from hashrange.core.schema import Index, Table
from hashrange.storage import heat_rows
from hashrange.storage.engine import Engine, Reader
from hashrange.wire.table_pages import Answer, Fields, TableFinder, TablePage, unavailable

PATH = b"/_hashrange/heat"
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Window]).decode


class HeatSource(msgspec.Struct, frozen=True):
    """Where heat comes from: what this process has seen, and what the others have written."""

    heat: Heat
    worker: bytes  # that this process writes its rows as
    engine: Engine
    clock: Clock


class HeatEndpoint(TablePage):
    """Answers `GET /_hashrange/heat?table=NAME`."""

    path = PATH
    rule = b"ask for a table: /_hashrange/heat?table=NAME, and &index=NAME for one of its global indexes\n"

    def __init__(self, source: HeatSource, finder: TableFinder) -> None:
        super().__init__(finder)
        self._source = source

    def show(self, table: Table, index: Index | None, _fields: Fields, answer: Answer) -> None:
        """Answer when the other processes' rows have been read.

        The report is made where they are read, on a thread of the engine: it takes many milliseconds.
        """
        source = self._source
        now = source.clock.now()
        place = (table.number, 0 if index is None else index.slot)
        own = _encode(source.heat.windows(table, index, now))  # a copy: they go on growing

        def read(reader: Reader) -> bytes:
            windows = _decode(own) + heat_rows.read(reader, place, now, but=source.worker)
            return msgspec.json.encode(report(table, index, windows, now)) + b"\n"

        def done(body: bytes | None, _error: BaseException | None) -> None:
            if body is None:
                unavailable(answer)
            else:
                answer(b"200 OK", body)

        source.engine.submit_read(read, done, more=True)
