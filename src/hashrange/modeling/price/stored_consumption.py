"""What the tables of a data directory have consumed, read where no server is running on it."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from hashrange.clock import SystemClock
from hashrange.core.schema import Table
from hashrange.modeling.price.bill import Metered
from hashrange.page_keys import unlock_pages
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.consumption import Consumption, consumption
from hashrange.storage.engine import Reader
from hashrange.storage.errors import OpenError
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.schema import data_file
from hashrange.vaults import open_keys


def stored_consumption(
    directory: Path, *, root_key: str, region: str, names: Sequence[str], hours: int
) -> Iterator[Metered]:
    """Of the tables of a region with these names, or of all. Raises `StorageError`, also while a server has them."""
    if not data_file(directory).is_file():
        raise OpenError(f"there is no data in {directory}")
    unlock_pages(directory, root_key)
    with closing(SqliteEngine.open(directory)) as plain:
        engine, *_ = open_keys(root_key, plain)
        now = SystemClock().now()
        wanted = set(names)
        tables = [table for table in Catalogue(engine).tables() if table.region == region]
        missing = sorted(wanted - {table.name for table in tables})
        if missing:
            raise OpenError(f"there is no table {missing[0]!r} in {region}")
        for table in sorted(tables, key=lambda table: (table.name, table.account_id)):
            if not wanted or table.name in wanted:
                found = engine.read(partial(_consumed, table, hours, now))
                yield msgspec.convert(msgspec.to_builtins(found), Metered)


def _consumed(table: Table, hours: int, now: float, reader: Reader) -> Consumption:
    return consumption(reader, table, hours, now)
