"""Made-up items: the same for a seed, consistent, bounded, and awkward on purpose."""

from collections import Counter

from hashrange.modeling.commands.new import starter
from hashrange.modeling.data.amounts import BYTES_MAX, ITEMS_MAX, amounts
from hashrange.modeling.data.generation import Data, make_data
from hashrange.modeling.data.values import NOW
from hashrange.modeling.loading import loads
from hashrange.modeling.sizes import item_size
from proved_model import proved_model


def values(data: Data, entity: str, name: str) -> list[object]:
    return [sample.values.get(name) for sample in data.samples[entity]]


def test_a_seed_gives_the_same_items_again() -> None:
    first, second, other = (make_data(proved_model(), seed=seed, items=200) for seed in (3, 3, 4))
    assert [sample.wire for sample in first.all()] == [sample.wire for sample in second.all()]
    assert [sample.wire for sample in first.all()] != [sample.wire for sample in other.all()]


def test_children_have_the_values_of_a_parent_that_is_there() -> None:
    data = make_data(loads(starter()), items=600)
    customers = values(data, "Customer", "customer_id")
    orders = Counter(values(data, "Order", "customer_id"))
    assert orders.keys() <= set(customers)
    assert orders[customers[-1]] == 0
    # The spread is that of the model: a few customers have many orders.
    assert max(orders.values()) > 4 * sum(orders.values()) / len(customers)


def test_values_begin_each_other_and_times_are_there_twice() -> None:
    data = make_data(proved_model(), items=900)
    users = values(data, "User", "user_id")
    assert {"1", "10"} <= set(users)
    assert max(Counter(values(data, "Ticket", "opened_at")).values()) > 1
    levels = values(data, "Ticket", "level")
    assert {0, 1, 10, 5000} <= set(levels)
    bios = values(data, "User", "bio")
    assert None in bios
    assert any(isinstance(bio, str) and "#" in bio for bio in bios)


def test_large_models_are_scaled_down_in_items_and_in_bytes() -> None:
    model = loads(starter())
    assert sum(amounts(model, 10**9).values()) <= ITEMS_MAX
    fat = loads(starter().replace("size: 200, optional: 60%", "size: 300KB"))
    customer = fat.entities["Customer"]
    made = amounts(fat, ITEMS_MAX)["Customer"]
    assert 0 < made * item_size(fat, customer).mean <= BYTES_MAX


FAMILY = """
hashrange: 1
tables: {firm: {partition_key: PK, sort_key: SK}}
entities:
  Firm: {count: 50, keys: {PK: "FIRM#{firm}", SK: FIRM}, attributes: {firm: uuid}}
  Person:
    count: 9 per Firm
    keys: {PK: "FIRM#{firm}", SK: "PERSON#{person}"}
    attributes: {person: uuid}
  Letter:
    count: 9 per Person
    keys: {PK: "FIRM#{firm}", SK: "LETTER#{letter}"}
    attributes:
      letter: ulid
      person: uuid
      reader: {refers: Person}
      witness: {refers: Person}
      pages: {format: integer, minimum: 0, maximum: 900000}
      burnt_at: epoch
"""


def test_references_are_to_others_of_the_same_forebears() -> None:
    """A letter's reader is another than its writer, who is its parent; both are of one firm."""
    data = make_data(loads(FAMILY), items=600)
    firms = {sample.values["person"]: sample.values["firm"] for sample in data.samples["Person"]}
    letters = [sample.values for sample in data.samples["Letter"]]
    assert all(firms[letter["reader"]] == letter["firm"] for letter in letters)
    assert any(letter["reader"] != letter["witness"] for letter in letters)
    assert any(letter["reader"] != letter["person"] for letter in letters)


def test_numbers_reach_both_ends_and_times_of_expiry_lie_on_both_sides_of_now() -> None:
    data = make_data(loads(FAMILY), items=600)
    assert {0, 900000} <= set(values(data, "Letter", "pages"))
    burnt = [at for at in values(data, "Letter", "burnt_at") if isinstance(at, int)]
    assert min(burnt) < NOW < max(burnt)
