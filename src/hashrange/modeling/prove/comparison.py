"""An answer beside the definition: which items were missed, which do not belong there, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from hashrange.modeling.data.generation import Data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.model import Model
from hashrange.modeling.plans import ReadPlan
from hashrange.modeling.prove.answers import ReadAnswer
from hashrange.modeling.prove.definition import defined_items, order_value, view, why_not
from hashrange.modeling.prove.parameters import Parameters
from hashrange.modeling.wire_values import WireItem

_SHOWN_CHARS_MAX = 300


class Comparison:
    """One answer, compared."""

    def __init__(self, model: Model, plan: ReadPlan, data: Data, every: Sequence[Parameters]) -> None:
        self._model = model
        self._plan = plan
        self._pattern = plan.pattern
        self._data = data
        self._every = every
        self._defined = defined_items(plan.pattern, data, every)
        self._by_view: dict[bytes, list[Sample]] = {}
        for sample in self._defined:
            self._by_view.setdefault(view(plan.pattern, sample.wire), []).append(sample)

    def failures(self, answer: ReadAnswer) -> list[str]:
        """What is wrong with it; nothing, if it is what the definition says."""
        items = self._merged(answer.items)
        found = Counter(view(self._pattern, item) for item in items)
        meant = Counter({text: len(samples) for text, samples in self._by_view.items()})
        return [
            *self._surplus(found - meant),
            *self._missing(items, meant - found, answer),
            *self._disorder(items),
        ]

    def _merged(self, items: list[WireItem]) -> list[WireItem]:
        """What the application keeps: answers of several shards are merged by the order, and cut at the limit."""
        if self._plan.shards > 1 and self._pattern.order is not None:
            keyed = [(self._order(item), item) for item in items]
            has_order = [pair for pair in keyed if pair[0] is not None]
            has_order.sort(key=lambda pair: pair[0] or (), reverse=self._pattern.descending)
            items = [item for _, item in has_order] + [item for order, item in keyed if order is None]
        return items if self._pattern.limit is None else items[: self._pattern.limit]

    def _order(self, item: WireItem) -> tuple[str, object] | None:
        """By the item itself, or, if its attribute was not asked for, by the item that is stored."""
        own = order_value(self._pattern, item)
        samples = self._by_view.get(view(self._pattern, item), [])
        return order_value(self._pattern, samples[0].wire) if own is None and samples else own

    def _surplus(self, surplus: Counter[bytes]) -> list[str]:
        if not surplus:
            return []
        example = next(iter(surplus))
        stored = next(
            (sample for sample in self._data.all() if view(self._pattern, sample.wire) == example), None
        )
        if stored is None:
            return [f"{surplus.total()} items came back that are not stored so, as {_cut(example.decode())}"]
        why = why_not(self._pattern, stored, self._every[0])
        return [f"{surplus.total()} items too many, as {_shown(stored)}: {why}; {self._asked()}"]

    def _missing(self, items: list[WireItem], missing: Counter[bytes], answer: ReadAnswer) -> list[str]:
        expected = len(self._defined)
        if self._pattern.limit is not None:
            expected = min(expected, self._pattern.limit)
        if len(items) >= expected and (self._pattern.limit is not None or not missing):
            return []
        example = self._by_view[next(iter(missing))][0] if missing else self._defined[0]
        count = max(expected - len(items), 1)
        why = self._why_missed(example, answer)
        return [f"{count} of {expected} items missed, as {_shown(example)}: {why}; {self._asked()}"]

    def _why_missed(self, sample: Sample, answer: ReadAnswer) -> str:
        path = self._plan.path
        absent = [key.name for key in path.key if key.name not in sample.wire]
        if absent:
            return f"it is not in {path.title}, as it has no {', '.join(absent)}"
        keys = ", ".join(f"{key.name} = {_cut(str(sample.stored.get(key.name)))}" for key in path.key)
        members = answer.requests[0].members() if answer.requests else {}
        sought = members.get("ExpressionAttributeValues") or members.get("Key") or {}
        return f"its key is {keys}, and the request has {_cut(str(sought))}"

    def _disorder(self, items: list[WireItem]) -> list[str]:
        """One request's items must come in order; and with a limit they must be the first of all."""
        if self._pattern.order is None:
            return []
        values = [value for item in items if (value := self._order(item)) is not None]
        wanted = [value for sample in self._defined if (value := order_value(self._pattern, sample.wire))]
        wanted.sort(reverse=self._pattern.descending)
        for before, after in pairwise(values):
            if (before < after) if self._pattern.descending else (before > after):
                return [f"not in the order of {self._pattern.order}: {before[1]!r} comes before {after[1]!r}"]
        if self._pattern.limit is not None and values != wanted[: len(values)]:
            return [f"not the first {self._pattern.limit} by {self._pattern.order}: others come before them"]
        return []

    def _asked(self) -> str:
        return f"asked with {_cut(str(self._every[0]))}" if any(self._every) else "there are no parameters"


def _shown(sample: Sample) -> str:
    values = ", ".join(f"{name}={_cut(str(value), 40)}" for name, value in sample.values.items())
    return f"{sample.entity.name}({_cut(values)})"


def _cut(text: str, most: int = _SHOWN_CHARS_MAX) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
