"""Seeded mistakes: every model of examples/ is spoilt in twenty ways and more, and each time a command says so."""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

import pytest

from hashrange.modeling.check.rules import check
from hashrange.modeling.exchange.model_file import dumps
from hashrange.modeling.loading import load, loads
from hashrange.modeling.model import Model
from hashrange.modeling.problems import ModelErrors
from hashrange.modeling.prove.proving import prove
from house import ROOT
from modeling import mutant_keys, mutant_patterns, mutant_requests
from modeling.mutants import Mutant, Subject
from sizes import size

FOLDER = ROOT / "examples"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/model.yaml"))
MODELS = pytest.mark.parametrize("name", NAMES)
ITEMS = 100
WAYS_MIN = 20
MUTANTS = size(usual=4, thorough=10_000)  # of each model
T = TypeVar("T")
SLIPS = size(usual=3, thorough=10_000)


@cache
def good(name: str) -> Model:
    """The model as it is written from objects, as its mutants are."""
    return loads(dumps(load(FOLDER / name / "model.yaml")))


@cache
def findings(name: str) -> frozenset[tuple[str, str]]:
    """What the rules have against the good model: comments that silence them are not among the objects."""
    return frozenset(_serious(good(name)))


def _serious(model: Model) -> set[tuple[str, str]]:
    return {(one.code, one.subject) for one in check(model).findings if one.severity != "info"}


@cache
def mutants(name: str) -> Sequence[Mutant]:
    """All mutants, of which no two have the same mistake in the same place."""
    subject = Subject(good(name))
    operators = (*mutant_keys.OPERATORS, *mutant_patterns.OPERATORS)
    made = [mutant for operator in operators for mutant in operator(subject)]
    return list({mutant.name: mutant for mutant in made}.values())


def spread(values: Sequence[T], count: int) -> list[T]:
    """A few from all over, or all of them."""
    step = max(len(values) / count, 1)
    return [values[int(at * step)] for at in range(min(count, len(values)))]


def caught_by(name: str, model: Model) -> str | None:
    """The first command that finds something wrong, with the file that the model makes."""
    try:
        read = loads(dumps(model))
    except ModelErrors:
        return "load"
    if not prove(read, items=ITEMS).holds:
        return "prove"
    return "check" if _serious(read) - findings(name) else None


@MODELS
def test_there_are_twenty_ways_to_spoil_a_model(name: str) -> None:
    made = mutants(name)
    assert len(made) >= WAYS_MIN
    assert len({mutant.kind for mutant in made}) >= WAYS_MIN // 2


@MODELS
def test_every_mutant_is_caught_and_the_model_itself_is_not(name: str) -> None:
    assert caught_by(name, good(name)) is None
    chosen = spread(mutants(name), MUTANTS)
    survivors = [mutant.name for mutant in chosen if caught_by(name, mutant.model) is None]
    assert survivors == []


@MODELS
def test_an_application_that_does_not_do_what_the_model_says_is_caught(name: str) -> None:
    chosen = spread(list(mutant_requests.slips(good(name))), SLIPS)
    assert chosen
    survivors = [slip.name for slip in chosen if not slip.failures()]
    assert survivors == []


def test_an_id_that_the_key_lacks_is_told() -> None:
    """Two orders of one customer at the same time have the same key: one of them would be lost."""
    forgotten = [mutant for mutant in mutants("ecommerce") if mutant.name == "id forgotten: Order.SK"]
    (failure,) = prove(forgotten[0].model, items=ITEMS).failures
    assert failure.startswith("items of Order with another order_id have the same key: ")
