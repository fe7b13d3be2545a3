"""ListAliases: the aliases of the account and region, or those of one key, by pages."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.tables.description import timestamp
from hashrange.services.kms import pages
from hashrange.services.kms.structures import KeyId, Marker, PageLimit
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import ALIASES, Alias, alias_arn, find_key
from hashrange.storage.setting_rows import Place

_PAGE_DEFAULT = 50


class AliasListEntry(Response, kw_only=True):
    """One of them."""

    alias_name: str
    alias_arn: str
    target_key_id: str
    creation_date: float
    last_updated_date: float


class ListAliases(Request, kw_only=True):
    """The request."""

    key_id: KeyId | None = None
    limit: PageLimit | None = None
    marker: Marker | None = None


SHAPE = Shape(ListAliases)


class ListAliasesOutput(Response, kw_only=True):
    """The answer."""

    aliases: list[AliasListEntry]
    truncated: bool
    next_marker: str | None = None


def list_aliases(context: Context, request: ListAliases) -> Plan:
    """Aliases of a key that is gone are gone, too."""
    start, limit = pages.start_of(request.marker), request.limit or _PAGE_DEFAULT
    place, now = lookup.place_of(context), context.clock.now()

    def step(reader: Reader) -> Described:
        key_id = None if request.key_id is None else lookup.find(reader, place, request.key_id, now).id
        rows = (
            row
            for row in ALIASES.of_region(reader, place, after=start)
            if key_id in (None, row[1].key_id) and find_key(reader, place, row[1].key_id, now) is not None
        )
        aliases, following = pages.page(rows, limit)
        entries = [_entry(place, alias) for alias in aliases]
        answer = ListAliasesOutput(aliases=entries, truncated=following is not None, next_marker=following)
        return Described(answer)

    return Read(step)


def _entry(place: Place, alias: Alias) -> AliasListEntry:
    return AliasListEntry(
        alias_name=alias.name,
        alias_arn=alias_arn(place, alias.name),
        target_key_id=alias.key_id,
        creation_date=timestamp(alias.created_at),
        last_updated_date=timestamp(alias.updated_at),
    )
