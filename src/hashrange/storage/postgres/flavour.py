"""Which database speaks PostgreSQL's protocol, and what it has to be told."""

from enum import Enum


class Flavour(Enum):
    """A kind of server."""

    POSTGRESQL = "PostgreSQL"
    COCKROACHDB = "CockroachDB"
    YUGABYTEDB = "YugabyteDB"


# A server that hangs with rows locked, or whose host is gone, is let go of after three seconds: its own pauses
# between two statements are milliseconds, and whoever is cut off by mistake begins again.
_COMMON = ("SET lock_timeout = '2s'", "SET idle_in_transaction_session_timeout = '3s'")
# A plan made while a table was small must not stay when it has grown: there is one right plan, by the key.
_PLANS = (
    "SET plan_cache_mode = force_generic_plan",
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET jit = off",
)


def flavour_of(version: str) -> Flavour:
    """Tell by what `version()` says."""
    if "CockroachDB" in version:
        return Flavour.COCKROACHDB
    if "-YB-" in version:
        return Flavour.YUGABYTEDB
    return Flavour.POSTGRESQL


def session_settings(flavour: Flavour) -> tuple[str, ...]:
    """What every session is set to."""
    return _COMMON if flavour is Flavour.COCKROACHDB else _COMMON + _PLANS


def table_settings(flavour: Flavour) -> tuple[str, ...]:
    """What a session that creates tables is set to before."""
    if flavour is Flavour.YUGABYTEDB:
        # Rows are found by ranges of keys, which are spread by their own hash already.
        return ("SET yb_use_hash_splitting_by_default = off",)
    return ()
