"""Serializable by the database's own SERIALIZABLE: reads and writes as they come.

The database remembers what was read, down to the gaps in an index, and refuses one of two transactions that cannot
have happened one after the other, at the latest in its commit. The committer then runs the steps again.
"""

from psycopg.pq.abc import PGresult

from hashrange.storage.postgres import counters, statements, writes
from hashrange.storage.postgres.arrays import bytea_array
from hashrange.storage.postgres.pipeline import Call
from hashrange.storage.postgres.transaction import WriteTransaction


class SerializableTransaction(WriteTransaction):
    """Leaves it to the database to hold still what was read."""

    def last_calls(self, shard: int) -> list[Call]:
        """Give the writes; before those of several statements, the rows are locked in key order by one."""
        todo = writes.sort_out(self)
        calls = writes.calls(todo, self, shard)
        if todo.puts and todo.deletes:
            keys = sorted(todo.puts.keys() | todo.deletes)
            calls.insert(0, Call(statements.LOCK_KEYS, (bytea_array(keys),)))
        return calls

    def _read_rows(self, keys: set[bytes]) -> list[PGresult]:
        return self.run([Call(statements.GET, (bytea_array(sorted(keys)),))])

    def _stored_counter(self, key: bytes) -> int:
        return counters.summed_counter(key, self.run([Call(statements.COUNTER, (key,))])[0])
