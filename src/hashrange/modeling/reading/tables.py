"""Tables and their indexes."""

import re
from typing import Literal, get_args

from hashrange.modeling.model import NOWHERE, Index, KeyAttribute, Place, Scaling, Table
from hashrange.modeling.problems import Problems
from hashrange.modeling.reading import quantities, vocabulary
from hashrange.modeling.reading.members import Members, choice, entries, scalar, scalars
from hashrange.modeling.reading.nodes import MappingNode, Node, ScalarNode, SequenceNode
from hashrange.modeling.texts import TextInvalid

TABLES_MAX = 100
INDEXES_MAX = 100
LOCAL_INDEXES_MAX = 5
KEY_ATTRIBUTES_MAX = 4
UNITS_MAX = 100_000_000
_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
REGION = re.compile(r"[a-z]{2}(?:-[a-z]+){1,3}-[0-9]")
KeyType = Literal["S", "N", "B"]
KEY_TYPES: dict[str, KeyType] = {name: name for name in get_args(KeyType)}
View = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
_VIEWS: dict[str, View] = {name: name for name in get_args(View)}
Billing = Literal["PAY_PER_REQUEST", "PROVISIONED"]
_BILLING: dict[str, Billing] = {
    "on-demand": "PAY_PER_REQUEST",
    "provisioned": "PROVISIONED",
    "PAY_PER_REQUEST": "PAY_PER_REQUEST",
    "PROVISIONED": "PROVISIONED",
}
TableClass = Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"]
_CLASSES: dict[str, TableClass] = {
    "standard": "STANDARD",
    "infrequent-access": "STANDARD_INFREQUENT_ACCESS",
    "STANDARD": "STANDARD",
    "STANDARD_INFREQUENT_ACCESS": "STANDARD_INFREQUENT_ACCESS",
}
_PROJECTIONS: dict[str, Literal["ALL", "KEYS_ONLY"]] = {"ALL": "ALL", "KEYS_ONLY": "KEYS_ONLY"}


def read_tables(node: Node | None, problems: Problems) -> dict[str, Table]:
    """All tables of the file."""
    return {
        name: _table(name, place, member, problems)
        for name, place, member in entries(node, "tables", problems, TABLES_MAX)
    }


def _table(name: str, place: Place, node: Node, problems: Problems) -> Table:
    members = Members(node, f"table {name}", vocabulary.TABLE, problems)
    _check_name(name, place, problems)
    members.require("partition_key", "write partition_key: PK")
    partition = _single_key(members, "partition_key") or KeyAttribute("PK")
    sort = _single_key(members, "sort_key")
    billing, reads, writes = _billing(members)
    stream, readers = _stream(members)
    dax_node, dax_nodes = _dax(members)
    return Table(
        name,
        partition,
        sort,
        _indexes(members, partition, sort),
        billing,
        members.choice("class", _CLASSES, "STANDARD"),
        reads,
        writes,
        members.text("ttl") or None,
        stream,
        readers,
        members.flag("point_in_time_recovery"),
        members.integer("backups", 0, 0, 10_000),
        _replicas(members),
        dax_node,
        dax_nodes,
        place,
    )


def _check_name(name: str, place: Place, problems: Problems) -> None:
    if not _NAME.fullmatch(name):
        problems.add(
            place,
            f"`{name}` cannot be the name of a table or an index",
            "they have 3 to 255 letters, digits, `_`, `-` and `.`",
        )


def _single_key(members: Members, name: str) -> KeyAttribute | None:
    attributes = _keys(members, name)
    if len(attributes) > 1:
        members.wrong(name, f"`{name}` of {members.what} has several attributes", "only global indexes can")
    return attributes[0] if attributes else None


def _keys(members: Members, name: str) -> tuple[KeyAttribute, ...]:
    """A key: a name, a mapping with name and type, or a list of such."""
    node = members.node(name)
    if node is None:
        return ()
    nodes = node.items if isinstance(node, SequenceNode) else (node,)
    if len(nodes) > KEY_ATTRIBUTES_MAX:
        members.wrong(name, f"`{name}` has {len(nodes)} attributes", f"{KEY_ATTRIBUTES_MAX} are the most")
        nodes = nodes[:KEY_ATTRIBUTES_MAX]
    attributes = (_key(item, f"`{name}` of {members.what}", members.problems) for item in nodes)
    return tuple(attribute for attribute in attributes if attribute is not None)


def _key(node: Node, what: str, problems: Problems) -> KeyAttribute | None:
    if isinstance(node, MappingNode):
        members = Members(node, what, vocabulary.KEY, problems)
        members.require("name", "write {name: PK, type: N}")
        name = members.scalar("name")
        kind = members.scalar("type")
        typed_at = NOWHERE if kind is None else kind.place
        return (
            None
            if name is None
            else KeyAttribute(name.text, members.choice("type", KEY_TYPES, "S"), typed_at)
        )
    one = scalar(node, what, problems)
    return None if one is None else KeyAttribute(one.text)


