"""What UpdateItem's statement counts for against the 400 KB, as measured on the service."""

from typing import Any

import pytest

from hashrange.core.expressions import Binder, build, legacy, update_charge

VALUES: dict[str, Any] = {
    ":v": {"S": "12345"},
    ":n": {"N": "1"},
    ":l": {"L": [{"S": "a"}]},
    ":ss": {"SS": ["abc"]},
}


@pytest.mark.parametrize(
    ("text", "charge"),
    [
        ("SET abc = :v", 3 + 19 + 3 + 5),
        ("SET a = :v, b = :v", 3 + 2 * (19 + 1 + 5)),
        ("SET a.bc.d = :v", 3 + 19 + 1 + (4 + 2) + (4 + 1) + 5),
        ("SET a[0] = :v", 3 + 19 + 1 + 4 + 1 + 5),
        ("SET a[10] = :v", 3 + 19 + 1 + 4 + 2 + 5),
        ("SET a[0].b = :v", 3 + 19 + 1 + 4 + 1 + 4 + 1 + 5),
        ("SET a = b[10]", 3 + 19 + 1 + 1 + 14 + 1 + 14 + 2),
        ("REMOVE a[10]", 3 + 1 + 1 + 4 + 2),
        ("SET a = b", 3 + 19 + 1 + (1 + 14 + 1)),
        ("SET a = bc.d", 3 + 19 + 1 + (1 + 14 + 2 + 14 + 1)),
        ("SET a = a + :n", 3 + 19 + 1 + 34 + (1 + 14 + 1) + 2),
        ("SET a = a - :n", 3 + 19 + 1 + 37 + (1 + 14 + 1) + 2),
        ("SET a = if_not_exists(a, :v)", 3 + 19 + 1 + 39 + (1 + 14 + 1) + 5),
        ("SET a = list_append(a, :l)", 3 + 19 + 1 + 37 + (1 + 14 + 1) + (3 + 1 + 1)),
        ("ADD abc :n", 3 + 19 + 3 + 2),
        ("REMOVE abc", 3 + 1 + 3),
        ("REMOVE a, b.c", 3 + (1 + 1) + (1 + 1 + 4 + 1)),
        ("DELETE abc :ss", 3 + 1 + 3),
        ("SET a = :v REMOVE b ADD c :n", 3 + (19 + 1 + 5) + (1 + 1) + (19 + 1 + 2)),
    ],
)
def test_charge(text: str, charge: int) -> None:
    assert update_charge(Binder(None, VALUES).update(text)) == charge


def test_an_update_without_actions_charges_the_statement() -> None:
    assert update_charge(build.update(())) == 3


def test_attribute_updates_can_be_charged_alike() -> None:
    assert (
        update_charge(legacy.attribute_updates({"abc": legacy.AttributeUpdate("PUT", {"S": "12345"})}))
        == 3 + 19 + 3 + 5
    )
