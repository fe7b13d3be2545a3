"""ListTables: the names of the account's tables in this region, in order, by pages."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.protocol.kinds import Text, compiled
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import NAME_PATTERN, Request, Response
from hashrange.api.results import Described
from hashrange.core.limits import LIST_TABLES_MAX, NAME_CHARS_MAX, NAME_CHARS_MIN


class ListTables(Request, kw_only=True):
    """The request."""

    limit: Annotated[int, Meta(ge=1, le=LIST_TABLES_MAX)] | None = None
    exclusive_start_table_name: (
        Annotated[
            str,
            Meta(min_length=NAME_CHARS_MIN, max_length=NAME_CHARS_MAX, pattern=rf"\A{NAME_PATTERN}\Z"),
            Text(least=NAME_CHARS_MIN, most=NAME_CHARS_MAX, pattern=compiled(NAME_PATTERN)),
        ]
        | None
    ) = None


SHAPE = Shape(ListTables)


class ListTablesOutput(Response, kw_only=True):
    """The answer."""

    table_names: list[str]
    last_evaluated_table_name: str | None = None


def list_tables(context: Context, request: ListTables) -> Plan:
    """Take one name more than asked for, to know whether there is a next page."""
    limit = request.limit or LIST_TABLES_MAX
    names = context.catalogue.names(
        context.account_id,
        context.region,
        after=request.exclusive_start_table_name,
        limit=limit + 1,
        now=context.clock.now(),
    )
    last = names[limit - 1] if len(names) > limit else None
    return Answer(Described(ListTablesOutput(table_names=names[:limit], last_evaluated_table_name=last)))
