"""Cutting text into tokens takes a time that grows no faster than the text."""

import pytest

from hashrange.core.expressions.errors import Flaw
from hashrange.core.expressions.lexer import tokenize
from hashrange.core.expressions.parser import parse_projection


@pytest.mark.parametrize("text", ['\\"' * 1000, "\\'" * 1000, "a," + '\\"' * 1000])
def test_nothing_is_read_behind_what_no_expression_can_use(text: str) -> None:
    assert len(tokenize(text)) <= 5


def test_the_message_still_shows_the_token_behind() -> None:
    with pytest.raises(Flaw) as caught:
        parse_projection("a, ! bc, d")
    assert caught.value.detail == 'Syntax error; token: "!", near: ", ! bc"'
