"""The types a request member can have: how its JSON is read, and which constraints its value must meet."""

import base64
import binascii
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from hashrange.api.errors import ApiError, serialization

_MODEL = "com.amazonaws.dynamodb.v20120810."
_STRUCTURE = "Start of structure or map found where not expected"
_PARAMETERIZED = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base "
    "of loader 'bootstrap')"
)
_TRUE_WORDS = frozenset(("true", "t", "yes", "y", "1"))
_DOUBLE_WORDS = frozenset(("NaN", "Infinity", "-Infinity"))
_FALSE_WORDS = frozenset(("false", "f", "no", "n", "0"))

_PATH_NAME_CHARS_MAX = 65_536  # of a map's key; no name that the service takes is longer

MEMBER = "\0"  # stands before member names in a path, so that map keys are told apart from them
Violation = tuple[Any, str, str]  # the value, the path, what it fails
Sent = Mapping[str, Any]  # a request's members as they came, whatever their types


def _scalar_name(raw: Any) -> str:
    if isinstance(raw, bool):
        return "TRUE_VALUE" if raw else "FALSE_VALUE"
    if isinstance(raw, str):
        return "STRING_VALUE"
    return "NUMBER_VALUE" if isinstance(raw, int) else "DECIMAL_VALUE"


def _wrong_type(raw: Any, java: str, short: str) -> ApiError:
    """The error for JSON of another type than a scalar member has."""
    if isinstance(raw, list):
        return serialization(f"Unrecognized collection type {java}")
    if isinstance(raw, dict):
        return serialization(_STRUCTURE)
    return serialization(f"{_scalar_name(raw)} cannot be converted to {short}")


class Kind(ABC):
    """One type of member. `java` is the name the service's own errors give it."""

    java: str = ""

    @abstractmethod
    def read(self, raw: Any) -> Any:
        """The value of this JSON, nulls dropped; SerializationException where its type is wrong."""

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        """The constraints that a value read breaks; the path is short, and a container puts its own before it."""
        yield from ()

    def entries(self, raw: Any, most: int) -> int:
        """How many entries of lists and maps this JSON has, attribute values left out; or any number beyond `most`."""
        return 0

    def echo(self, value: Any) -> str:
        """How the service shows the value in a constraint error."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """A string."""

    least: int | None = None
    most: int | None = None
    pattern: Any = None  # compiled regular expression
    choices: tuple[str, ...] | None = None  # in the order the service lists them
    java: str = "class java.lang.String"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, str):
            return raw
        raise _wrong_type(raw, self.java, "String")

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        if self.choices is not None and value not in self.choices:
            yield value, path, f"Member must satisfy enum value set: [{', '.join(self.choices)}]"
        if self.pattern is not None and self.pattern.fullmatch(value) is None:
            yield value, path, f"Member must satisfy regular expression pattern: {self.pattern.pattern}"
        if self.least is not None and len(value) < self.least:
            yield value, path, f"Member must have length greater than or equal to {self.least}"
        if self.most is not None and len(value) > self.most:
            yield value, path, f"Member must have length less than or equal to {self.most}"


class JavaPattern:
    """A pattern as the service's messages show it, and as Python reads it."""

    __slots__ = ("fullmatch", "pattern")

    def __init__(self, shown: str, meant: str) -> None:
        self.pattern = shown
        self.fullmatch = re.compile(meant).fullmatch


class TableName(Text):
    """A table's name or its ARN, which follows rules of its own."""

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        if value.startswith("arn:"):
            return
        for violation in Text.violations(self, value, path):
            # An empty name is reported for its length alone.
            if value or "length" in violation[2]:
                yield violation


class Name(Text):
    """The name of a table or an index where it is defined: its length is reported before its characters."""

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        broken = Text.violations(self, value, path)
        yield from sorted(broken, key=lambda violation: "pattern" in violation[2])


class NameOrArn(Name):
    """A table's name or its ARN; an ARN is looked at when the table is looked up."""

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        return iter(()) if value.startswith("arn:") else Name.violations(self, value, path)


compiled = lru_cache(re.compile)
_JAVA_BEYOND = {"Integer": 2**31, "Long": 2**63}


@dataclass(frozen=True, slots=True)
class Whole(Kind):
    """An integer; fractions are cut off, as the service does."""

    least: int | None = None
    most: int | None = None
    java: str = "Integer"

    def read(self, raw: Any) -> Any:
        beyond = _JAVA_BEYOND[self.java]
        if isinstance(raw, (int, float)) and not isinstance(raw, bool):
            if -beyond <= raw < beyond:
                return int(raw)
            if self.java == "Integer":
                # Limit is seen to stay within 32 bits, where Java's cast would wrap around.
                return beyond - 1 if raw > 0 else -beyond
        raise _wrong_type(raw, f"class java.lang.{self.java}", self.java)

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        if self.least is not None and value < self.least:
            yield value, path, f"Member must have value greater than or equal to {self.least}"
        if self.most is not None and value > self.most:
            yield value, path, f"Member must have value less than or equal to {self.most}"


