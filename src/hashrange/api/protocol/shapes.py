"""The slow path of a request: it finds what is wrong, in the service's words and order, or reads what only looked so.

A shape is derived from the operation's structure, so members, types and constraints are written down once. It is
built when a request is first explained, which most servers never have to do.
"""

import contextlib
import re
import types
from collections.abc import Callable
from functools import cached_property
from itertools import islice
from typing import Any, Generic, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from hashrange.api.errors import serialization, too_many_values, validation
from hashrange.api.protocol import kinds
from hashrange.api.protocol.kinds import (
    MEMBER,
    AttributeValue,
    Double,
    Flag,
    Kind,
    ListOf,
    MapOf,
    Member,
    Sent,
    Struct,
    Text,
    Violation,
    Whole,
    camel,
)
from hashrange.api.protocol.patient_requests import converted
from hashrange.api.protocol.structures import Request
from hashrange.core.errors import Refused, RequestInvalid

ENTRIES_MAX = (
    160_000  # of all lists and maps outside attribute values; an item has 142,000 attributes at most
)
_SHOWN_CHARS_MAX = (
    262_144  # of a value that breaks a constraint: 155,000 writes would make an answer of megabytes
)
VIOLATIONS_MAX = 10  # the service lists no more in one message
_MEMBER_NAME = re.compile(f"{MEMBER}([^.]*)")

R = TypeVar("R", bound=Request)

# What an operation reports of all that is wrong with its members, given those that were sent.
Narrow = Callable[[Sent, list[Violation]], list[Violation]]


class Refined(NamedTuple):
    """Stands in an `Annotated`: makes another kind of the one that its type gives."""

    refine: Callable[[Any], Kind]


def is_enumeration(violation: Violation) -> bool:
    """Whether a violation is about a value that is not among its choices."""
    return violation[2].startswith("Member must satisfy enum value set")


class Shape(Generic[R]):
    """The structure of one operation's request, and how the service words what is wrong with it."""

    def __init__(
        self,
        request: type[R],
        *,
        newer: tuple[str, ...] = (),
        prefixed: bool = False,
        narrowed: Narrow | None = None,
    ) -> None:
        self.request = request
        self._newer = newer
        self._prefixed = prefixed
        self._narrowed = narrowed

    @cached_property
    def members(self) -> dict[str, Member]:
        """The request's members by the service's names."""
        return _members(self.request)

    def refuse_many_entries(self, sent: Any) -> None:
        """Refuse lists and maps that would take long to be made into a request, which is done in one piece."""
        if not isinstance(sent, dict):
            return
        entries = 0
        for name, member in self.members.items():
            if name in sent:
                entries += member.kind.entries(sent[name], ENTRIES_MAX)
        if entries > ENTRIES_MAX:
            raise too_many_values()

    def explain(self, sent: Sent) -> R:
        """Read the whole request slowly: raise what is wrong with it, or give it without what does not count."""
        try:
            clean = self._checked(sent)
        except RecursionError:
            # Nested far beyond what an item may have. The handler says so; nothing else is worth a closer look.
            clean = sent
        try:
            return converted(clean, self.request)
        except msgspec.ValidationError:
            raise serialization(None) from None

    def check(self, sent: Sent) -> None:
        """Raise what is wrong with a request that the handler refused: the service looks at all of its shape first."""
        with contextlib.suppress(RecursionError):
            self._checked(sent)

    def _checked(self, sent: Sent) -> Sent:
        clean = self._read(sent)
        violations = self.violations(clean)
        message = self.message(sent, violations) if violations else None
        if message is not None:
            raise validation(message)
        return clean

    def _read(self, sent: Sent) -> Sent:
        members = self.members
        return {
            name: members[name].kind.read(value)
            for name, value in sent.items()
            if name in members and value is not None
        }

    def violations(self, clean: Sent) -> list[Violation]:
        """The constraints that a request breaks, in the order of its members; of each member no more than are told."""
        violations: list[Violation] = []
        for name, member in self.members.items():
            if name in clean:
                violations.extend(islice(member.kind.violations(clean[name], name), VIOLATIONS_MAX))
            elif member.required:
                violations.append((None, name, "Member must not be null"))
        return violations if self._narrowed is None else self._narrowed(clean, violations)

    def message(self, _sent: Sent, violations: list[Violation]) -> str | None:
        """What the service says of broken constraints; None if they are left to the handler."""
        phrases = [self.phrase(violation) for violation in violations[:VIOLATIONS_MAX]]
        return joined(phrases) if phrases else None

    def phrase(self, violation: Violation) -> str:
        """One broken constraint: the newer layer does not show the value."""
        value, path, rule = violation
        if path.startswith(self._newer):
            return f"Value at '{path.replace(MEMBER, '')}' failed to satisfy constraint: {rule}"
        shown = "null" if value is None else f"'{str(value)[:_SHOWN_CHARS_MAX]}'"
        return f"Value {shown} at '{_camel_path(path)}' failed to satisfy constraint: {rule}"

    def worded(self, invalid: Refused) -> str:
        """The message of a broken rule, as this operation words it."""
        if self._prefixed and isinstance(invalid, RequestInvalid):
            return f"1 validation error detected: {invalid.message}"
        return invalid.message


