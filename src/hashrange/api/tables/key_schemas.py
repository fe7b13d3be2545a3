"""Key schemas: from a request's elements to key attributes with types, under the service's rules."""

from collections.abc import Iterable, Mapping, Sequence

from hashrange.api import errors
from hashrange.api.tables.structures import AttributeDefinition, KeySchemaElement
from hashrange.api.tables.wording import invalid
from hashrange.core.limits import INDEX_KEY_ATTRIBUTES_MAX
from hashrange.core.partiql.java_order import hash_set_order
from hashrange.core.schema import KeyAttribute, ScalarType

Elements = Sequence[KeySchemaElement]
Definitions = Mapping[str, ScalarType]
KeyPair = tuple[tuple[KeyAttribute, ...], tuple[KeyAttribute, ...]]  # hash attributes, range attributes


def definitions(specs: Sequence[AttributeDefinition] | None) -> dict[str, ScalarType]:
    """Types by attribute name, as the request defines them."""
    types: dict[str, ScalarType] = {}
    for spec in specs or ():
        name = spec.attribute_name
        if name in types:
            raise errors.validation(f"Attribute Name is duplicated: {name}")
        types[name] = spec.attribute_type
    return types


def stored_definitions(defined: Definitions) -> tuple[KeyAttribute, ...]:
    """Definitions as the record keeps them: sorted by name, as the service gives them back."""
    return tuple(KeyAttribute(name, defined[name]) for name in sorted(defined))


def names_of(elements: Elements) -> list[str]:
    """The attributes a key schema names."""
    return [element.attribute_name for element in elements]


def table_key(elements: Elements, defined: Definitions) -> KeyPair:
    """The primary key: one HASH, perhaps one RANGE."""
    if len(elements) > len(defined):
        raise errors.validation("Invalid KeySchema: Some index key attribute have no definition")
    check_defined(elements, defined)
    _check_pair(elements)
    return _typed(elements, defined)


def local_key(name: str, elements: Elements, defined: Definitions, table_hash: str) -> KeyPair:
    """A local index's key: the table's HASH and a RANGE of its own."""
    _check_pair(elements)
    if len(elements) != 2:
        raise invalid(f"Index KeySchema does not have a range key for index: {name}")
    if elements[0].attribute_name != table_hash:
        raise invalid(
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
            f"{name}. index hash key: {elements[0].attribute_name}, table hash key: {table_hash}"
        )
    return _typed(elements, defined)


def global_key(elements: Elements, defined: Definitions) -> KeyPair:
    """A global index's key: up to four HASH attributes, then up to four RANGE attributes."""
    _check_first(elements)
    kinds = [element.key_type for element in elements]
    if kinds == ["HASH", "RANGE"]:
        _check_pair(elements)
    if len(set(names_of(elements))) != len(elements):
        raise errors.validation("The KeySchema contains multiple key attributes with the same name")
    if kinds != sorted(kinds):
        raise invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema")
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > INDEX_KEY_ATTRIBUTES_MAX:
            raise invalid(f"The KeySchema exceeds the maximum allowed number of {kind} key attributes")
    return _typed(elements, defined)


def check_defined(elements: Elements, defined: Definitions) -> None:
    """Refuse a key attribute without a definition."""
    names = names_of(elements)
    if any(name not in defined for name in names):
        if len(names) > len(defined):
            raise errors.validation("Invalid KeySchema: Some index key attribute have no definition")
        keys, shown = hash_set_order(names, sized=True), hash_set_order(defined, sized=True)
        raise invalid(
            "Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: [{', '.join(keys)}], AttributeDefinitions: [{', '.join(shown)}]"
        )


def check_all_used(
    table_elements: Elements, index_elements: Iterable[Elements], defined: Definitions
) -> None:
    """Refuse a definition that no key uses."""
    indexes = list(index_elements)
    used = dict.fromkeys(names_of(table_elements))
    for elements in indexes:
        used.update(dict.fromkeys(names_of(elements)))
    if len(used) == len(defined):
        return
    if not indexes:
        raise invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes defined in "
            "AttributeDefinitions"
        )
    shown, keys = hash_set_order(defined, sized=True), hash_set_order(used)
    raise invalid(
        "Some AttributeDefinitions are not used. "
        f"AttributeDefinitions: [{', '.join(shown)}], keys used: [{', '.join(keys)}]"
    )


def _check_pair(elements: Elements) -> None:
    names = names_of(elements)
    if len(set(names)) != len(names):
        raise errors.validation(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    _check_first(elements)
    if len(elements) > 1 and elements[1].key_type != "RANGE":
        raise errors.validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def _check_first(elements: Elements) -> None:
    if elements[0].key_type != "HASH":
        raise errors.validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")


def _typed(elements: Elements, defined: Definitions) -> KeyPair:
    parts: dict[str, list[KeyAttribute]] = {"HASH": [], "RANGE": []}
    for element in elements:
        name = element.attribute_name
        parts[element.key_type].append(KeyAttribute(name, defined[name]))
    return tuple(parts["HASH"]), tuple(parts["RANGE"])
