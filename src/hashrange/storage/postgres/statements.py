"""Every statement the engine runs, by name: the subset that PostgreSQL, CockroachDB and YugabyteDB share.

Each is prepared once per connection. Parameters and results are binary.
"""

from functools import cache

from hashrange.storage.postgres.flavour import Flavour
from hashrange.storage.postgres.isolation import Isolation

SNAPSHOT = b"snapshot"
BEGIN = b"begin"
COMMIT = b"commit"
ROLLBACK = b"rollback"
MODE = b"mode"
FENCE = b"fence"
FENCE_ALONE = b"fence_alone"
GATE = b"gate"
GATE_ALONE = b"gate_alone"
GET = b"get"
LOCK = b"lock"
LOCK_NOW = b"lock_now"
LOCK_KEYS = b"lock_keys"
SCAN = b"scan"
SCAN_REVERSE = b"scan_reverse"
SCAN_KEYS = b"scan_keys"
DIGESTS = b"digests"
LOCK_DIGESTS = b"lock_digests"
INSERT = b"insert"
HOLD = b"hold"
PUT = b"put"
DELETE = b"delete"
COUNTER = b"counter"
COUNTERS = b"counters"
COUNTER_FILL = b"counter_fill"
COUNTER_LOCK = b"counter_lock"
COUNTER_ZEROS = b"counter_zeros"
COUNTER_DROP = b"counter_drop"
ADD = b"add"
LONG_GET = b"long_get"
LONG_SCAN = b"long_scan"
LONG_SCAN_REVERSE = b"long_scan_reverse"
LONG_PUT = b"long_put"
LONG_DELETE = b"long_delete"
LONG_DROP_HEAD = b"long_drop_head"
STATE = b"state"
BEAT = b"beat"
BEAT_READ = b"beat_read"
BEAT_DROP = b"beat_drop"
BEATS_EXPIRE = b"beats_expire"

# Every counter is a sum of so many rows at most; a writer adds to its own, so that writers do not wait for
# each other.
COUNTER_SHARDS = 16  # as in COUNTER_FILL below

_COMMON = {
    COMMIT: "COMMIT",
    ROLLBACK: "ROLLBACK",
    GET: "SELECT k, v FROM rows WHERE k = ANY($1::bytea[])",
    SCAN: "SELECT k, v FROM rows WHERE k >= $1::bytea AND k < $2::bytea ORDER BY k LIMIT $3::bigint",
    SCAN_REVERSE: (
        "SELECT k, v FROM rows WHERE k >= $1::bytea AND k < $2::bytea ORDER BY k DESC LIMIT $3::bigint"
    ),
    SCAN_KEYS: "SELECT k FROM rows WHERE k >= $1::bytea AND k < $2::bytea ORDER BY k LIMIT $3::bigint",
    # The arrays are in key order, and rows are written in the order of the arrays.
    PUT: (
        "INSERT INTO rows (k, v) SELECT k, v FROM unnest($1::bytea[], $2::bytea[]) AS new (k, v) "
        "ON CONFLICT (k) DO UPDATE SET v = excluded.v"
    ),
    DELETE: "DELETE FROM rows WHERE k = ANY($1::bytea[])",
    # Of every row of a counter, number and complement add up to the same.
    COUNTER: (
        "SELECT CAST(sum(n) AS bigint), min(n + complement), max(n + complement) "
        "FROM counters WHERE k = $1::bytea"
    ),
    COUNTERS: (
        "SELECT CAST(sum(n) AS bigint), min(n + complement), max(n + complement), k "
        "FROM counters GROUP BY k ORDER BY k"
    ),
    COUNTER_FILL: (
        "INSERT INTO counters (k, shard, n, complement) SELECT $1::bytea, shard, 0, $2::bigint "
        "FROM generate_series(0, 15) AS shards (shard) ON CONFLICT (k, shard) DO NOTHING"
    ),
    COUNTER_LOCK: "SELECT n, complement FROM counters WHERE k = $1::bytea ORDER BY shard FOR UPDATE",
    COUNTER_ZEROS: "SELECT k FROM counters GROUP BY k HAVING sum(n) = 0 LIMIT 100",
    COUNTER_DROP: "DELETE FROM counters WHERE k = $1::bytea",
    ADD: (
        "INSERT INTO counters (k, shard, n, complement) SELECT k, $2::int, n, complement "
        "FROM unnest($1::bytea[], $3::bigint[], $4::bigint[]) AS new (k, n, complement) "
        "ON CONFLICT (k, shard) DO UPDATE "
        "SET n = counters.n + excluded.n, complement = counters.complement - excluded.n"
    ),
    LONG_GET: "SELECT v FROM long_rows WHERE head = $1::bytea AND digest = $2::bytea",
    LONG_SCAN: (
        "SELECT tail, v FROM long_rows WHERE head = $1::bytea AND tail >= $2::bytea "
        "ORDER BY tail LIMIT $3::bigint"
    ),
    LONG_SCAN_REVERSE: (
        "SELECT tail, v FROM long_rows WHERE head = $1::bytea AND ($2::bytea IS NULL OR tail < $2) "
        "ORDER BY tail DESC LIMIT $3::bigint"
    ),
    LONG_PUT: (
        "INSERT INTO long_rows (head, digest, tail, v) VALUES ($1::bytea, $2::bytea, $3::bytea, $4::bytea) "
        "ON CONFLICT (head, digest) DO UPDATE SET v = excluded.v"
    ),
    LONG_DELETE: "DELETE FROM long_rows WHERE head = $1::bytea AND digest = $2::bytea",
    LONG_DROP_HEAD: (
        "DELETE FROM rows WHERE k = $1::bytea AND NOT EXISTS (SELECT 1 FROM long_rows WHERE head = $1::bytea)"
    ),
    # Of the database, for servers that run on it: whether it is the same and has the same format, when it was started,
    # and what time it is.
    STATE: (
        "SELECT (SELECT value FROM meta WHERE name = 'identity'), (SELECT value FROM meta WHERE name = 'format'), "
        "CAST(extract(epoch FROM pg_postmaster_start_time()) AS float8), "
        "CAST(extract(epoch FROM clock_timestamp()) AS float8)"
    ),
    BEAT: (
        "INSERT INTO heartbeats (server, n, beaten_at) VALUES ($1::bytea, $2::bigint, now()) "
        "ON CONFLICT (server) DO UPDATE SET n = excluded.n, beaten_at = excluded.beaten_at"
    ),
    BEAT_READ: "SELECT n FROM heartbeats WHERE server = $1::bytea",
    BEAT_DROP: "DELETE FROM heartbeats WHERE server = $1::bytea",
    # Of servers that were killed. One that was only stopped for so long writes its row anew.
    BEATS_EXPIRE: "DELETE FROM heartbeats WHERE beaten_at < now() - interval '1 hour'",
}
# MODE comes right after BEGIN, before the snapshot: transactions of one mode run side by side, those of different
# modes, as there are while servers are restarted one by one, never do. Neither way would see what the other relies on.

