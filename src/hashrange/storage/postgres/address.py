"""Where the database is, and how a connection to it is made."""

from collections.abc import Mapping

import msgspec
import psycopg
from psycopg import conninfo

from hashrange import passwords
from hashrange.storage.errors import OpenError
from hashrange.storage.postgres.faults import Broken
from hashrange.storage.postgres.flavour import Flavour, session_settings
from hashrange.storage.postgres.isolation import Isolation
from hashrange.storage.postgres.pipeline import PipelineConnection
from hashrange.storage.postgres.statements import statements

# Used where the URL does not set them. They make libpq give up a host that stopped answering within seconds.
_DEFAULTS = {
    "application_name": "hashrange",
    "connect_timeout": "3",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}


class Address(msgspec.Struct, kw_only=True):
    """A database and the schema in it."""

    options: Mapping[str, str]
    schema: str
    seconds_max: float  # for an answer
    flavour: Flavour = Flavour.POSTGRESQL  # as `schema.prepare` finds it
    identity: str = ""  # likewise
    isolation_setting: Isolation = Isolation.LOCKING

    @property
    def isolation(self) -> Isolation:
        """How write steps are kept apart. The locks need PostgreSQL; the others have a SERIALIZABLE by row."""
        return self.isolation_setting if self.flavour is Flavour.POSTGRESQL else Isolation.SERIALIZABLE

    @property
    def description(self) -> str:
        """The database as people name it: hosts, ports and database, without the password."""
        hosts = str(self.options.get("host") or self.options.get("hostaddr") or "localhost").split(",")
        ports = str(self.options.get("port") or "5432").split(",")
        ports = ports if len(ports) == len(hosts) else ports[:1] * len(hosts)
        places = ",".join(f"{host}:{port or 5432}" for host, port in zip(hosts, ports, strict=True))
        return f"{places}/{self.options.get('dbname') or self.options.get('user') or ''}"

    def connect(self) -> psycopg.Connection:
        """Open a connection as it comes."""
        try:
            return psycopg.Connection.connect(conninfo.make_conninfo("", **self.options), autocommit=True)
        except psycopg.Error as error:
            # Without its cause, which would show the password where a traceback is logged.
            raise Broken(passwords.without(self._passwords, one_line(error))) from None

    @property
    def _passwords(self) -> set[str]:
        return {self.options[name] for name in ("password", "sslpassword") if self.options.get(name)}

    def open_pipeline(self) -> PipelineConnection:
        """Open a connection, set it up and prepare every statement on it."""
        settings = (*session_settings(self.flavour), f'SET search_path = "{self.schema}"')
        known = statements(self.flavour, self.isolation)
        return PipelineConnection(self.connect(), settings, known, seconds_max=self.seconds_max)


def parse_address(url: str, *, schema: str, seconds_max: float, leader: bool) -> Address:
    """Read a URL; of several hosts, the one that takes writes is meant unless the URL says otherwise."""
    try:
        options = {name: str(value) for name, value in conninfo.conninfo_to_dict(url).items()}
    except psycopg.Error as error:
        whose = "the engine's" if leader else "a replica's"
        reason = passwords.without(passwords.passwords_in(url), one_line(error))
        raise OpenError(f"{whose} URL cannot be read: {reason}") from None
    defaults = _DEFAULTS | ({"target_session_attrs": "read-write"} if leader else {})
    return Address(options=defaults | options, schema=schema, seconds_max=seconds_max)


def one_line(error: Exception) -> str:
    """What an error says, for a message of one line; without the statement it is about."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join((primary or str(error)).split())
