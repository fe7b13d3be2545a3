"""Members of a mapping, taken one by one as what they should be; what is wrong or unknown is collected."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from hashrange.modeling.model import Place
from hashrange.modeling.problems import Problems, did_you_mean
from hashrange.modeling.reading.nodes import MappingNode, Node, ScalarNode, SequenceNode, text_problem
from hashrange.modeling.texts import TextInvalid

Read = TypeVar("Read")
NAME_BYTES_MAX = 255
_KINDS = {ScalarNode: "a text", SequenceNode: "a list", MappingNode: "a mapping"}


class Members:
    """The members of one section. `what` names it in messages: `table shop`."""

    def __init__(self, node: Node, what: str, known: tuple[str, ...], problems: Problems) -> None:
        self.what = what
        self.problems = problems
        self.place = node.place
        self._node = node if isinstance(node, MappingNode) else None
        if self._node is None:
            problems.add(
                node.place, f"{what} is {kind(node)}", f"it is a mapping with {', '.join(known[:6])}…"
            )
        else:
            self._refuse_unknown(known)

    def _refuse_unknown(self, known: tuple[str, ...]) -> None:
        node = self._node
        if node is None:
            return
        for name in node.members:
            if name not in known:
                self.problems.add(
                    node.places[name], f"{self.what} has no member `{name}`", did_you_mean(name, known)
                )

    def __contains__(self, name: str) -> bool:
        return self.node(name) is not None

    def node(self, name: str) -> Node | None:
        """A member as it stands there; one without a value is not there."""
        node = self._node.members.get(name) if self._node else None
        return None if isinstance(node, ScalarNode) and node.is_plain and node.value is None else node

    def place_of(self, name: str) -> Place:
        return self._node.places.get(name, self.place) if self._node else self.place

    def wrong(self, name: str, message: str, remedy: str = "") -> None:
        """Say what is wrong with a member, where its value stands."""
        node = self.node(name)
        self.problems.add(self.place_of(name) if node is None else node.place, message, remedy)

    def require(self, name: str, remedy: str) -> None:
        """Complain if a member is missing."""
        if self._node is not None and name not in self:
            self.problems.add(self.place, f"{self.what} has no `{name}`", remedy)

    def scalar(self, name: str) -> ScalarNode | None:
        """A member that is one text."""
        node = self.node(name)
        one = None if node is None else scalar(node, f"`{name}` of {self.what}", self.problems)
        return None if one is None else self._remembered(name, one)

    def _remembered(self, name: str, node: ScalarNode) -> ScalarNode:
        self.problems.remember(self.place, name, node.text, node.at)
        return node

    def text(self, name: str, default: str = "") -> str:
        node = self.scalar(name)
        return default if node is None else node.text

    def read(self, name: str, reader: Callable[[str], Read], default: Read) -> Read:
        """A text that a reader makes something of."""
        node = self.scalar(name)
        return default if node is None else read(node, reader, default, self.problems)

    def flag(self, name: str, *, default: bool = False) -> bool:
        node = self.scalar(name)
        if node is None:
            return default
        if not isinstance(node.value, bool):
            self.problems.add(node.place, f"`{name}` is `{node.text}`", "write true or false")
            return default
        return node.value

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        node = self.scalar(name)
        if node is None:
            return default
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.problems.add(
                node.place, f"`{name}` is `{node.text}`", f"write a whole number from {least} to {most}"
            )
            return default
        return value

    def choice(self, name: str, choices: Mapping[str, Read], default: Read) -> Read:
        node = self.scalar(name)
        return default if node is None else choice(node, f"`{name}`", choices, default, self.problems)

    def names(self, name: str) -> tuple[ScalarNode, ...]:
        """A text or a list of them."""
        node = self.node(name)
        several = () if node is None else scalars(node, f"`{name}` of {self.what}", self.problems)
        return tuple(self._remembered(name, one) for one in several)


def kind(node: Node) -> str:
    """What a node is, in a message."""
    if isinstance(node, ScalarNode) and node.value is None and node.is_plain:
        return "empty"
    return _KINDS[type(node)]


def scalar(node: Node, what: str, problems: Problems) -> ScalarNode | None:
    if isinstance(node, ScalarNode):
        return node
    remedy = "write a text; one with `{` at its beginning needs quotes"
    problems.add(node.place, f"{what} is {kind(node)}", remedy)
    return None


def scalars(node: Node, what: str, problems: Problems) -> tuple[ScalarNode, ...]:
    if not isinstance(node, SequenceNode):
        one = scalar(node, what, problems)
        return () if one is None else (one,)
    several = (scalar(item, f"an entry of {what}", problems) for item in node.items)
    return tuple(item for item in several if item is not None)


def read(node: ScalarNode, reader: Callable[[str], Read], default: Read, problems: Problems) -> Read:
    try:
        return reader(node.text)
    except TextInvalid as error:
        text_problem(node, error, problems)
        return default


def choice(
    node: ScalarNode, what: str, choices: Mapping[str, Read], default: Read, problems: Problems
) -> Read:
    if node.text in choices:
        return choices[node.text]
    problems.add(node.place, f"{what} is `{node.text}`", did_you_mean(node.text, choices))
    return default


def entries(node: Node | None, what: str, problems: Problems, most: int) -> Iterator[tuple[str, Place, Node]]:
    """The entries of a mapping by name, such as all tables, up to a bound."""
    if node is None:
        return
    if not isinstance(node, MappingNode):
        problems.add(node.place, f"`{what}` is {kind(node)}", "it is a mapping from names")
        return
    if len(node.members) > most:
        problems.add(node.place, f"more than {most} {what}", "split the model")
        return
    for name, member in node.members.items():
        place = node.places[name]
        if not name or len(name.encode("utf-8", "surrogatepass")) > NAME_BYTES_MAX:
            problems.add(place, f"a name in `{what}` is empty or longer than {NAME_BYTES_MAX} bytes")
        else:
            yield name, place, member