# Row locks and table locks of our own: locking.py says what each is for.
_LOCKING = {
    SNAPSHOT: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    BEGIN: "BEGIN ISOLATION LEVEL READ COMMITTED",
    MODE: "LOCK TABLE meta IN ROW EXCLUSIVE MODE",
    FENCE: "LOCK TABLE fence IN ROW SHARE MODE",
    FENCE_ALONE: "LOCK TABLE fence IN EXCLUSIVE MODE",
    GATE: "LOCK TABLE fence IN ROW EXCLUSIVE MODE",
    GATE_ALONE: "LOCK TABLE fence IN SHARE ROW EXCLUSIVE MODE",
    # In key order, so that two who want the same rows wait for each other and not both at once.
    LOCK: "SELECT k, v FROM rows WHERE k = ANY($1::bytea[]) ORDER BY k FOR UPDATE",
    LOCK_NOW: "SELECT k, v FROM rows WHERE k = ANY($1::bytea[]) ORDER BY k FOR UPDATE NOWAIT",
    DIGESTS: "SELECT k, md5(v) FROM rows WHERE k >= $1::bytea AND k < $2::bytea",
    LOCK_DIGESTS: "SELECT k, md5(v) FROM rows WHERE k = ANY($1::bytea[]) ORDER BY k FOR UPDATE",
    INSERT: "INSERT INTO rows (k, v) SELECT k, v FROM unnest($1::bytea[], $2::bytea[]) AS new (k, v)",
    # Locks the rows that are there, changing none, and occupies the keys of those that are not.
    HOLD: (
        "INSERT INTO rows (k, v) SELECT k, '' FROM unnest($1::bytea[]) AS new (k) "
        "ON CONFLICT (k) DO UPDATE SET v = excluded.v WHERE false"
    ),
}
_SERIALIZABLE = {
    # A snapshot beside the serializable transactions could show a state that no serial order has.
    SNAPSHOT: "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY",
    BEGIN: "BEGIN ISOLATION LEVEL SERIALIZABLE",
    MODE: "LOCK TABLE meta IN SHARE MODE",
    LOCK_KEYS: "SELECT k FROM rows WHERE k = ANY($1::bytea[]) ORDER BY k FOR UPDATE",
}


@cache
def statements(flavour: Flavour, isolation: Isolation) -> dict[bytes, bytes]:
    """The statements as this kind of server takes them."""
    chosen = _COMMON | (_LOCKING if isolation is Isolation.LOCKING else _SERIALIZABLE)
    if flavour is not Flavour.POSTGRESQL:
        chosen |= {MODE: "SELECT 1"}  # there is but one mode
        chosen |= {STATE: chosen[STATE].replace("pg_postmaster_start_time()", "TIMESTAMP 'epoch'")}
    return {name: sql.encode() for name, sql in chosen.items()}
