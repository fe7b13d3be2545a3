"""Models without places: what two files say, whatever the lines on which they say it."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from hashrange.modeling.model import NOWHERE, Model


def plain(model: Model) -> Model:
    """The model with no places, no path and no silences, and with numbers rounded."""
    return cast("Model", _plain(replace(model, path="", silences=())))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        changed = {part.name: _plain(getattr(value, part.name)) for part in fields(value) if part.init}
        if "place" in changed:
            changed["place"] = NOWHERE
        return replace(value, **changed)
    match value:
        case tuple():
            return tuple(_plain(item) for item in value)
        case dict():
            return {name: _plain(value[name]) for name in sorted(value)}
        case float():
            return round(value, 6)
        case _:
            return value
