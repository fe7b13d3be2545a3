"""The root key: where it comes from, and what is said when it does not."""

import base64
import pickle
from pathlib import Path

import pytest

from hashrange.kms import root_key
from hashrange.kms.root_key import RootKey, RootKeyInvalid, load

KEY = bytes(range(32))
TEXT = base64.b64encode(KEY).decode()


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("text", [TEXT, f"  {TEXT}\n", KEY.hex(), KEY.hex().upper() + "\n"])
def test_the_key_is_base64_or_hexadecimal_text(text: str, tmp_path: Path) -> None:
    assert load(f"file:{written(tmp_path, text)}", {}).reveal() == KEY
    assert load("env:ROOT", {"ROOT": text}).reveal() == KEY
    assert load(f"command:printf %s '{text}'", {}).reveal() == KEY


@pytest.mark.parametrize("text", ["", "secret-words", TEXT[:-4], TEXT + TEXT, "é" * 32, KEY.hex()[:-2]])
def test_another_text_is_refused_and_not_shown(text: str, tmp_path: Path) -> None:
    for place in (f"file:{written(tmp_path, text)}", "env:ROOT"):
        with pytest.raises(RootKeyInvalid) as refused:
            load(place, {"ROOT": text})
        assert not text or text not in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o777])
def test_a_file_that_others_can_read_is_refused(mode: int, tmp_path: Path) -> None:
    with pytest.raises(RootKeyInvalid, match="chmod 600"):
        load(f"file:{written(tmp_path, TEXT, mode)}", {})


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "must be file:PATH"),
        ("file:", "must be file:PATH"),
        ("vault:x", "must be file:PATH"),
        (TEXT, "must be file:PATH"),
        ("file:/nowhere/key", "cannot be read"),
        ("file:/", "is no file"),
        ("env:NONE", "NONE, which is not set"),
        ("command:false", "exit status is 1"),
        ("command:/nowhere/key", "gave no root key"),
        ("command:'", "cannot be read"),
        ("command: ", "is empty"),
        ("command:printf short", "must be 32 bytes"),
    ],
)
def test_what_is_wrong_is_said(place: str, message: str) -> None:
    with pytest.raises(RootKeyInvalid, match=message) as refused:
        load(place, {})
    assert TEXT not in str(refused.value)


def test_a_new_file_is_for_its_owner_only_and_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "root.key"
    made = root_key.create_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert root_key.from_file(path).reveal() == made.reveal()
    with pytest.raises(RootKeyInvalid, match="cannot be made"):
        root_key.create_file(path)
    assert root_key.from_file(path).reveal() == made.reveal()


def test_a_key_does_not_show_itself() -> None:
    key = RootKey(KEY, "a test")
    assert repr(key) == f"{key}" == "RootKey('a test')"
    with pytest.raises(TypeError):
        pickle.dumps(key)
