"""Entities: how many there are, how they make keys, what they hold."""

from collections.abc import Mapping

from hashrange.modeling.conditions import parse_condition
from hashrange.modeling.model import (
    Condition,
    Distribution,
    Entity,
    Growth,
    Literally,
    Place,
    Table,
    Template,
)
from hashrange.modeling.problems import Problems, did_you_mean
from hashrange.modeling.reading import quantities, vocabulary
from hashrange.modeling.reading.attributes import read_attributes
from hashrange.modeling.reading.distributions import read_distribution
from hashrange.modeling.reading.members import Members, entries, read, scalar
from hashrange.modeling.reading.nodes import MappingNode, Node, ScalarNode, text_problem
from hashrange.modeling.templates import parse_template
from hashrange.modeling.texts import TextInvalid

ENTITIES_MAX = 500
KEYS_MAX = 200
UNKNOWN_TABLE = ""  # of an entity whose keys cannot be checked
DEFAULT_COUNT: tuple[float, str | None] = (1000.0, None)


def read_entities(node: Node | None, tables: Mapping[str, Table], problems: Problems) -> dict[str, Entity]:
    """All entities of the file."""
    return {
        name: _entity(name, place, member, tables, problems)
        for name, place, member in entries(node, "entities", problems, ENTITIES_MAX)
    }


def _entity(name: str, place: Place, node: Node, tables: Mapping[str, Table], problems: Problems) -> Entity:
    members = Members(node, f"entity {name}", vocabulary.ENTITY, problems)
    keys, conditions = _keys(members)
    count, parent, most, spread = _count(members)
    return Entity(
        name,
        _table(members, tables),
        keys,
        read_attributes(members.node("attributes"), problems),
        count,
        parent,
        most,
        spread,
        members.read("growth", quantities.growth, Growth()),
        members.read("item_growth", quantities.byte_growth, Growth()),
        members.read("retention", quantities.days, None),
        conditions,
        place,
    )


def _table(members: Members, tables: Mapping[str, Table]) -> str:
    """The entity's table; where there is only one, it need not be said."""
    node = members.scalar("table")
    if node is not None and node.text not in tables:
        members.wrong("table", f"there is no table `{node.text}`", did_you_mean(node.text, tables))
    if node is None and len(tables) > 1:
        members.require("table", f"say in which it is: {', '.join(list(tables)[:12])}")
    if node is not None and node.text in tables:
        return node.text
    return next(iter(tables)) if len(tables) == 1 else UNKNOWN_TABLE


def _count(members: Members) -> tuple[float, str | None, float | None, Distribution]:
    node = members.node("count")
    if not isinstance(node, MappingNode):
        count, parent = members.read("count", quantities.count, DEFAULT_COUNT)
        return count, parent, None, Distribution()
    inner = Members(node, f"the count of {members.what}", vocabulary.COUNT, members.problems)
    inner.require("count", "write count: 20 per User")
    count, parent = inner.read("count", quantities.count, DEFAULT_COUNT)
    most = inner.read("at most", quantities.amount, None)
    if most is not None and parent is None:
        inner.wrong("at most", "`at most` is for counts per another entity", "write count: 20 per User")
    if most is not None and most < count:
        inner.wrong("at most", "`at most` is below the mean", "raise it")
    return count, parent, most, read_distribution(inner.node("spread"), members.what, members.problems)


def _keys(members: Members) -> tuple[dict[str, Template], dict[str, Condition]]:
    """Templates by key attribute, and when the item has that attribute."""
    templates: dict[str, Template] = {}
    conditions: dict[str, Condition] = {}
    for name, _, node in entries(members.node("keys"), "keys", members.problems, KEYS_MAX):
        text, condition = _key(name, node, members)
        if text is not None:
            templates[name] = _template(text, members.problems)
        if condition is not None:
            conditions[name] = condition
    return templates, conditions


def _key(name: str, node: Node, members: Members) -> tuple[ScalarNode | None, Condition | None]:
    if not isinstance(node, MappingNode):
        return scalar(node, f"the template of {name}", members.problems), None
    # `{user_id}` without quotes is a mapping to YAML, and the commonest mistake in this file.
    if len(node.members) == 1 and not node.members.keys() & set(vocabulary.KEY_TEMPLATE):
        members.problems.add(
            node.place,
            f"the template of {name} is a mapping",
            f'put it in quotes: "{{{next(iter(node.members))}}}"',
        )
        return ScalarNode(name, node.place), None
    inner = Members(node, f"the template of {name}", vocabulary.KEY_TEMPLATE, members.problems)
    inner.require("template", 'write template: "OPEN#{order_id}"')
    written, text = inner.scalar("if"), inner.scalar("template")
    if written is not None and text is not None:
        members.problems.remember(text.place, "if", written.text, written.at)
    condition = None if written is None else read(written, parse_condition, None, members.problems)
    return text, condition


def _template(node: ScalarNode, problems: Problems) -> Template:
    problems.remember(node.place, "template", node.text, node.at)
    try:
        return parse_template(node.text, node.place)
    except TextInvalid as error:
        text_problem(node, error, problems)
        return Template(node.text, (Literally(node.text),), node.place)
