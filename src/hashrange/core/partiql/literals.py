"""Literals of a statement: text, numbers, booleans, null, lists, maps and bags, in canonical form."""

import re
from collections.abc import Iterator

from hashrange.core import limits, numbers, values
from hashrange.core.errors import Invalid
from hashrange.core.expressions.resolved import Literal
from hashrange.core.partiql import tree
from hashrange.core.partiql.translator import Translator
from hashrange.core.partiql.tree import Node
from hashrange.core.values import Value

Kinds = tree.Constant | tree.Sequence | tree.Fields | tree.Ion
ROOT = "root"  # the service's name for the literal as a whole
_IN_BAGS = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
_ION_TYPES = (
    ("BLOB", re.compile(r"\{\{")),
    ("STRUCT", re.compile(r"\{")),
    ("LIST", re.compile(r"\[")),
    ("SEXP", re.compile(r"\(")),
    ("STRING", re.compile(r'"|\'\'\'')),
    ("TIMESTAMP", re.compile(r"\d{4}(-\d\d)*T")),
    ("INT", re.compile(r"-?\d+$")),
    ("DECIMAL", re.compile(r"-?\d")),
    ("NULL", re.compile(r"null")),
    ("BOOL", re.compile(r"(true|false)$")),
)


def literal(translator: Translator, node: Node) -> Literal:
    """A whole literal."""
    return Literal(value(translator, node, ROOT, 0))


def value(translator: Translator, node: Node, path: str, depth: int) -> Value:
    """The value of a literal, or of a part of it."""
    if depth == limits.NESTING_LEVELS_MAX:
        raise translator.fault(f"Nesting Levels have exceeded supported limits under {path}")
    match node:
        case tree.Constant(_, {"N": number}):
            return {"N": _number(translator, number, path)}
        case tree.Constant(_, constant):
            return constant
        case tree.Sequence(_, "List", members):
            return {
                "L": [
                    value(translator, member, f"{path}[{at}]", depth + 1) for at, member in enumerate(members)
                ]
            }
        case tree.Sequence(_, "Bag", members):
            return _set(translator, members, path, depth)
        case tree.Fields():
            return {
                "M": {
                    name: value(translator, member, f"{path}.{name}", depth + 1)
                    for name, member in fields(translator, node, path)
                }
            }
        case tree.Ion(token):
            kind = _ion_type(token.text)
            raise translator.fault(
                f"Ion Literals are not supported: {kind} under key {path} at {token.position}"
            )
        case _:
            raise translator.fault(_unsupported(node, path))


def fields(translator: Translator, node: tree.Fields, path: str) -> Iterator[tuple[str, Node]]:
    """The names in a map literal, each checked when it has its turn, and the nodes of their values."""
    names = set()
    for key, member in node.pairs:
        if not isinstance(key, tree.Constant) or "S" not in key.value:
            raise translator.fault(
                f"Tuple keys must be of type String. Actual type: {_key_type(key)} under {path} "
                f"at {key.token.position}"
            )
        name = translator.named(str(key.value["S"]))
        if name in names:
            raise translator.fault(
                f"Duplicate keys in tuple. Key: {name} under {path} at {key.token.position}"
            )
        names.add(name)
        yield name, member


def _key_type(key: Node) -> str:
    match key:
        case tree.Constant(_, {"N": number}):
            return "INT" if str(number).lstrip("-").isdigit() else "DECIMAL"
        case tree.Constant(_, constant):
            return next(iter(constant))
        case _:
            return tree.class_name(key)


def _number(translator: Translator, text: str, path: str) -> str:
    try:
        return numbers.canonical(text, wording="coral")
    except Invalid as invalid:
        raise translator.fault(f"{invalid.message} under {path}") from None


def _set(translator: Translator, members: tuple[Node, ...], path: str, depth: int) -> Value:
    """A set: strings or numbers, all different."""
    if not members:
        raise translator.fault("Empty bags are not supported")
    first = members[0]
    if not isinstance(first, tree.Constant) or not {"S", "N"} & first.value.keys():
        raise translator.fault(f"{_IN_BAGS} at {first.token.position}")
    canonical = [value(translator, member, path, depth + 1) for member in members]
    written = [member.token.text for member in members]
    kinds = {kind for member in canonical for kind in member}
    if kinds == {"S"}:
        return {"SS": values.sort_strings(_distinct(translator, canonical, written, "."))}
    if kinds == {"N"}:
        return {"NS": values.sort_numbers(_distinct(translator, canonical, written, f"! under {path}"))}
    raise translator.fault(_IN_BAGS)


def _distinct(translator: Translator, members: list[Value], written: list[str], end: str) -> list[str]:
    contents = [str(content) for member in members for content in member.values()]
    if len(set(contents)) < len(contents):
        raise translator.fault(
            "One or more parameter values were invalid: "
            f"Input collection [{', '.join(written)}] contains duplicates{end}"
        )
    return contents


def _unsupported(node: Node, path: str) -> str:
    """What cannot be in a literal: the service names the whole literal by its text, a part of it by its class."""
    if isinstance(node, tree.Path):
        return f"Unsupported data type: {'PATH' if path == ROOT else 'Path'} under key {path}"
    label = tree.class_name(node)
    if path == ROOT and not isinstance(node, tree.Sequence):
        label = node.token.text.lower() if isinstance(node, tree.Call) else node.token.text
    return f"Unsupported data type: {label} under key {path} at {node.token.position}"


def _ion_type(text: str) -> str:
    inner = text[1:-1].strip()
    return next((kind for kind, pattern in _ION_TYPES if pattern.match(inner)), "SYMBOL")
