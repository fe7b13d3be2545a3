"""examples/chat: only members are heard, once, and pages of a room neither repeat nor leave out."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest


@pytest.fixture
def module(application: Callable[[str], Any]) -> Any:
    return application("chat")


@pytest.fixture
def chat(module: Any, examples_client: Any) -> Any:
    return module.Chat(examples_client)


@pytest.fixture
def room(chat: Any) -> str:
    """A room with Ann in it, who has said five things."""
    room_id = uuid4().hex
    chat.open(room_id, "room")
    assert chat.join(room_id, "ann")
    for number in range(1, 6):
        chat.say(room_id, "ann", f"m{number}", f"text {number}")
    return room_id


def ids(messages: list[dict[str, Any]]) -> list[str]:
    return [message["message_id"] for message in messages]


def test_pages_go_back_from_the_end_though_somebody_speaks_meanwhile(chat: Any, room: str) -> None:
    first = ids(chat.latest(room, limit=2))
    chat.say(room, "ann", "m6", "meanwhile")
    second = ids(chat.latest(room, before=first[-1], limit=2))
    third = ids(chat.latest(room, before=second[-1], limit=2))
    assert (first, second, third) == (["m5", "m4"], ["m3", "m2"], ["m1"])


def test_a_message_that_is_sent_again_is_said_once(chat: Any, room: str) -> None:
    chat.say(room, "ann", "m5", "text 5")
    assert ids(chat.latest(room)) == ["m5", "m4", "m3", "m2", "m1"]


def test_who_is_no_member_is_not_heard(module: Any, chat: Any, room: str) -> None:
    with pytest.raises(module.NotAMember):
        chat.say(room, "eve", "m9", "hello")
    with pytest.raises(module.NotAMember):
        chat.unread(room, "eve")
    assert "m9" not in ids(chat.latest(room))


def test_the_mark_of_what_was_read_does_not_move_back(chat: Any, room: str) -> None:
    assert chat.join(room, "bob")
    assert ids(chat.unread(room, "bob")) == ["m1", "m2", "m3", "m4", "m5"]
    chat.mark_read(room, "bob", "m4")
    chat.mark_read(room, "bob", "m2")
    assert ids(chat.unread(room, "bob")) == ["m5"]


def test_a_user_joins_once_and_finds_the_room(chat: Any, room: str) -> None:
    user = uuid4().hex
    assert [chat.join(room, user) for _ in range(2)] == [True, False]
    assert chat.join("no such room", user) is False
    assert chat.members(room) == sorted(["ann", user])
    assert chat.rooms(user) == [room]
