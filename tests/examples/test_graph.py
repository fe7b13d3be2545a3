"""examples/graph: edges are found from both ends, quantities multiply, and a part goes with its edges."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest


@pytest.fixture
def module(application: Callable[[str], Any]) -> Any:
    return application("graph")


@pytest.fixture
def products(module: Any, examples_client: Any) -> Any:
    return module.Products(examples_client)


@pytest.fixture
def parts(products: Any) -> dict[str, str]:
    """A table of four legs and a top, both with bolts; ids by letter."""
    ids = {letter: f"{letter}-{uuid4().hex}" for letter in "abtl"}
    for part_id in ids.values():
        products.add(part_id, part_id)
    for component, whole, quantity in (("l", "t", 4), ("b", "l", 3), ("b", "t", 2), ("t", "a", 1)):
        products.use(ids[component], ids[whole], quantity)
    return ids


def test_quantities_multiply_on_the_way_down(products: Any, parts: dict[str, str]) -> None:
    assert products.bill(parts["a"]) == {parts["t"]: 1, parts["l"]: 4, parts["b"]: 14}
    assert products.bill(parts["b"]) == {}


def test_an_edge_is_found_from_both_ends(products: Any, parts: dict[str, str]) -> None:
    assert products.made_of(parts["t"]) == [(parts["b"], 2), (parts["l"], 4)]
    assert sorted(products.where_used(parts["b"])) == sorted([(parts["l"], 3), (parts["t"], 2)])
    assert products.walk(parts["b"], products.where_used) == {parts["l"]: 1, parts["t"]: 1, parts["a"]: 2}


def test_a_part_is_not_in_itself(module: Any, products: Any, parts: dict[str, str]) -> None:
    for component, whole in (("a", "b"), ("t", "t"), ("a", "t")):
        with pytest.raises(module.NotLinked):
            products.use(parts[component], parts[whole], 1)


def test_an_edge_is_made_once_and_between_parts_that_are_there(
    module: Any, products: Any, parts: dict[str, str]
) -> None:
    for component, whole in ((parts["l"], parts["t"]), ("nothing", parts["t"]), (parts["b"], "nothing")):
        with pytest.raises(module.NotLinked):
            products.use(component, whole, 9)
    assert products.made_of(parts["t"]) == [(parts["b"], 2), (parts["l"], 4)]
    assert [products.take_out(parts["l"], parts["t"]) for _ in range(2)] == [True, False]


def test_a_part_goes_with_its_edges_and_without_it_nothing_hangs(
    products: Any, parts: dict[str, str]
) -> None:
    assert products.remove(parts["l"])
    assert products.made_of(parts["t"]) == [(parts["b"], 2)]
    assert products.where_used(parts["b"]) == [(parts["t"], 2)]
    assert products.remove(parts["l"])  # again, and nothing is left to do
    assert products.remove(parts["b"])
    assert products.bill(parts["a"]) == {parts["t"]: 1}


def test_a_part_whose_edges_the_index_does_not_show_yet_stays_until_it_does(
    module: Any, products: Any, parts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as lagging:
        lagging.setattr(products, "where_used", lambda _: [])
        assert not products.remove(parts["b"])
    with pytest.raises(module.NotLinked):
        products.use(parts["b"], parts["a"], 1)  # no new edges meanwhile
    assert products.remove(parts["b"])
    assert products.made_of(parts["l"]) == []
