"""A plan that says it serves a pattern selects exactly the items for which the pattern's conditions hold."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hashrange.modeling.conditions import holds
from hashrange.modeling.key_values import HIGHEST, before, operand_text, stored_item
from hashrange.modeling.model import Attribute, Entity, Model, ReadOperation
from hashrange.modeling.planning import plan_read
from hashrange.modeling.plans import KeyCondition, ReadPlan
from small_models import attribute, entity, model, read, table

KINDS: dict[str, tuple[str | Attribute, st.SearchStrategy[object]]] = {
    "text": ("text", st.text("ab1 -", min_size=1, max_size=3)),
    "code": ("A|AB|B|C", st.sampled_from(["A", "AB", "B", "C"])),
    "number": ("integer", st.integers(0, 120)),
    "date": ("date", st.dates().map(lambda day: f"{day:%Y-%m-%d}".zfill(10))),
    "email": (
        "email",
        st.tuples(st.text("ab1.", min_size=1, max_size=2), st.text("ab", min_size=1, max_size=1)).map(
            "@".join
        ),
    ),
    "small": (Attribute("small", "N", format="integer", minimum=0, maximum=120), st.integers(0, 120)),
}
TEMPLATES = [
    "{%s}",
    "X#{%s}",
    "X#{%s}#{id}",
    "{%s}#{id}",
    "X#{%s:03}#{id}",
    "X#{%s:03}",
    "X{%s}{id}",
    "X#{%s:.2}#{id}",
]
CONDITIONS = [
    *("= ?a", "< ?a", "<= ?a", "> ?a", ">= ?a", "between ?a and ?b", "begins_with ?a"),
    *(">= ?a and {} < ?b", "> ?a and {} <= ?b", "> ?a and {} < ?b"),
]


def selected(plan: ReadPlan, item: Mapping[str, object], parameters: Mapping[str, object]) -> bool:
    """Whether the plan's key conditions hold for an item; keys sort by their UTF-8, numbers by value."""
    return all(
        meets(item[condition.attribute.name], condition, parameters)
        for condition in (*plan.partition, *plan.sort)
    )


def meets(stored: object, condition: KeyCondition, parameters: Mapping[str, object]) -> bool:
    operands = [operand_text(operand, parameters, now=0) for operand in condition.operands]
    key, low = comparable(stored), comparable(operands[0])
    match condition.operator:
        case "=":
            return key == low
        case "begins_with":
            return str(stored).startswith(str(operands[0]))
        case "between":
            return low <= key <= comparable(operands[1])
        case "<":
            return key < low
        case "<=":
            return key <= low
        case ">":
            return key > low
        case _:
            return key >= low


def comparable(value: object) -> tuple[int, bytes]:
    return (value, b"") if isinstance(value, int) else (0, str(value).encode())


@st.composite
def questions(
    draw: st.DrawFn,
) -> tuple[Model, ReadPlan, list[tuple[Entity, dict[str, object]]], dict[str, object]]:
    """A small model, the plan of a pattern, items of two entities, and the pattern's parameters."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    form, values = KINDS[kind]
    template = draw(st.sampled_from(TEMPLATES)) % kind
    other_template = draw(st.sampled_from(["Y", "X", "X#Y", "Y#{id}", "X#{id}", "a", "a@b", "A#{id}"]))
    condition = kind + " " + draw(st.sampled_from(CONDITIONS)).format(kind)
    one = entity("One", {"PK": "P", "SK": template}, id="integer")
    one = replace(one, attributes={**one.attributes, kind: attribute(kind, form)})
    other = entity("Other", {"PK": "P", "SK": other_template}, id="integer", note="S")
    shop = model(table(sort="SK:N" if template == "{number}" else "SK"), one, other)
    if template == "{number}":
        shop = model(shop.tables["shop"], one)
    plan = plan_read(shop, read("One", where=condition, order=draw(st.sampled_from([None, kind]))))
    items: list[tuple[Entity, dict[str, object]]] = [
        (one, {kind: draw(values), "id": number}) for number in range(draw(st.integers(1, 8)))
    ]
    if other.name in shop.entities:
        items += [(other, {"id": number, "note": "n"}) for number in range(2)]
    return shop, plan, items, {"a": draw(values), "b": draw(values)}


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(questions())
def test_served_patterns_select_exactly_what_they_define(
    question: tuple[Model, ReadPlan, list[tuple[Entity, dict[str, object]]], dict[str, object]],
) -> None:
    shop, plan, items, parameters = question
    if not plan.served or plan.operation is ReadOperation.SCAN:
        return
    assert plan.pattern.where is not None
    stored = [(of, stored_item(shop, of, values)) for of, values in items]
    answer = [item for _, item in stored if selected(plan, item, parameters)]
    wanted = [
        item for of, item in stored if of.name == "One" and holds(plan.pattern.where, item, parameters, 0)
    ]
    assert answer == wanted
    if plan.pattern.order is not None:
        by_key = sorted(answer, key=lambda item: comparable(item["SK"]))
        ordered = [item[plan.pattern.order] for item in by_key]
        assert ordered == sorted(ordered, key=comparable)


@given(st.text(min_size=1, max_size=4), st.text(max_size=4))
def test_before_a_text_is_all_that_sorts_before_it(text: str, other: str) -> None:
    if HIGHEST in text or HIGHEST in other:
        return
    assert (other.encode() <= before(text).encode()) == (other.encode() < text.encode())
