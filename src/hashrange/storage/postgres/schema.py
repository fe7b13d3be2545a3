"""The database's tables, and the check that they are ours and not from the future."""

import random
import time

import psycopg

from hashrange import ids
from hashrange.logs import Log
from hashrange.storage.errors import Corrupt, NotWritable, OpenError
from hashrange.storage.formats import FORMAT_VERSION, check_version
from hashrange.storage.postgres.address import Address, one_line
from hashrange.storage.postgres.faults import Broken
from hashrange.storage.postgres.flavour import Flavour, flavour_of, table_settings

log = Log("storage.postgres")

_ATTEMPTS = 5

# Room on every page lets an update stay on it, and then no index has to follow.
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL)",
    "CREATE TABLE IF NOT EXISTS rows (k bytea PRIMARY KEY, v bytea NOT NULL) WITH (fillfactor = 85)",
    """CREATE TABLE IF NOT EXISTS long_rows (
        head bytea NOT NULL, digest bytea NOT NULL, tail bytea NOT NULL, v bytea NOT NULL,
        PRIMARY KEY (head, digest)
    )""",
    """CREATE TABLE IF NOT EXISTS counters (
        k bytea NOT NULL, shard int NOT NULL, n bigint NOT NULL, complement bigint NOT NULL, PRIMARY KEY (k, shard)
    ) WITH (fillfactor = 50)""",
    "CREATE TABLE IF NOT EXISTS fence (nothing int PRIMARY KEY)",
    """CREATE TABLE IF NOT EXISTS heartbeats (
        server bytea PRIMARY KEY, n bigint NOT NULL, beaten_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)""",
)
_IDENTITY = "INSERT INTO meta VALUES ('identity', %s) ON CONFLICT DO NOTHING"
_FORMAT = f"INSERT INTO meta VALUES ('format', '{FORMAT_VERSION}') ON CONFLICT DO NOTHING"  # noqa: S608


# Each asks for a right without touching a row; the lock is what a change of a table needs.
_TRIALS = (
    *(
        sql
        for table, column in (
            ("rows", "v"),
            ("long_rows", "v"),
            ("counters", "complement"),
            ("heartbeats", "n"),
        )
        for sql in (
            f"INSERT INTO {table} SELECT * FROM {table} WHERE false",  # noqa: S608 - names of our own
            f"UPDATE {table} SET {column} = {column} WHERE false",  # noqa: S608
            f"DELETE FROM {table} WHERE false",  # noqa: S608
        )
    ),
    "SELECT value FROM meta WHERE false FOR UPDATE",
    "SELECT nothing FROM fence WHERE false FOR UPDATE",
)


def prepare(address: Address, *, create: bool = True) -> None:
    """Create the tables in a new database; in an old one check that they can be used."""
    for attempt in range(_ATTEMPTS):
        try:
            with address.connect() as connection:
                address.flavour = _flavour(connection)
                connection.execute(f'SET search_path = "{address.schema}"'.encode())
                _prepare(connection, address, create=create)
                return
        except Broken as error:
            raise OpenError(f"cannot connect to {address.description}: {error}") from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise NotWritable(f"cannot create tables in {address.description}: {one_line(error)}") from error
        except psycopg.errors.ReadOnlySqlTransaction as error:
            raise NotWritable(f"{address.description} takes no writes: is it a replica?") from error
        except psycopg.Error as error:
            # Several servers may start at once, and creating what another one creates can fail.
            if attempt == _ATTEMPTS - 1:
                raise OpenError(f"cannot use {address.description}: {one_line(error)}") from error
            time.sleep(random.uniform(0.05, 0.3))  # noqa: S311 - not a secret


def _prepare(connection: psycopg.Connection, address: Address, *, create: bool) -> None:
    version = _format(connection, address)
    if version is None:
        if not create:
            raise OpenError(f"there is no data in {address.description}")
        _create(connection, address)
        version = _format(connection, address)
    check_version(version, f"the database {address.description}")
    address.identity = _identity(connection, address)
    _try_out(connection, address)
    _warn_of_loss(connection, address)


def _try_out(connection: psycopg.Connection, address: Address) -> None:
    """See now, and not at the first request, that all tables are there and may be written."""
    try:
        connection.execute("; ".join(_TRIALS).encode())
    except psycopg.errors.InsufficientPrivilege as error:
        rights = f"SELECT, INSERT, UPDATE and DELETE on all tables of the schema {address.schema}"
        message = f"cannot use {address.description}: {one_line(error)}; the role needs {rights}"
        raise NotWritable(message) from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn) as error:
        message = (
            f"the tables in {address.description} are not Hashrange's or not complete: {one_line(error)}"
        )
        raise Corrupt(message) from error


def _warn_of_loss(connection: psycopg.Connection, address: Address) -> None:
    """Say it where a role or a database is set up to acknowledge what is not on disk."""
    row = connection.execute("SHOW synchronous_commit").fetchone()
    if address.flavour is Flavour.POSTGRESQL and row is not None and row[0] == "off":
        reason = "synchronous_commit is off: a crash can lose acknowledged writes"
        log.warning("database.not_durable", database=address.description, reason=reason)


def _flavour(connection: psycopg.Connection) -> Flavour:
    row = connection.execute("SELECT version()").fetchone()
    return flavour_of("" if row is None else str(row[0]))


def _format(connection: psycopg.Connection, address: Address) -> str | None:
    """The stored format version, or None where there are no tables."""
    table = connection.execute(
        "SELECT 1 FROM information_schema.tables WHERE table_schema = %s AND table_name = 'meta'",
        (address.schema,),
    ).fetchone()
    if table is None:
        return None
    row = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    return None if row is None else str(row[0])


def _identity(connection: psycopg.Connection, address: Address) -> str:
    row = connection.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
    if row is None:
        raise Corrupt(f"the database {address.description} does not say which one it is")
    return str(row[0])


def _create(connection: psycopg.Connection, address: Address) -> None:
    for sql in (
        *table_settings(address.flavour),
        f'CREATE SCHEMA IF NOT EXISTS "{address.schema}"',
        *_TABLES,
    ):
        connection.execute(sql.encode())
    # By which a server knows the database again: another one has another.
    connection.execute(_IDENTITY, (ids.unique_id(),))
    # Last, so that whoever finds it finds all tables.
    connection.execute(_FORMAT)
