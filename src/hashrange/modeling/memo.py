"""Memo: what follows from a model is computed once, however many rules and patterns ask for it.

Every pattern of an entity asks for the size of its items, and every size for the entity's share of each index: without
a memo a file of 500 entities, 2,000 patterns and 20 indexes asks some ten million times for what has 10,000 answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from hashrange.modeling.model import Model

P = ParamSpec("P")
T = TypeVar("T")
ENTRIES_MAX = 200_000  # a forecast of many months asks for other values in each of them


def once_per_model(function: Callable[Concatenate[Model, P], T]) -> Callable[Concatenate[Model, P], T]:
    """Keep the answers of a function with the model. Its parts do not change, and are told apart by identity.

    Whoever asks gets the same object again, so answers have to be immutable.
    """

    @wraps(function)
    def remembered(model: Model, /, *args: P.args, **kwargs: P.kwargs) -> T:
        parts = (*args, *kwargs.values())
        key = (
            function,
            *kwargs,
            *(part if isinstance(part, int | float | str) else id(part) for part in parts),
        )
        kept: dict[object, tuple[object, T]] = model.memo  # type: ignore[assignment]
        if key not in kept:
            if len(kept) >= ENTRIES_MAX:
                kept.clear()
            # The arguments are kept as well: the id of one that is gone may become another's.
            kept[key] = (parts, function(model, *args, **kwargs))
        return kept[key][1]

    return remembered
