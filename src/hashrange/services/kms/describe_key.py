"""DescribeKey: what everybody may know of a key."""

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms.structures import GrantTokens, KeyId, KeyMetadata, metadata
from hashrange.storage.engine import Reader


class DescribeKey(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    grant_tokens: GrantTokens | None = None


SHAPE = Shape(DescribeKey)


class DescribeKeyOutput(Response, kw_only=True):
    """The answer."""

    key_metadata: KeyMetadata


def describe_key(context: Context, request: DescribeKey) -> Plan:
    """Whatever its state is."""
    place = lookup.place_of(context)

    def step(reader: Reader) -> Described:
        key = permitted.find(context, reader, "DescribeKey", request.key_id)
        return Described(DescribeKeyOutput(key_metadata=metadata(place, key)))

    return Read(step)
