"""Large models: what follows from them is computed once, and entities that cannot meet are not compared."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.modeling import memo
from hashrange.modeling.check.rules import check
from hashrange.modeling.model import Entity, Model
from hashrange.modeling.neighbours import neighbours
from hashrange.modeling.planning import plan_read
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.population import entry_share, group_of, identity, template_values
from hashrange.modeling.price.coming_months import SIMULATED_DAYS_MAX, computed_months, filled
from hashrange.modeling.sizes import item_size
from hashrange.modeling.templates import parse_template
from small_models import ORDER, USER, entity, index, model, read, table

SHOP = model(table(), USER, ORDER)


def test_a_size_is_computed_once_for_a_model() -> None:
    shop = replace(SHOP)
    first = item_size(shop, USER)
    assert item_size(shop, USER) is first
    changed = replace(USER, attributes={})
    assert item_size(shop, changed) != first
    assert item_size(shop, USER, 12) is not first


def test_what_is_kept_is_not_changed_by_who_asks() -> None:
    """The values of a template are counted attribute by attribute, from the identity of an entity on."""
    shop = replace(SHOP)
    before = identity(shop, USER)
    index_key = parse_template("{user_id}#{email}")
    first = template_values(shop, USER, index_key)
    assert identity(shop, USER) == before == {"user_id"}
    assert template_values(replace(shop), USER, index_key) == first


def test_a_changed_model_forgets() -> None:
    shop = replace(SHOP)
    assert entry_share(shop, USER, None) == 1.0
    assert shop.memo
    assert not replace(shop, name="other").memo


def test_a_memo_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = replace(SHOP)
    monkeypatch.setattr(memo, "ENTRIES_MAX", 50)
    for months in range(200):
        group_of(shop, ORDER, None, float(months))
        assert len(shop.memo) <= 60


def test_rules_ask_no_more_than_entities_times_indexes() -> None:
    indexes = [index(f"GSI{at}", f"G{at}PK", f"G{at}SK") for at in range(4)]
    keys = {name: f"{name}#{{status}}" for at in range(4) for name in (f"G{at}PK", f"G{at}SK")}
    entities = [
        entity(f"E{at}", {"PK": f"E{at}#{{id}}", "SK": "X", **keys}, id="uuid", status="A|B")
        for at in range(10)
    ]
    patterns = [replace(read(f"E{at % 10}", where="id = ?id"), id=f"R{at}") for at in range(100)]

    def asked(count: int) -> int:
        shop = model(table(*indexes), *entities, patterns=tuple(patterns[:count]))
        check(shop)
        return len(shop.memo)

    assert asked(100) == asked(10)


def naive(shop: Model, wanted: Entity, start: str) -> list[str]:
    """The entities whose partition keys can begin as the wanted ones do, one by one."""
    others = (other for other in shop.entities.values() if other is not wanted)
    texts = ((other.name, other.keys["PK"].text.partition("{")[0]) for other in others)
    return [name for name, text in texts if text.startswith(start) or start.startswith(text)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("AB#", max_size=4), min_size=1, max_size=12))
def test_neighbours_are_those_whose_keys_can_begin_alike(texts: list[str]) -> None:
    entities = [entity(f"E{at}", {"PK": f"{text}{{id}}"}, id="text") for at, text in enumerate(texts)]
    shop = model(table(sort=None), *entities)
    for number, text in enumerate(texts):
        plan = plan_read(shop, read(f"E{number}", where="id = ?id"))
        near = neighbours(shop, AccessPath(plan.table), [entities[number]], plan.partition, ())
        names = [other.name for other in near]
        # Of those that begin alike, shapes rule out some more.
        assert [name for name in naive(shop, entities[number], text) if name in names] == names


def test_every_month_is_computed_as_long_as_that_is_quick() -> None:
    assert computed_months(0, 10) == ()
    assert computed_months(4, 0) == (1, 2, 3, 4)
    assert computed_months(120, SIMULATED_DAYS_MAX // 120) == tuple(range(1, 121))
    assert computed_months(120, SIMULATED_DAYS_MAX // 4) == (30, 60, 90, 120)
    assert computed_months(120, 10 * SIMULATED_DAYS_MAX) == (120,)


def test_months_in_between_lie_on_straight_lines() -> None:
    costs = {0: Decimal(10), 2: Decimal(20), 5: Decimal(50)}
    assert filled(costs, 5) == tuple(map(Decimal, (10, 15, 20, 30, 40, 50)))