@dataclass(frozen=True, slots=True)
class Double(Kind):
    """A number with fractions; words stand for those that JSON has no digits for."""

    least: float | None = None
    java: str = "Double"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, (int, float)) and not isinstance(raw, bool):
            try:
                return float(raw)
            except OverflowError:
                return math.copysign(math.inf, raw)
        if isinstance(raw, str) and raw in _DOUBLE_WORDS:
            return float(raw)
        raise _wrong_type(raw, "class java.lang.Double", self.java)

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        if self.least is not None and value < self.least:
            yield value, path, f"Member must have value greater than or equal to {self.least:g}"


@dataclass(frozen=True, slots=True)
class Timestamp(Kind):
    """A moment in epoch seconds, with fractions."""

    java: str = "class java.util.Date"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, (int, float)) and not isinstance(raw, bool):
            return float(raw)
        if isinstance(raw, list):
            raise serialization(f"Unrecognized collection type {self.java}")
        if isinstance(raw, dict):
            raise serialization(_STRUCTURE)
        raise serialization(f"{_scalar_name(raw)} cannot be converted to milliseconds since epoch")


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """A boolean; a few words stand for one too."""

    java: str = "Boolean"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, bool):
            return raw
        if isinstance(raw, str):
            if raw.lower() in _TRUE_WORDS | _FALSE_WORDS:
                return raw.lower() in _TRUE_WORDS
            raise serialization("Unexpected token received from parser")
        raise _wrong_type(raw, "class java.lang.Boolean", "Boolean")


@dataclass(frozen=True, slots=True)
class Blob(Kind):
    """Base64 text."""

    java: str = "java.nio.ByteBuffer"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, list):
            raise serialization("Unrecognized collection type class java.nio.ByteBuffer")
        if isinstance(raw, dict):
            raise serialization(_STRUCTURE)
        if not isinstance(raw, str):
            raise serialization("only base-64-encoded strings are convertible to bytes")
        if len(raw) % 4:
            raise serialization(
                f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(raw)}"
            )
        return self._decoded(raw)

    def _decoded(self, raw: str) -> str:
        try:
            clean = base64.b64encode(base64.b64decode(raw, validate=True)).decode("ascii")
        except (binascii.Error, ValueError):
            bad = next(
                (
                    char
                    for char in raw.rstrip("=")
                    if not (char.isascii() and (char.isalnum() or char in "+/"))
                ),
                None,
            )
            if bad is not None:
                raise serialization(f"Invalid Base64 character: '{bad}'") from None
            clean = ""
        if clean != raw:
            raise serialization("Invalid last non-pad Base64 character dectected")
        return raw


@dataclass(frozen=True, slots=True)
class ListOf(Kind):
    """A list."""

    element: Kind
    least: int | None = None
    most: int | None = None
    parameterized: bool = (
        False  # it stands as a map's value, where the service's reader words errors differently
    )

    @property
    def java(self) -> str:  # type: ignore[override]
        return f"java.util.List<{_bare(self.element.java)}>"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, list):
            return [self.element.read(element) for element in raw if element is not None]
        if isinstance(raw, dict):
            raise serialization(_STRUCTURE)
        raise serialization(_PARAMETERIZED if self.parameterized else "Unexpected field type")

    def entries(self, raw: Any, most: int) -> int:
        return _entries(self.element, raw, most) if isinstance(raw, list) else 0

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        if self.least is not None and len(value) < self.least:
            yield self.echo(value), path, f"Member must have length greater than or equal to {self.least}"
        if self.most is not None and len(value) > self.most:
            yield self.echo(value), path, f"Member must have length less than or equal to {self.most}"
        for at, element in enumerate(value, 1):
            for shown, below, rule in self.element.violations(element, ""):
                yield shown, f"{path}.{at}.member{below}", rule

    def echo(self, value: Any) -> str:
        return f"[{', '.join(map(self.element.echo, value))}]"


