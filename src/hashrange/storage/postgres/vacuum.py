"""Dropping counters at zero. PostgreSQL's own vacuum takes care of the space."""

from psycopg.pq.abc import PGresult

from hashrange.storage.errors import DamagedRow
from hashrange.storage.postgres import counters, statements
from hashrange.storage.postgres.faults import Refused, translate
from hashrange.storage.postgres.pipeline import Call, PipelineConnection
from hashrange.storage.postgres.pool import Pool
from hashrange.storage.postgres.transaction import BEGIN_CALLS, keys_of

_COMMIT = Call(statements.COMMIT)


def drop_zero_counters(pool: Pool) -> None:
    """Drop counters that have come back to zero."""
    connection: PipelineConnection | None = None
    try:
        connection, (zeros,) = pool.begin([Call(statements.COUNTER_ZEROS)])
        for key in keys_of(zeros):
            _drop(connection, key)
    except Refused as refusal:
        # Someone is counting; the counter is looked at again next time.
        if not refusal.is_conflict:
            raise translate(refusal) from refusal
    except Exception as error:
        raise translate(error) from error
    finally:
        if connection is not None:
            pool.abandon(connection)


def _drop(connection: PipelineConnection, key: bytes) -> None:
    # All of its rows have to be there and locked: one that came up later would be dropped unseen. Fewer come back where
    # somebody else has dropped them while we waited for the locks; whatever is there by now is not ours to drop.
    rows = connection.run([*BEGIN_CALLS, *counters.lock_calls(key)])[-1]
    is_locked = rows.ntuples == statements.COUNTER_SHARDS
    drops = [Call(statements.COUNTER_DROP, (key,))] if is_locked and _is_zero(key, rows) else []
    connection.run([*drops, _COMMIT])


def _is_zero(key: bytes, rows: PGresult) -> bool:
    try:
        return counters.locked_counter(key, rows) == 0
    except DamagedRow:
        return False  # it stays, for whoever reads it and for `hashrange verify`
