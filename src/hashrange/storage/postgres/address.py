"""Where the database is, and how a link to it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import psycopg
from psycopg import conninfo, pq

from hashrange.storage.errors import OpenError
from hashrange.storage.postgres.faults import Broken
from hashrange.storage.postgres.flavour import Flavour, flavour_of, session_settings
from hashrange.storage.postgres.link import Link
from hashrange.storage.postgres.statements import statements

# Those that a URL does not set itself. A host that is gone without a word is given up in seconds.
_DEFAULTS = {
    "application_name": "hashrange",
    "connect_timeout": "3",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}


@dataclass(slots=True, kw_only=True)
class Address:
    """A database and the schema in it. What kind of server it is shows with the first connection."""

    options: Mapping[str, str]
    schema: str
    seconds_max: float  # for an answer
    flavour: Flavour = Flavour.POSTGRESQL
    statements: dict[bytes, bytes] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The place for people: hosts, ports and database, without the password."""
        hosts = str(self.options.get("host") or self.options.get("hostaddr") or "localhost").split(",")
        ports = str(self.options.get("port") or "5432").split(",")
        ports = ports if len(ports) == len(hosts) else ports[:1] * len(hosts)
        places = ",".join(f"{host}:{port or 5432}" for host, port in zip(hosts, ports, strict=True))
        return f"{places}/{self.options.get('dbname') or self.options.get('user') or ''}"

    def connect(self) -> psycopg.Connection:
        """Open a connection with the session's settings."""
        try:
            connection = psycopg.Connection.connect(
                conninfo.make_conninfo("", **self.options), autocommit=True
            )
            try:
                self._set_up(connection)
            except BaseException:
                connection.close()
                raise
        except psycopg.Error as error:
            raise Broken(_one_line(error)) from error
        return connection

    def link(self) -> Link:
        """Open a connection and prepare every statement on it."""
        return Link(self.connect(), self.statements, seconds_max=self.seconds_max)

    def _set_up(self, connection: psycopg.Connection) -> None:
        if not self.statements:
            version = str(_scalar(connection, "SELECT version()"))
            self.flavour = flavour_of(version)
            self.statements = statements(self.flavour)
        settings = (*session_settings(self.flavour), f'SET search_path = "{self.schema}"')
        result = connection.pgconn.exec_("; ".join(settings).encode())
        if result.status != pq.ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(result.get_error_message())


def address(url: str, *, schema: str, seconds_max: float, leader: bool) -> Address:
    """Read a URL; of several hosts, the one that takes writes is meant unless the URL says otherwise."""
    try:
        given = {name: str(value) for name, value in conninfo.conninfo_to_dict(url).items()}
    except psycopg.Error as error:
        raise OpenError(f"the engine's URL cannot be read: {_one_line(error)}") from error
    defaults = _DEFAULTS | ({"target_session_attrs": "read-write"} if leader else {})
    return Address(options=defaults | given, schema=schema, seconds_max=seconds_max)


def _scalar(connection: psycopg.Connection, sql: str) -> object:
    row = connection.execute(sql.encode()).fetchone()
    return None if row is None else row[0]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
