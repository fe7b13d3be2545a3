"""What an update costs grows with what it works on, not with the product of two things that a client sent."""

from typing import Any

from hashrange.core.expressions import Binder, apply_update


class Counting(str):
    """A string that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counting.comparisons += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_deleting_many_members_from_a_large_set_compares_each_about_once() -> None:
    count = 1000
    item: dict[str, Any] = {"s": {"SS": [Counting(f"a{number}") for number in range(count)]}}
    removed = [Counting(f"b{number}") for number in range(count)] + ["a0"]
    update = Binder(None, {":removed": {"SS": removed}}).update("DELETE s :removed")
    Counting.comparisons = 0
    applied = apply_update(update, item)
    assert Counting.comparisons < 5 * count
    assert len(applied.item["s"]["SS"]) == count - 1
