"""What a request may compute: little where others wait for it, more on a thread of its own, and never without end."""

from collections.abc import Iterator

import orjson
import pytest

from hashrange.core import effort, items
from hashrange.core.effort import Exhausted, Postponed
from hashrange.core.expressions import Binder, Condition, Update, apply_update, matches
from hashrange.core.partiql import prepare
from hashrange.core.partiql.branches import Decomposition
from hashrange.core.partiql.syntax import Select
from hashrange.core.schema import KeyAttribute
from hashrange.core.values import Item


class Clock:
    """A processor's clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _limited() -> Iterator[None]:
    effort.begin()
    yield
    effort.end()


def test_a_shared_thread_has_units_and_no_more() -> None:
    effort.spend(effort.SHARED_UNITS)
    with pytest.raises(Postponed):
        effort.spend(1)


def test_every_step_has_its_own_units() -> None:
    effort.spend(effort.SHARED_UNITS)
    effort.begin()
    effort.spend(effort.SHARED_UNITS)


def test_what_was_never_begun_is_not_limited() -> None:
    effort.end()
    effort.spend(100 * effort.SHARED_UNITS)
    assert not effort.page_is_due()


def test_patience_lasts_for_seconds_of_the_processor_not_for_units() -> None:
    clock = Clock()
    with effort.patience(clock):
        effort.spend(100 * effort.SHARED_UNITS)
        clock.now = effort.REQUEST_SECONDS
        effort.spend(1)
        clock.now += 0.1
        with pytest.raises(Exhausted):
            effort.spend(1)
    effort.spend(effort.SHARED_UNITS)


def test_a_page_is_due_before_a_request_is_exhausted() -> None:
    clock = Clock()
    with effort.patience(clock):
        clock.now = effort.PAGE_SECONDS
        assert not effort.page_is_due()
        clock.now += 0.1
        assert effort.page_is_due()
        effort.spend(1)


def test_no_page_is_due_on_a_shared_thread() -> None:
    assert not effort.page_is_due()


def _stored(bytes_: int) -> bytes:
    return items.encode({"pk": {"S": "x" * bytes_}}, bytes_, 1.0)


def test_decoding_a_large_item_is_counted_and_a_small_one_is_not() -> None:
    for _ in range(1000):
        items.decode(_stored(10_000))
    for _ in range(4):
        items.decode(_stored(100_000))
    with pytest.raises(Postponed):
        items.decode(_stored(100_000))


def _contains(count: int) -> Condition:
    text = " OR ".join(f"contains(l, :v{number})" for number in range(count))
    values = {f":v{number}": {"S": str(number)} for number in range(count)}
    effort.end()
    condition = Binder(None, values).condition("FilterExpression", text)
    effort.begin()
    return condition


def _row(elements: int) -> tuple[Item, int]:
    item = {"l": {"L": [{"S": ""}] * elements}}
    return item, len(orjson.dumps(item))


def test_a_condition_costs_as_much_as_it_has_operators_times_the_size_of_the_item() -> None:
    condition = _contains(150)
    matches(condition, *_row(10))
    with pytest.raises(Postponed):
        matches(condition, *_row(1000))
    matches(_contains(1), *_row(1000))


def test_a_look_through_a_long_list_can_be_ended() -> None:
    clock = Clock()
    item, size = _row(100_000)
    condition = _contains(1)
    with effort.patience(clock):
        clock.now = effort.REQUEST_SECONDS + 1
        with pytest.raises(Exhausted):
            matches(condition, item, size)


@pytest.mark.parametrize("present", [0, 8191, 8192, 20_000])
def test_a_long_list_is_looked_through_to_its_end(present: int) -> None:
    effort.end()
    elements = [{"S": ""} for _ in range(20_001)]
    condition = _contains(1)
    assert not matches(condition, {"l": {"L": elements}})
    elements[present] = {"S": "0"}
    assert matches(condition, {"l": {"L": elements}})


def test_reading_new_texts_is_counted_and_known_ones_are_free() -> None:
    for _ in range(1000):
        Binder(None, None).projection("a, b, c")
    for number in range(effort.SHARED_UNITS // (250 * 1000)):
        Binder(None, None).projection(f"a{number}" + "x" * 900)
    with pytest.raises(Postponed):
        Binder(None, None).projection("b" + "x" * 900)


def test_alternatives_that_multiply_are_counted() -> None:
    effort.end()
    text = " AND ".join(["(sk > 1 OR sk < 0)"] * 9 + ["sk > 0"] * 100)
    where = prepare(f"SELECT * FROM t WHERE pk = 'a' AND {text}").statement
    assert isinstance(where, Select)
    effort.begin()
    with pytest.raises(Postponed):
        Decomposition(where.where, {}, KeyAttribute("pk", "S"), KeyAttribute("sk", "N"))


def test_the_values_of_a_request_are_counted_where_many_operators_may_look_at_them() -> None:
    values = {":l": {"L": [{"S": ""}] * 3000}}
    few = Binder(None, values).condition("FilterExpression", " OR ".join(["contains(:l, t)"] * 2))
    many = Binder(None, values).condition("FilterExpression", " OR ".join(["contains(:l, t)"] * 100))
    matches(few, {"t": {"S": "x"}}, 10)
    with pytest.raises(Postponed):
        matches(many, {"t": {"S": "x"}}, 10)
    with pytest.raises(Postponed):
        matches(many, {})


def test_conditions_that_are_compared_with_each_other_are_counted() -> None:
    effort.end()
    text = "(contains(l, 'a') = contains(l, 'b')) = (contains(l, 'c') IN [contains(l, 'd'), TRUE])"
    where = prepare(f"SELECT * FROM t WHERE {text}").where
    assert where is not None
    assert where.looks >= 4


def test_a_set_that_is_added_to_many_others_is_counted() -> None:
    numbers = {"NS": [str(number) for number in range(1000)]}
    item = {f"s{number}": {"NS": ["-1"]} for number in range(30)}

    def added(count: int) -> Update:
        text = "ADD " + ",".join(f"s{number} :v" for number in range(count))
        return Binder(None, {":v": numbers}).update(text)

    once, often = added(1), added(30)
    effort.begin()
    apply_update(once, item)
    with pytest.raises(Postponed):
        apply_update(often, item)
