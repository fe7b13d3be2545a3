"""The scale-out engine: any number of servers on one database that speaks PostgreSQL's protocol."""

from hashrange.storage.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
