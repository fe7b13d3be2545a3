"""A read pattern by its definition: evaluated over all items, one by one, without any key."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from hashrange.modeling.conditions import conjuncts, holds, text_of
from hashrange.modeling.data.generation import Data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.data.values import NOW
from hashrange.modeling.model import ReadPattern
from hashrange.modeling.prove.parameters import Parameters
from hashrange.modeling.wire_values import WireItem

_SETS = ("SS", "NS", "BS")


def defined_items(pattern: ReadPattern, data: Data, every: Sequence[Parameters]) -> list[Sample]:
    """The items that the pattern means, for one set of parameters or for a batch; no order, no limit."""
    candidates = [sample for name in pattern.entities for sample in data.samples.get(name, [])]
    return [
        sample for sample in candidates if any(is_meant(pattern, sample, parameters) for parameters in every)
    ]


def is_meant(pattern: ReadPattern, sample: Sample, parameters: Parameters) -> bool:
    return all(
        holds(condition, sample.stored, parameters, NOW)
        for condition in (pattern.where, pattern.filter)
        if condition is not None
    )


def why_not(pattern: ReadPattern, sample: Sample, parameters: Parameters) -> str:
    """Why an item is none of those that the pattern means."""
    if sample.entity.name not in pattern.entities:
        return f"it is a {sample.entity.name}"
    for condition in (*conjuncts(pattern.where), *conjuncts(pattern.filter)):
        if not holds(condition, sample.stored, parameters, NOW):
            return f"`{text_of(condition)}` does not hold"
    return "it came more often than it is there"


def view(pattern: ReadPattern, wire: WireItem) -> bytes:
    """An item as the pattern sees it, in one form: attributes in order, members of sets as well."""
    names = set(pattern.project) & wire.keys() if pattern.project else wire.keys()
    return msgspec.json.encode({name: _plain(wire[name]) for name in sorted(names)})


def _plain(value: dict[str, object]) -> dict[str, object]:
    kind, content = next(iter(value.items()))
    return {kind: sorted(content) if kind in _SETS and isinstance(content, list) else content}


def order_value(pattern: ReadPattern, wire: WireItem) -> tuple[str, object] | None:
    """What an item is sorted by: its type and value; None if it lacks the attribute."""
    value = wire.get(pattern.order or "")
    if value is None:
        return None
    kind, content = next(iter(value.items()))
    if kind == "N":
        return kind, Decimal(str(content))
    return kind, str(content).encode("utf-8", "surrogatepass")
