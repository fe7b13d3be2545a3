"""Request shapes: accept what is surely right at once, explain the rest in the service's words and order."""

import contextlib
import re
from collections.abc import Callable
from typing import Any

from hashrange.api.errors import serialization, validation
from hashrange.api.kinds import MEMBER, AttributeValue, Kind, MapOf, Member, Text, Violation, camel
from hashrange.core.errors import Refused, RequestInvalid

NAME_PATTERN = re.compile("[a-zA-Z0-9_.-]+")


_MEMBER_NAME = re.compile(f"{MEMBER}([^.]*)")
VIOLATIONS_MAX = 10  # the service lists no more in one message


# What an operation reports of all that is wrong with its members, given those it has.
Narrow = Callable[[dict[str, Any], list[Violation]], list[Violation]]


def is_enumeration(violation: Violation) -> bool:
    """Whether a violation is about a value that is not among its choices."""
    return violation[2].startswith("Member must satisfy enum value set")


class TableName(Text):
    """A table's name or its ARN, which follows rules of its own."""

    def fits(self, raw: Any) -> bool:
        return Text.fits(self, raw) or (type(raw) is str and raw.startswith("arn:"))

    def violations(self, value: Any, path: str) -> Any:
        if value.startswith("arn:"):
            return iter(())
        broken = Text.violations(self, value, path)
        # An empty name is reported for its length alone.
        return broken if value else (each for each in broken if "length" in each[2])


TABLE_NAME = TableName(least=1, most=255, pattern=NAME_PATTERN)


class Shape:
    """The members of one operation's request, in the order in which the service reports what is wrong with them."""

    def __init__(
        self,
        members: dict[str, Member | Kind],
        *,
        newer: tuple[str, ...] = (),
        prefixed: bool = False,
        narrowed: Narrow | None = None,
    ) -> None:
        self.members = {
            name: each if isinstance(each, Member) else Member(each) for name, each in members.items()
        }
        self._newer = newer
        self._prefixed = prefixed
        self._narrowed = narrowed
        self._fits = {name: _fast_check(member.kind) for name, member in self.members.items()}
        self._required = tuple(name for name, member in self.members.items() if member.required)

    def accept(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request, checked; with everything dropped that is null or unknown where that mattered."""
        fits = self._fits
        for name, value in request.items():
            check = fits.get(name)
            if check is not None and not check(value):
                return self.explain(request)
        for name in self._required:
            if name not in request:
                return self.explain(request)
        return request

    def explain(self, request: dict[str, Any]) -> dict[str, Any]:
        """Read the whole request slowly: raise what is wrong with it, or give it cleaned."""
        try:
            clean = self._read(request)
            found = self._violations(clean)
        except RecursionError:
            # Nested far beyond what an item may have: nothing in it is worth a closer look.
            raise serialization(None) from None
        if found:
            raise validation(joined([self._phrase(violation) for violation in found[:VIOLATIONS_MAX]]))
        return clean

    def check_types(self, request: dict[str, Any]) -> None:
        """Raise if JSON of a wrong type stands behind what was found wrong: the service reads all of it first."""
        with contextlib.suppress(RecursionError):
            self._read(request)

    def _read(self, request: dict[str, Any]) -> dict[str, Any]:
        members = self.members
        return {
            name: members[name].kind.read(each)
            for name, each in request.items()
            if name in members and each is not None
        }

    def _violations(self, clean: dict[str, Any]) -> list[Violation]:
        found: list[Violation] = []
        for name, member in self.members.items():
            if name in clean:
                found.extend(member.kind.violations(clean[name], name))
            elif member.required:
                found.append((None, name, "Member must not be null"))
        return found if self._narrowed is None else self._narrowed(clean, found)

    def _phrase(self, violation: Violation) -> str:
        value, path, rule = violation
        if path.startswith(self._newer):
            return f"Value at '{path.replace(MEMBER, '')}' failed to satisfy constraint: {rule}"
        shown = "null" if value is None else f"'{value}'"
        return f"Value {shown} at '{_camel_path(path)}' failed to satisfy constraint: {rule}"

    def worded(self, invalid: Refused) -> str:
        """The message of a broken rule, as this operation words it."""
        if self._prefixed and isinstance(invalid, RequestInvalid):
            return f"1 validation error detected: {invalid.message}"
        return invalid.message


def _camel_path(path: str) -> str:
    return _MEMBER_NAME.sub(lambda found: camel(found[1]), MEMBER + path)


def joined(phrases: list[str]) -> str:
    """Several constraint errors in one sentence."""
    plural = "s" if len(phrases) > 1 else ""
    return f"{len(phrases)} validation error{plural} detected: {'; '.join(phrases)}"


def _fast_check(kind: Kind) -> Any:
    # What `fits` would say of it in the end, in one call.
    if isinstance(kind, MapOf) and isinstance(kind.element, AttributeValue):
        return _is_map
    return kind.fits


def _is_map(raw: Any) -> bool:
    return type(raw) is dict


def text_choices(*choices: str) -> Text:
    """An enumeration, in the order the service lists its values."""
    return Text(choices=choices)


SELECT = text_choices("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
INDEX_NAME = Text(least=3, most=255, pattern=NAME_PATTERN)
RETURN_CONSUMED_CAPACITY = text_choices("INDEXES", "TOTAL", "NONE")
RETURN_ITEM_COLLECTION_METRICS = text_choices("SIZE", "NONE")
RETURN_VALUES = text_choices("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
RETURN_VALUES_ON_FAILURE = text_choices("ALL_OLD", "NONE")
CONDITIONAL_OPERATOR = text_choices("OR", "AND")
