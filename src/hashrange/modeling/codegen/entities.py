"""Entities in generated code: the type of an item, its key, and the item as it is stored."""

from __future__ import annotations

from dataclasses import dataclass

from hashrange.modeling.codegen.functions import Argument
from hashrange.modeling.codegen.nodes import Call, Names, Node, Variable
from hashrange.modeling.codegen.values import SHARD, holds_node, stored_key
from hashrange.modeling.conditions import comparisons
from hashrange.modeling.model import Attribute, Entity, Model, Now, Shard, Table, Template
from hashrange.modeling.plans import AccessPath, template_of
from hashrange.modeling.sizes import table_keys

_ITEM = Variable("item")


@dataclass(frozen=True, slots=True)
class EntityCode:
    """What is generated for an entity."""

    entity: Entity
    type_name: str
    key_name: str
    item_name: str
    attributes: tuple[Attribute, ...]
    key_arguments: tuple[Argument, ...]
    key: Node
    item: Node
    has_now: bool


def entity_code(model: Model, entity: Entity, names: Names) -> EntityCode:
    """The parts of an entity's code."""
    table = model.tables[entity.table]
    attributes = _attributes(entity, table)
    key_names = Names({"shard"})
    templates = [
        template for key in AccessPath(table).key if (template := template_of(entity, key.name)) is not None
    ]
    own = dict.fromkeys(name for template in templates for name in template.attributes)
    arguments = {name: Argument(key_names.take(name), _type(attributes.get(name))) for name in own}
    key = {
        key.name: stored_key(entity, key, lambda name: Variable(arguments[name].name), SHARD)
        for key in AccessPath(table).key
    }
    drawn = [Argument(SHARD.name, "N")] if any(map(_draws, templates)) else []
    operands = (
        operand
        for condition in entity.only_if.values()
        for comparison in comparisons(condition)
        for operand in comparison.operands
    )
    snake = entity.name.lower()
    return EntityCode(
        entity,
        names.take(entity.name),
        names.take(f"{snake}_key"),
        names.take(f"{snake}_item"),
        tuple(attributes.values()),
        (*arguments.values(), *drawn),
        key,
        _item(entity, table, attributes),
        any(isinstance(operand, Now) for operand in operands),
    )


def _draws(template: Template) -> bool:
    """Whether a shard is drawn at each write: who looks for the item has to know which."""
    return any(isinstance(piece, Shard) and piece.attribute is None for piece in template.pieces)


def _type(attribute: Attribute | None) -> str:
    return "any" if attribute is None else attribute.type


def _attributes(entity: Entity, table: Table) -> dict[str, Attribute]:
    """The attributes that an application gives; those that templates use and the entity does not list, too."""
    templates = [template_of(entity, name) for name in table_keys(table)]
    used = (name for template in templates if template is not None for name in template.attributes)
    keys = table_keys(table)
    missing = {
        name: Attribute(name, keys[name].type if name in keys else "S")
        for name in used
        if name not in entity.attributes
    }
    return {**entity.attributes, **missing}


def _item(entity: Entity, table: Table, attributes: dict[str, Attribute]) -> Node:
    """Keys, then the other attributes."""
    members: dict[str, Node] = {}
    for name, key in table_keys(table).items():
        value = stored_key(entity, key, lambda attribute: Call("_of", (_ITEM, attribute)))
        condition = entity.only_if.get(name)
        if condition is not None:
            value = Call("_when", (holds_node(condition, attributes), value))
        if value is not None:
            members[name] = value
    for name, attribute in attributes.items():
        members.setdefault(name, Call("_optional", (Call("_of", (_ITEM, name)), attribute.type)))
    return Call("_present", (members,))
