"""Access patterns: questions and changes of the application."""

import re
from collections.abc import Iterator, Mapping

from hashrange.modeling.conditions import parse_condition
from hashrange.modeling.model import (
    Curve,
    Pattern,
    Rate,
    ReadOperation,
    ReadPattern,
    WritePattern,
    WriteStep,
)
from hashrange.modeling.problems import Problems
from hashrange.modeling.reading import quantities, vocabulary
from hashrange.modeling.reading.curves import FLAT, curve_of
from hashrange.modeling.reading.distributions import read_distribution
from hashrange.modeling.reading.members import Members, kind
from hashrange.modeling.reading.nodes import MappingNode, Node, ScalarNode, SequenceNode
from hashrange.modeling.reading.steps import read_step
from hashrange.modeling.texts import TextInvalid

PATTERNS_MAX = 2000
STEPS_MAX = 200
PATTERN_ENTITIES_MAX = 20
LIMIT_MAX = 1_000_000
BATCH_MAX = 100_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,49}")
_CONSISTENCY = {"eventual": False, "strong": True}
_OPERATIONS = {operation.value: operation for operation in ReadOperation}
_UNORDERED: tuple[str | None, bool] = (None, False)
_WRITES = ("write", "transaction")


def read_patterns(node: Node | None, curves: Mapping[str, Curve], problems: Problems) -> tuple[Pattern, ...]:
    """All patterns of the file."""
    if node is None:
        return ()
    if not isinstance(node, SequenceNode):
        problems.add(node.place, f"`patterns` is {kind(node)}", "it is a list: begin each with `- id:`")
        return ()
    if len(node.items) > PATTERNS_MAX:
        problems.add(node.place, f"more than {PATTERNS_MAX} patterns", "split the model")
        return ()
    patterns = (_pattern(item, dict(curves), problems) for item in node.items)
    return tuple(pattern for pattern in patterns if pattern is not None)


def _pattern(node: Node, curves: dict[str, Curve], problems: Problems) -> Pattern | None:
    members = node.members if isinstance(node, MappingNode) else {}
    identity = members.get("id")
    what = f"pattern {identity.text}" if isinstance(identity, ScalarNode) else "a pattern"
    if any(name in members for name in _WRITES) or isinstance(members.get("batch"), SequenceNode):
        return _write(Members(node, what, vocabulary.WRITE, problems), curves)
    return _read(Members(node, what, vocabulary.READ, problems), curves)


def _id(members: Members) -> str:
    members.require("id", "write one that is short and stays: A1")
    node = members.scalar("id")
    if node is not None and not _ID.fullmatch(node.text):
        members.problems.add(
            node.place,
            f"`{node.text}` cannot be an id",
            "ids have up to 50 letters, digits, `.`, `-` and `_`",
        )
    return "" if node is None else node.text


def _read(members: Members, curves: dict[str, Curve]) -> ReadPattern:
    order, descending = members.read("order", _order, _UNORDERED)
    return ReadPattern(
        _id(members),
        _entities(members),
        members.read("where", parse_condition, None),
        members.read("filter", parse_condition, None),
        members.text("name"),
        members.text("actor"),
        members.text("verb"),
        members.choice("operation", _OPERATIONS, None),
        members.text("index") or None,
        tuple(dict.fromkeys(node.text for node in members.names("project"))),
        order,
        descending,
        members.integer("limit", 0, 1, LIMIT_MAX) or None,
        members.integer("batch", 1, 1, BATCH_MAX),
        members.choice("consistency", _CONSISTENCY, False),
        _rate(members, curves),
        read_distribution(members.node("keys"), members.what, members.problems),
        members.text("screen") or None,
        members.place,
    )


def _entities(members: Members) -> tuple[str, ...]:
    if "entity" in members and "entities" in members:
        members.wrong("entities", f"{members.what} has both `entity` and `entities`", "keep one")
    nodes = members.names("entities" if "entities" in members else "entity")
    if not nodes:
        remedy = "a read has `entity`, a change has `write` or `transaction`"
        members.problems.add(members.place, f"{members.what} says nothing of what it reads or writes", remedy)
    if len(nodes) > PATTERN_ENTITIES_MAX:
        members.wrong("entities", f"more than {PATTERN_ENTITIES_MAX} entities in one pattern")
    return tuple(dict.fromkeys(node.text for node in nodes[:PATTERN_ENTITIES_MAX]))


def _order(text: str) -> tuple[str | None, bool]:
    match = re.fullmatch(r"(\S+)(?:\s+(asc|desc|ascending|descending))?", text.strip())
    if match is None:
        raise TextInvalid(f"`{text}` is no order", "write placed_at, or placed_at desc")
    return match[1], (match[2] or "").startswith("desc")


def _rate(members: Members, curves: dict[str, Curve]) -> Rate:
    node = members.node("rate")
    if not isinstance(node, MappingNode):
        return Rate(members.read("rate", quantities.rate, 0.0))
    inner = Members(node, f"the rate of {members.what}", vocabulary.RATE, members.problems)
    inner.require("average", "write average: 50/s")
    curve = inner.node("curve")
    return Rate(
        inner.read("average", quantities.rate, 0.0),
        FLAT if curve is None else curve_of(curve, curves, members.problems),
        inner.read("growth", quantities.percent_growth, 0.0),
    )


def _write(members: Members, curves: dict[str, Curve]) -> WritePattern:
    kinds = [name for name in (*_WRITES, "batch") if name in members]
    if len(kinds) > 1:
        members.wrong(kinds[1], f"{members.what} has both `{kinds[0]}` and `{kinds[1]}`", "keep one")
    token = members.flag("token")
    if token and kinds[0] != "transaction":
        members.wrong("token", "`token` is for transactions", "use a condition instead: `if: not exists`")
    return WritePattern(
        _id(members),
        tuple(_steps(members, kinds[0])),
        members.text("name"),
        members.text("actor"),
        members.text("verb"),
        kinds[0] == "transaction",
        token,
        _rate(members, curves),
        read_distribution(members.node("keys"), members.what, members.problems),
        members.text("screen") or None,
        members.place,
    )


def _steps(members: Members, name: str) -> Iterator[WriteStep]:
    node = members.node(name)
    if node is None:
        return
    nodes = node.items if isinstance(node, SequenceNode) else (node,)
    if name == "write" and isinstance(node, SequenceNode):
        members.wrong(name, "`write` is a list", "write one step, or `transaction` or `batch` for several")
    if not 1 <= len(nodes) <= STEPS_MAX:
        members.wrong(name, f"`{name}` has {len(nodes)} steps", f"write 1 to {STEPS_MAX}")
    for number, item in enumerate(nodes[:STEPS_MAX], 1):
        what = f"`{name}` of {members.what}" if len(nodes) == 1 else f"step {number} of {members.what}"
        step = read_step(item, what, members.problems)
        if step is not None:
            yield step
