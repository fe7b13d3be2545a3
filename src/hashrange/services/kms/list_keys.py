"""ListKeys: the keys of the account and region, by pages."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms import pages
from hashrange.services.kms.structures import Marker, PageLimit
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import KEYS, is_deleted, key_arn

_PAGE_DEFAULT = 100


class KeyListEntry(Response, kw_only=True):
    """One of them."""

    key_id: str
    key_arn: str


class ListKeys(Request, kw_only=True):
    """The request."""

    limit: PageLimit | None = None
    marker: Marker | None = None


SHAPE = Shape(ListKeys)


class ListKeysOutput(Response, kw_only=True):
    """The answer."""

    keys: list[KeyListEntry]
    truncated: bool
    next_marker: str | None = None


def list_keys(context: Context, request: ListKeys) -> Plan:
    """Keys of every state but those that are gone."""
    start, limit = pages.start_of(request.marker), request.limit or _PAGE_DEFAULT
    place, now = lookup.place_of(context), context.clock.now()

    def step(reader: Reader) -> Described:
        rows = (row for row in KEYS.of_region(reader, place, after=start) if not is_deleted(row[1], now))
        keys, following = pages.page(rows, limit)
        entries = [KeyListEntry(key_id=key.id, key_arn=key_arn(place, key.id)) for key in keys]
        answer = ListKeysOutput(keys=entries, truncated=following is not None, next_marker=following)
        return Described(answer)

    return Read(step)