def _indexes(members: Members, partition: KeyAttribute, sort: KeyAttribute | None) -> tuple[Index, ...]:
    indexes = tuple(
        _index(name, place, node, partition, members.problems)
        for name, place, node in entries(members.node("indexes"), "indexes", members.problems, INDEXES_MAX)
    )
    local = [index for index in indexes if index.local]
    if local and sort is None:
        members.problems.add(
            local[0].place,
            f"local index {local[0].name} of a table without a sort key",
            "give the table a sort_key, or leave `local` out",
        )
    if len(local) > LOCAL_INDEXES_MAX:
        members.problems.add(
            local[LOCAL_INDEXES_MAX].place,
            f"a table has {LOCAL_INDEXES_MAX} local indexes at most",
            "make some of them global",
        )
    return indexes


def _index(name: str, place: Place, node: Node, table_key: KeyAttribute, problems: Problems) -> Index:
    members = Members(node, f"index {name}", vocabulary.INDEX, problems)
    _check_name(name, place, problems)
    local = members.flag("local")
    projection, included = _projection(members)
    if not local:
        members.require("partition_key", "write partition_key: GSI1PK, or local: true")
        partition, sort = _keys(members, "partition_key"), _keys(members, "sort_key")
        return Index(name, partition or (table_key,), sort, False, projection, included, place)
    members.require("sort_key", "a local index has the table's partition key and a sort key of its own")
    if "partition_key" in members:
        members.wrong("partition_key", "a local index has the table's partition key", "leave it out")
    sort_key = _single_key(members, "sort_key")
    return Index(name, (table_key,), (sort_key,) if sort_key else (), True, projection, included, place)


def _projection(members: Members) -> tuple[Literal["ALL", "KEYS_ONLY", "INCLUDE"], tuple[str, ...]]:
    node = members.node("projection")
    if isinstance(node, SequenceNode):
        names = scalars(node, "`projection`", members.problems)
        return "INCLUDE", tuple(dict.fromkeys(name.text for name in names))
    if isinstance(node, ScalarNode) and node.text not in _PROJECTIONS:
        remedy = "write ALL, KEYS_ONLY or a list of attributes"
        members.wrong("projection", f"`projection` is `{node.text}`", remedy)
        return "ALL", ()
    return members.choice("projection", _PROJECTIONS, "ALL"), ()


def _billing(members: Members) -> tuple[Billing, Scaling, Scaling]:
    node = members.node("billing")
    if not isinstance(node, MappingNode):
        return members.choice("billing", _BILLING, "PAY_PER_REQUEST"), Scaling(), Scaling()
    inner = Members(node, f"billing of {members.what}", vocabulary.BILLING, members.problems)
    inner.require("mode", "write mode: provisioned")
    mode = inner.choice("mode", _BILLING, "PROVISIONED")
    return mode, _scaling(inner, "reads"), _scaling(inner, "writes")


def _scaling(members: Members, name: str) -> Scaling:
    node = members.node(name)
    if node is None:
        return Scaling()
    inner = Members(node, f"`{name}`", vocabulary.SCALING, members.problems)
    least = inner.integer("minimum", 1, 1, UNITS_MAX)
    most = inner.integer("maximum", max(least, 40_000), 1, UNITS_MAX)
    if most < least:
        inner.wrong("maximum", f"`maximum` {most} is below `minimum` {least}", "exchange them")
    return Scaling(least, max(least, most), inner.read("target", _target, 70.0))


def _target(text: str) -> float:
    value = quantities.percent(text)
    if not 20 <= value <= 90:
        raise TextInvalid(f"a target of `{text}`", "auto scaling takes 20% to 90%")
    return value


def _stream(members: Members) -> tuple[View | None, int]:
    node = members.node("stream")
    if isinstance(node, MappingNode):
        inner = Members(node, f"stream of {members.what}", vocabulary.STREAM, members.problems)
        inner.require("view", "write view: NEW_AND_OLD_IMAGES")
        return inner.choice("view", _VIEWS, "NEW_AND_OLD_IMAGES"), inner.integer("readers", 1, 0, 100)
    if node is None:
        return None, 1
    one = scalar(node, f"`stream` of {members.what}", members.problems)
    return (
        None if one is None else choice(one, "`stream`", _VIEWS, "NEW_AND_OLD_IMAGES", members.problems)
    ), 1


def _dax(members: Members) -> tuple[str | None, int]:
    node = members.node("dax")
    if node is None:
        return None, 0
    inner = Members(node, f"dax of {members.what}", vocabulary.DAX, members.problems)
    inner.require("node", "write node: dax.t3.small")
    return inner.text("node") or None, inner.integer("nodes", 3, 1, 11)


def _replicas(members: Members) -> tuple[str, ...]:
    nodes = members.names("replicas")
    for node in nodes:
        if not REGION.fullmatch(node.text):
            members.problems.add(node.place, f"`{node.text}` is no region", "write one such as eu-central-1")
    return tuple(dict.fromkeys(node.text for node in nodes))
