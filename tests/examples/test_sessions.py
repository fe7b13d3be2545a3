"""examples/sessions: a session ends on time, whether or not TTL has deleted it, and is not brought back."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest


class Clock:
    """A clock that a test moves."""

    now = 4_000_000_000.0  # far ahead: the server deletes nothing meanwhile

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(application: Callable[[str], Any], examples_client: Any, clock: Clock) -> Any:
    return application("sessions").Sessions(examples_client, clock)


def test_a_session_ends_to_the_second_and_is_not_brought_back(sessions: Any, clock: Clock) -> None:
    token = sessions.sign_in("ann", "phone")
    clock.now += 30 * 60 - 1
    assert sessions.session(token).device == "phone"
    clock.now += 1
    assert sessions.session(token) is None
    assert sessions.visit(token) is None


def test_a_visit_lengthens_a_session(sessions: Any, clock: Clock) -> None:
    token = sessions.sign_in("ann", "phone")
    clock.now += 30 * 60 - 1
    assert sessions.visit(token).visits == 1
    clock.now += 30 * 60 - 1
    assert sessions.session(token).visits == 1


def test_all_sessions_of_a_user_end_at_once(sessions: Any, clock: Clock) -> None:
    user = uuid4().hex
    token = sessions.sign_in(user, "phone")
    clock.now += 1
    sessions.sign_in(user, "laptop")
    assert sessions.devices(user) == ["laptop", "phone"]
    assert sessions.sign_out_everywhere(user) == 2
    assert sessions.devices(user) == []
    assert sessions.session(token) is None


def test_the_token_is_not_in_the_table(sessions: Any, examples_client: Any) -> None:
    token = sessions.sign_in("ann", "phone")
    assert token not in str(examples_client.scan(TableName="sessions")["Items"])


def test_the_table_has_time_to_live_as_the_model_says(sessions: Any, examples_client: Any) -> None:
    described = examples_client.describe_time_to_live(TableName="sessions")["TimeToLiveDescription"]
    assert described == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}
