"""Who may ask is a choice that somebody has made, where other machines can connect."""

import pytest

from hashrange.config import SettingInvalid, load
from hashrange.serve_command import banner

ELSEWHERE = ["0.0.0.0", "::", "192.0.2.1"]


@pytest.mark.parametrize("host", ELSEWHERE)
def test_beyond_loopback_nobody_is_let_in_by_default(host: str) -> None:
    with pytest.raises(
        SettingInvalid, match="whoever reaches the port could read, change and delete"
    ) as raised:
        load({"host": host}, {})
    assert all(mode in str(raised.value) for mode in ("--auth signature", "--auth iam", "--auth off"))


@pytest.mark.parametrize("host", ELSEWHERE)
@pytest.mark.parametrize("mode", ["off", "signature", "iam"])
def test_beyond_loopback_every_mode_can_be_written_out(host: str, mode: str) -> None:
    assert load({"host": host, "auth": mode}, {}).auth == mode
    assert load({}, {"HASHRANGE_HOST": host, "HASHRANGE_AUTH": mode}).auth == mode


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_loopback_nothing_needs_to_be_said(host: str) -> None:
    assert load({"host": host}, {}).auth == "off"


def test_other_modes_are_refused() -> None:
    with pytest.raises(SettingInvalid, match="must be one of off, signature, iam"):
        load({"auth": "none"}, {})


@pytest.mark.parametrize("mode", ["signature", "iam"])
def test_a_server_in_memory_would_know_no_keys(mode: str) -> None:
    with pytest.raises(SettingInvalid, match="--auth does not go with --in-memory"):
        load({"auth": mode, "in_memory": "true"}, {})


@pytest.mark.parametrize("mode", ["signature", "iam"])
def test_with_verified_signatures_the_banner_says_where_keys_come_from(mode: str) -> None:
    text = banner(load({"auth": mode, "data_dir": "my data", "port": "1"}, {}), "SQLite", 8000)
    assert "=local" not in text
    assert (
        f"  auth      {mode}; before the first start `hashrange iam bootstrap --data-dir 'my data'` makes"
        in text
    )
    shared = load({"auth": mode, "engine": "postgresql://somebody:geheim@db/x"}, {})
    assert "iam bootstrap --engine URL" in banner(shared, "PostgreSQL", 8000)
    assert "geheim" not in banner(shared, "PostgreSQL", 8000)


def test_on_loopback_the_banner_is_as_it_was() -> None:
    text = banner(load({}, {}), "SQLite", 8000)
    assert "  try       AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws dynamodb list-tables " in text
    assert "auth" not in text
    assert "WARNING" not in text


def test_a_root_key_without_the_word_before_it_is_not_repeated() -> None:
    with pytest.raises(SettingInvalid, match="it must be file:PATH") as caught:
        load({"root_key": "c2VjcmV0c2VjcmV0"}, {})
    assert "c2VjcmV0" not in str(caught.value)
