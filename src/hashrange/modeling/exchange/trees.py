"""Trees of names, lists and scalars, as YAML and JSON have them: read from JSON, written as YAML."""

from typing import Any

import msgspec
import yaml

from hashrange.modeling.model import Place
from hashrange.modeling.problems import refused
from hashrange.modeling.reading.nodes import ScalarNode

JSON_CHARS_MAX = 20_000_000  # NoSQL Workbench keeps sample data in its models
Branch = dict[str, Any]  # a mapping of a tree


class _Quoted(str):
    """A text that would be read as a number, or as nothing, without quotes."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes lists a step further in than what they belong to, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


_Dumper.add_representer(
    _Quoted, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')
)


def json_tree(text: str) -> object:
    """The tree of a JSON text, up to a size that no template or model has."""
    if len(text) > JSON_CHARS_MAX:
        raise refused(f"the file has more than {JSON_CHARS_MAX:,} characters", "a model is smaller than that")
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise refused(f"this is no JSON: {error}") from None


def literal(value: object) -> object:
    """A value that reads as itself: `"10"` is a text, `10` a number."""
    if isinstance(value, str) and not isinstance(ScalarNode(value, Place()).value, str):
        return _Quoted(value)
    return value


def yaml_text(tree: Branch) -> str:
    """YAML, in the order of the members; small mappings and lists are on one line."""
    text: str = yaml.dump(
        tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None
    )
    return text


def without_empty(tree: Branch) -> Branch:
    """A mapping without members that say nothing."""
    return {name: value for name, value in tree.items() if value is not None and value not in ({}, [], "")}
