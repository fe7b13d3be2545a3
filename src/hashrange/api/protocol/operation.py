"""An operation: its request, its handler, and what permissions, capacity and logs need to know of it."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, Literal, TypeVar

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.patient_requests import converted
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.core import patient_json

R = TypeVar("R", bound=Request)

# read and write touch items; control touches tables and settings.
Kind = Literal["read", "write", "control"]

# What decoding raises where the slow path has to look: JSON that is none, or that has another shape.
UNDECODED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Shortcut(msgspec.Struct, frozen=True):
    """A quicker way for requests in which nothing is unusual. Nothing but the handler ever looks into them.

    `decode` gives None for a body with anything else in it. `plan` gives None, or raises what a handler may, if the
    request has to be decoded and judged in the usual way.
    """

    request: type[Request]
    decode: Callable[[bytes | bytearray], Request | None]
    plan: Callable[[Context, Any], Plan | None]


class Operation(Generic[R]):
    """One row of a service's table of operations."""

    __slots__ = ("action", "decode", "handler", "kind", "name", "resources", "shape", "shortcut")

    def __init__(
        self,
        name: str,
        shape: Shape[R],
        handler: Callable[[Context, R], Plan],
        *,
        kind: Kind,
        resources: Callable[[R], Iterable[str]],
        action: str,
        shortcut: Shortcut | None = None,
    ) -> None:
        """`resources` are the names or ARNs that a request is about; `action` is what a policy has to allow."""
        self.name = name
        self.shape = shape
        self.handler = handler
        self.kind = kind
        self.resources = resources
        self.action = action
        self.shortcut = shortcut
        self.decode: Callable[[bytes | bytearray], R] = msgspec.json.Decoder(shape.request).decode

    def read_patiently(self, body: bytes | bytearray) -> R:
        """What `decode` gives, in pieces between which other threads have their turn."""
        sent = patient_json.loads(body)
        self.shape.refuse_many_entries(sent)
        return converted(sent, self.shape.request)


class QueryProtocol(msgspec.Struct, frozen=True):
    """What a service that speaks, or once spoke, AWS's query protocol has beside its operations.

    Its errors have shorter codes there, by which programs know them; the newer protocols send these along.
    """

    version: str
    namespace: str  # of its XML
    codes: dict[str, str]  # of errors, by the names that the other protocols give them


class Service(msgspec.Struct, frozen=True):
    """What answers on the endpoint under one target prefix."""

    name: str
    target_prefix: str
    error_namespace: str
    operations: dict[str, Operation[Any]]
    signing_name: str  # that the signatures of its requests are made for
    query: QueryProtocol | None = None