def _camel_path(path: str) -> str:
    return _MEMBER_NAME.sub(lambda match: camel(match[1]), MEMBER + path)


def joined(phrases: list[str]) -> str:
    """Several constraint errors in one sentence."""
    plural = "s" if len(phrases) > 1 else ""
    return f"{len(phrases)} validation error{plural} detected: {'; '.join(phrases)}"


def _members(structure: type[msgspec.Struct]) -> dict[str, Member]:
    hints = get_type_hints(structure, include_extras=True)
    fields = msgspec.structs.fields(structure)
    return {
        field.encode_name: Member(_as_member(_kind(hints[field.name])), required=field.required)
        for field in fields
    }


def _as_member(kind: Kind) -> Kind:
    """The kind of a structure's member, where the service words a wrong type differently than for an element."""
    if isinstance(kind, Struct):
        return Struct(kind.name, kind.members, as_member=True)
    return kinds.VALUE_MEMBER if isinstance(kind, AttributeValue) else kind


def _kind(hint: Any) -> Kind:
    """The kind of a type: its own, or the one that an annotation gives it."""
    extras: tuple[Any, ...] = ()
    if hasattr(hint, "__metadata__"):
        extras, hint = hint.__metadata__, hint.__origin__
    for extra in extras:
        if isinstance(extra, Kind):
            return extra
    meta = next((extra for extra in extras if isinstance(extra, Meta)), Meta())
    kind = _plain_kind(hint, meta)
    for extra in extras:
        if isinstance(extra, Refined):
            kind = extra.refine(kind)
    return kind


def _plain_kind(hint: Any, meta: Meta) -> Kind:
    arguments = get_args(hint)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _kind(next(argument for argument in arguments if argument is not type(None)))
    if origin is Literal:
        return Text(choices=arguments)
    if origin is list:
        return ListOf(_as_element(_kind(arguments[0])), least=meta.min_length, most=meta.max_length)
    if origin is dict:
        key = _kind(arguments[0])
        named = key if isinstance(key, Text) and key != Text() else None
        element = _as_element(_kind(arguments[1]))
        return MapOf(element, key=named, least=meta.min_length, most=meta.max_length)
    if hint is str:
        return Text(least=meta.min_length, most=meta.max_length)
    if hint is int:
        return _whole(meta)
    if hint is float:
        return Double(least=None if meta.ge is None else float(meta.ge))
    if hint is bool:
        return Flag()
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return Struct(hint.__name__, _members(hint))
    raise TypeError(hint)


def _whole(meta: Meta) -> Whole:
    # Bounds that only say how large the service's integers are go without saying.
    least = None if meta.ge in (-(2**31), None) else int(meta.ge)
    most = None if meta.le in (2**31 - 1, None) else int(meta.le)
    return Whole(least=least, most=most)


def _as_element(kind: Kind) -> Kind:
    """A list or map inside another, for which the service's reader has words of its own."""
    if isinstance(kind, ListOf):
        return ListOf(kind.element, kind.least, kind.most, parameterized=True)
    if isinstance(kind, MapOf):
        return MapOf(kind.element, kind.key, kind.least, kind.most, parameterized=True)
    return kind
