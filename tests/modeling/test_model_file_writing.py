"""The model file from objects: it reads as the same model again."""

import pytest

from hashrange.modeling.commands.new import starter
from hashrange.modeling.exchange.model_file import dumps
from hashrange.modeling.loading import loads
from modeling.plain_models import plain
from modeling.test_loading import SHOP
from modeling.test_model_file_page import BLOCKS, with_sections

PAGE = ["", *BLOCKS[1:]]


@pytest.mark.parametrize("number", range(len(PAGE)))
def test_every_example_of_the_page_is_written_and_read_again(number: int) -> None:
    model = loads(with_sections(BLOCKS[0], PAGE[number]))
    assert plain(loads(dumps(model))) == plain(model)


@pytest.mark.parametrize("text", [SHOP, starter()], ids=["shop", "starter"])
def test_a_model_is_written_and_read_again(text: str) -> None:
    model = loads(text)
    assert plain(loads(dumps(model))) == plain(model)


def test_texts_that_look_like_numbers_stay_texts() -> None:
    model = loads(SHOP.replace("[OPEN, PAID]", '["1", "true", "1e3", "~", "", "x: y", "#"]'))
    again = loads(dumps(model))
    assert again.entities["Order"].attributes["status"].values == ("1", "true", "1e3", "~", "", "x: y", "#")


def test_it_is_written_for_people() -> None:
    text = dumps(loads(SHOP))
    assert "    keys: {PK: 'USER#{user_id}', SK: PROFILE}\n" in text
    assert "    where: user_id = ?user_id and placed_at >= ?since\n" in text
    assert "    count: {count: 20 per User, at most: 5000, spread: zipf 1.1}\n" in text
