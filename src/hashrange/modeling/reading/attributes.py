"""Attributes of entities: a format, a type, or a mapping with everything that is known of them."""

from typing import Literal, get_args

from hashrange.modeling.model import Attribute, AttributeType, Place, Scalar
from hashrange.modeling.problems import Problems, did_you_mean
from hashrange.modeling.reading import quantities, vocabulary
from hashrange.modeling.reading.members import Members, entries
from hashrange.modeling.reading.nodes import Node, ScalarNode, SequenceNode
from hashrange.modeling.texts import TextInvalid

ATTRIBUTES_MAX = 500
VALUES_MAX = 1000
Format = Literal["text", "uuid", "ulid", "email", "timestamp", "date", "epoch", "integer", "decimal"]
FORMATS: dict[str, Format] = {name: name for name in get_args(Format)}
NUMERIC = frozenset({"epoch", "integer", "decimal"})
TYPES: dict[str, AttributeType] = {name: name for name in get_args(AttributeType)}
TYPES |= {"string": "S", "number": "N", "binary": "B", "boolean": "BOOL", "list": "L", "map": "M"}


def read_attributes(node: Node | None, problems: Problems) -> dict[str, Attribute]:
    """The attributes of an entity."""
    return {
        name: _attribute(name, place, member, problems)
        for name, place, member in entries(node, "attributes", problems, ATTRIBUTES_MAX)
    }


def _attribute(name: str, place: Place, node: Node, problems: Problems) -> Attribute:
    if isinstance(node, ScalarNode):
        return _short(name, place, node, problems)
    members = Members(node, f"attribute {name}", vocabulary.ATTRIBUTE, problems)
    form = members.choice("format", FORMATS, None)
    values = _values(members)
    size = members.read("size", quantities.size, None)
    largest = members.read("max_size", quantities.size, None)
    if size is not None and largest is not None and largest < size:
        members.wrong("max_size", "`max_size` is below `size`, the mean", "exchange them")
    declared = members.choice("type", TYPES | dict.fromkeys(FORMATS), None)
    if declared is None and (written := members.scalar("type")) is not None:
        form = form or FORMATS.get(written.text)
    _check_type(members, declared, form, values)
    least, most = members.read("minimum", _signed, None), members.read("maximum", _signed, None)
    if least is not None and most is not None and most < least:
        members.wrong("maximum", "`maximum` is below `minimum`", "exchange them")
    return Attribute(
        name,
        declared or _implied_type(form, values, is_number=least is not None or most is not None),
        size,
        largest,
        values,
        form,
        members.integer("distinct", 0, 1, 10**12) or None,
        least,
        most,
        members.text("refers") or None,
        members.read("optional", quantities.share, 0.0),
        place,
    )


def _check_type(
    members: Members, declared: AttributeType | None, form: Format | None, values: tuple[Scalar, ...]
) -> None:
    """That a type which is said is the one that everything else says: `type: S` with a number is a mistake of one."""
    if declared is None:
        return
    numeric = [name for name in ("minimum", "maximum") if members.node(name) is not None]
    reasons = {
        "format": None if form is None else _implied_type(form, ()),
        "values": _implied_type(None, values) if values else None,
        **dict.fromkeys(numeric, "N"),
    }
    for member, implied in reasons.items():
        if implied is not None and implied != declared:
            members.wrong(
                "type",
                f"`type` is {declared}, but `{member}` makes it {implied}",
                "put texts such as 10 in quotes, or write the other type"
                if member == "values"
                else f"write {implied}, or leave one of the two out",
            )
            return


def _short(name: str, place: Place, node: ScalarNode, problems: Problems) -> Attribute:
    if node.value is None and node.is_plain:
        return Attribute(name, place=place)
    if node.text in FORMATS:
        form = FORMATS[node.text]
        return Attribute(name, _implied_type(form, ()), format=form, place=place)
    if node.text not in TYPES:
        remedy = did_you_mean(node.text, [*FORMATS, *TYPES])
        problems.add(node.place, f"`{node.text}` is neither a type nor a format", remedy)
    return Attribute(name, TYPES.get(node.text, "S"), place=place)


def _implied_type(
    form: Format | None, values: tuple[Scalar, ...], *, is_number: bool = False
) -> AttributeType:
    if form in NUMERIC or is_number:
        return "N"
    kinds = {type(value) for value in values}
    if kinds and kinds <= {int, float}:
        return "N"
    return "BOOL" if kinds == {bool} else "S"


def _values(members: Members) -> tuple[Scalar, ...]:
    """All values that there are, of one type: a list of texts and numbers would be a mistake of quotes."""
    node = members.node("values")
    if node is None:
        return ()
    if not isinstance(node, SequenceNode) or not 1 <= len(node.items) <= VALUES_MAX:
        members.wrong("values", "`values` is no list of values", f"write 1 to {VALUES_MAX}: [OPEN, PAID]")
        return ()
    values = tuple(item.value for item in members.names("values"))
    kinds = {
        float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)
        for value in values
    }
    if len(kinds) > 1:
        members.wrong("values", "`values` are of several types", "put texts such as 10 or true in quotes")
    return tuple(dict.fromkeys(values))


def _signed(text: str) -> float:
    if text.startswith("-"):
        return -quantities.amount(text[1:])
    if not text:
        raise TextInvalid("a number is empty")
    return quantities.amount(text)