@dataclass(frozen=True, slots=True)
class MapOf(Kind):
    """A map with free keys."""

    element: Kind
    key: Text | None = None
    least: int | None = None
    most: int | None = None
    parameterized: bool = False

    @property
    def java(self) -> str:  # type: ignore[override]
        return f"java.util.Map<java.lang.String, {_bare(self.element.java)}>"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, dict):
            return {name: self.element.read(content) for name, content in raw.items() if content is not None}
        if isinstance(raw, list):
            raise serialization(f"Unrecognized collection type {self.java}")
        raise serialization(_PARAMETERIZED if self.parameterized else "Unexpected field type")

    def entries(self, raw: Any, most: int) -> int:
        return _entries(self.element, raw.values(), most) if isinstance(raw, dict) else 0

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        if self.least is not None and len(value) < self.least:
            yield self.echo(value), path, f"Member must have length greater than or equal to {self.least}"
        if self.most is not None and len(value) > self.most:
            yield self.echo(value), path, f"Member must have length less than or equal to {self.most}"
        if self.key is not None:
            yield from self._key_violations(value, path)
        for name, content in value.items():
            # A name can have megabytes and its content a million elements: their paths are put together when needed.
            for shown, below, rule in self.element.violations(content, ""):
                yield shown, f"{path}.{name[:_PATH_NAME_CHARS_MAX]}.member{below}", rule

    def _key_violations(self, value: Any, path: str) -> Iterator[Violation]:
        key = self.key
        if key is None or not any(next(key.violations(name, path), None) for name in value):
            return
        rules = []
        if key.most is not None:
            rules.append(f"Member must have length less than or equal to {key.most}")
        if key.least is not None:
            rules.append(f"Member must have length greater than or equal to {key.least}")
        if key.pattern is not None:
            rules.append(f"Member must satisfy regular expression pattern: {key.pattern.pattern}")
        yield self.echo(value), path, f"Map keys must satisfy constraint: [{', '.join(rules)}]"

    def echo(self, value: Any) -> str:
        return (
            "{" + ", ".join(f"{name}={self.element.echo(content)}" for name, content in value.items()) + "}"
        )


@dataclass(frozen=True, slots=True)
class Member:
    """A structure's member."""

    kind: Kind
    required: bool = False


@dataclass(frozen=True, slots=True)
class Struct(Kind):
    """A structure with named members; `name` is the service's own for it."""

    name: str
    members: dict[str, Member]
    as_member: bool = (
        False  # a member of a structure, not an element of a list or map: errors are worded differently
    )
    java: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "java", f"class {_MODEL}{self.name}")

    def read(self, raw: Any) -> Any:
        if isinstance(raw, dict):
            members = self.members
            return {
                name: members[name].kind.read(content)
                for name, content in raw.items()
                if name in members and content is not None
            }
        if isinstance(raw, list):
            raise serialization(f"Unrecognized collection type {self.java}")
        raise serialization("Unexpected field type" if self.as_member else "Unexpected value type in payload")

    def entries(self, raw: Any, most: int) -> int:
        if not isinstance(raw, dict):
            return 0
        return sum(
            member.kind.entries(raw[name], most) for name, member in self.members.items() if name in raw
        )

    def violations(self, value: Any, path: str) -> Iterator[Violation]:
        for name, member in self.members.items():
            if name in value:
                yield from member.kind.violations(value[name], f"{path}.{MEMBER}{name}")
            elif member.required:
                yield None, f"{path}.{MEMBER}{name}", "Member must not be null"

    def echo(self, value: Any) -> str:
        shown = (
            f"{camel(name)}={member.kind.echo(value[name])}"
            for name, member in self.members.items()
            if name in value
        )
        return f"{self.name}({', '.join(shown)})"


class AttributeValue(Kind):
    """An attribute value: its types are checked here, its rules by core/values."""

    java = f"class {_MODEL}AttributeValue"

    def __init__(self, *, as_member: bool = False) -> None:
        self._word = "Unexpected field type" if as_member else "Unexpected value type in payload"

    def read(self, raw: Any) -> Any:
        if isinstance(raw, dict):
            kinds = _VALUE_MEMBERS
            return {
                name: kinds[name].read(content)
                for name, content in raw.items()
                if name in kinds and content is not None
            }
        if isinstance(raw, list):
            raise serialization(f"Unrecognized collection type {self.java}")
        raise serialization(self._word)

    def echo(self, value: Any) -> str:
        shown = (
            f"{name.lower() if len(name) == 1 else name}={_VALUE_MEMBERS[name].echo(content)}"
            for name, content in value.items()
        )
        return f"AttributeValue({', '.join(shown)})"


VALUE = AttributeValue()
VALUE_MEMBER = AttributeValue(as_member=True)

_VALUE_MEMBERS: dict[str, Kind] = {
    "S": Text(),
    "N": Text(),
    "B": Blob(),
    "BOOL": Flag(),
    "NULL": Flag(),
    "SS": ListOf(Text()),
    "NS": ListOf(Text()),
    "BS": ListOf(Blob()),
    "L": ListOf(VALUE),
    "M": MapOf(VALUE),
}


def _entries(element: Kind, content: Collection[Any], most: int) -> int:
    total = len(content)
    if not isinstance(element, AttributeValue | Text):
        for raw in content:
            if total > most:
                break
            total += element.entries(raw, most)
    return total


def _bare(java: str) -> str:
    return java.removeprefix("class ")


def camel(name: str) -> str:
    """AWS's member name as its older error messages spell it."""
    return name[0].lower() + name[1:]
