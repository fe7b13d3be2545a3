"""The cache of parsed texts is bounded in bytes, because a long text makes a large tree."""

import pytest

from hashrange.core.expressions.parser import parse_condition, parse_projection, parse_update


@pytest.mark.parametrize("parse", [parse_condition, parse_projection, parse_update])
@pytest.mark.parametrize(("names", "is_kept"), [(15, True), (300, False)])
def test_only_the_trees_of_short_texts_are_kept(parse: object, names: int, *, is_kept: bool) -> None:
    listed = [f"a{number}" for number in range(names)]
    text, joint = {
        parse_condition: ("", " = :v OR "),
        parse_projection: ("", ","),
        parse_update: ("REMOVE ", ","),
    }[parse]  # type: ignore[index]
    text += joint.join(listed) + (" = :v" if "OR" in joint else "")
    first, second = parse(text), parse(text)  # type: ignore[operator]
    assert first == second
    assert (first is second) == is_kept
