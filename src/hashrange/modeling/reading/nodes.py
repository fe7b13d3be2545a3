"""YAML as nodes that know their line and column.

Made from the parser's events, so that depth and aliases are refused before anything is built: PyYAML's own composer
goes as deep as the file does. Scalars stay texts; what reads them knows whether a number, a text or a time is meant.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from hashrange.modeling.model import Place, Scalar
from hashrange.modeling.problems import Problems, refused
from hashrange.modeling.texts import TextInvalid

FILE_BYTES_MAX = 1_000_000
DEPTH_MAX = 20
_PLAIN_NUMBERS = "0123456789+-."
# Measured on 1 MB of short members: libyaml's parser takes 0.34 s, the one in Python 5.4 s.
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A text; `is_plain` tells `20` from `"20"`."""

    text: str
    place: Place
    is_plain: bool = True
    tag: str | None = None

    def at(self, offset: int) -> Place:
        """The place of a character of the text, as far as it stands on one line."""
        if "\n" in self.text:
            return self.place
        return Place(self.place.line, self.place.column + offset + (not self.is_plain))

    @property
    def value(self) -> Scalar:
        """What a literal means: a quoted one is a text."""
        if not self.is_plain:
            return self.text
        match self.text:
            case "true" | "false":
                return self.text == "true"
            case "null" | "~" | "":
                return None
        return _number(self.text)


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """A list."""

    items: "tuple[Node, ...]"
    place: Place
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class MappingNode:
    """Names with values, and the place of each name."""

    members: "dict[str, Node]"
    places: dict[str, Place]
    place: Place
    tag: str | None = None


Node = ScalarNode | SequenceNode | MappingNode


def _number(text: str) -> Scalar:
    if text[:1] not in _PLAIN_NUMBERS or len(text) > 40:
        return text
    try:
        return int(text.replace("_", ""))
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return text
    return value if abs(value) < 1e126 else text


def parse(text: str, problems: Problems, *, tags: bool = False) -> Node:
    """The nodes of a file; raise `ModelErrors` where it is no YAML. `tags` lets `!Ref` and the like through."""
    if len(text.encode("utf-8", "surrogatepass")) > FILE_BYTES_MAX:
        raise refused(f"the file has more than {FILE_BYTES_MAX:,} bytes", "a model is smaller than that")
    try:
        return _Composer(yaml.parse(text, Loader=_LOADER), problems, tags=tags).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise refused(
            f"this is no YAML: {error.problem or error.context}",
            "a colon is followed by a space; texts with `#`, `{` or `: ` at an end need quotes",
            Place(mark.line + 1, mark.column + 1) if mark else Place(),
        ) from error
    except yaml.YAMLError as error:
        raise refused(f"this is no YAML: {error}") from error


class _Composer:
    """Builds nodes from events."""

    def __init__(self, events: Iterator[yaml.Event], problems: Problems, *, tags: bool) -> None:
        self._events = events
        self._problems = problems
        self._tags = tags

    def document(self) -> Node:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                node = self._node(next(self._events), 0)
                self._end()
                return node
        raise refused("the file is empty", "`hashrange model new` writes one to begin with", Place(1, 1))

    def _end(self) -> None:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise refused("a second document", "one file has one model", _place(event))

    def _node(self, event: yaml.Event, depth: int) -> Node:
        place = _place(event)
        if depth > DEPTH_MAX:
            raise refused(f"nested more than {DEPTH_MAX} deep", "nothing in a model is", place)
        if isinstance(event, yaml.AliasEvent):
            raise refused("aliases (`*name`) are not read", "write it out", place)
        tag = self._tag(event, place)
        match event:
            case yaml.ScalarEvent():
                return ScalarNode(event.value, place, not event.style, tag)
            case yaml.SequenceStartEvent():
                return SequenceNode(tuple(self._items(depth)), place, tag)
            case _:
                return self._mapping(place, depth, tag)

    def _tag(self, event: yaml.Event, place: Place) -> str | None:
        tag: str | None = event.tag
        if tag is not None and not self._tags:
            self._problems.add(place, f"a tag (`{tag}`)", "tags have no meaning in a model; leave it out")
        return tag

    def _items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._node(event, depth + 1)

    def _mapping(self, place: Place, depth: int, tag: str | None) -> MappingNode:
        members: dict[str, Node] = {}
        places: dict[str, Place] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if not isinstance(key, ScalarNode):
                self._problems.add(key.place, "a name that is no text", "write a text with braces in quotes")
            elif key.text in members:
                remedy = f"it is on line {places[key.text].line} already; take one out"
                self._problems.add(key.place, f"`{key.text}` stands here twice", remedy)
            else:
                members[key.text], places[key.text] = value, key.place
        return MappingNode(members, places, place, tag)


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return Place(mark.line + 1, mark.column + 1)


def text_problem(node: ScalarNode, error: TextInvalid, problems: Problems) -> None:
    """Add what is wrong with a text, where it is wrong."""
    problems.add(node.at(error.offset), error.message, error.remedy)
