"""The puts of a transaction that nobody looks into: stored together by table, as those of a batch are."""

from collections.abc import Sequence

import msgspec

from hashrange.api.results import PlainWritten
from hashrange.core import capacity
from hashrange.core.mutation import Origin, Puts
from hashrange.core.schema import Table
from hashrange.storage import store
from hashrange.storage.engine import Transaction


class PlainPuts(msgspec.Struct, frozen=True):
    """Those of one table, without conditions."""

    table: Table
    name: str  # as the request has it
    places: list[int]  # among the actions of the request
    puts: Puts

    def write(
        self, tx: Transaction, table: Table, origin: Origin, *, factor: int
    ) -> tuple[PlainWritten, Sequence[int]]:
        """Store the items in the table as it is now; gives the sizes of those that were there, too."""
        befores = store.replace_all(tx, table, self.puts, origin)
        units = [factor * each for each in capacity.all_write_units(self.puts.sizes, befores)]
        return PlainWritten(table, self.name, self.puts.keys, units), befores
