"""Root keys: where they come from, what they refuse, and that they are shown nowhere."""

import base64
import os
import pickle
import sys
from pathlib import Path

import pytest

from hashrange.kms.errors import NotAuthentic, RootKeyUnavailable
from hashrange.kms.root_key_sources import (
    check_source,
    make_root_key_file,
    read_root_key,
)
from hashrange.kms.wrapping import Wrapping

KEY = bytes(range(32))


@pytest.mark.parametrize(
    "content", [KEY, base64.b64encode(KEY), base64.b64encode(KEY) + b"\n", KEY.hex().encode() + b"\n"]
)
def test_a_file_holds_the_key_as_it_is_or_as_text(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "root.key"
    path.write_bytes(content)
    path.chmod(0o600)
    assert read_root_key(f"file:{path}", {}) == KEY


@pytest.mark.parametrize("content", [b"", b"short", KEY[:31], KEY + b"x", b"z" * 64, b"A" * 43])
def test_anything_else_is_no_key_and_is_not_repeated(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "root.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(RootKeyUnavailable) as failure:
        read_root_key(f"file:{path}", {})
    assert not content or content.decode("latin-1") not in str(failure.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_file_that_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "root.key"
    path.write_bytes(KEY)
    path.chmod(mode)
    with pytest.raises(RootKeyUnavailable, match="chmod 600"):
        read_root_key(f"file:{path}", {})


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RootKeyUnavailable, match="No such file"):
        read_root_key(f"file:{tmp_path}/none", {})


def test_an_environment_variable_holds_the_key() -> None:
    assert read_root_key("env:ROOT", {"ROOT": KEY.hex()}) == KEY
    with pytest.raises(RootKeyUnavailable, match="ROOT"):
        read_root_key("env:ROOT", {})


def test_a_command_prints_the_key() -> None:
    program = f"import sys; sys.stdout.buffer.write(bytes.fromhex('{KEY.hex()}'))"
    assert read_root_key(f'command:{sys.executable} -c "{program}"', {}) == KEY


def test_a_command_that_fails_is_a_clear_error_without_its_arguments() -> None:
    with pytest.raises(RootKeyUnavailable, match="status 3") as failure:
        read_root_key(f"command:{sys.executable} -c 'raise SystemExit(3)' --token secret", {})
    assert "secret" not in str(failure.value)
    with pytest.raises(RootKeyUnavailable, match="cannot be run"):
        read_root_key("command:/nowhere/at/all", {})


@pytest.mark.parametrize("source", ["", "x", "file:", "env: ", "vault:abc", "FILE:/x"])
def test_a_source_of_no_known_kind_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="must be file:PATH"):
        check_source(source)


def test_a_new_file_is_private_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "root.key"
    before = os.umask(0)
    try:
        make_root_key_file(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    key = read_root_key(f"file:{path}", {})
    with pytest.raises(FileExistsError):
        make_root_key_file(path)
    assert read_root_key(f"file:{path}", {}) == key


def test_what_is_wrapped_opens_for_its_purpose_and_names_only() -> None:
    root = Wrapping(KEY)
    wrapped = root.wrap("secrets", b"value", "alice", "key")
    assert root.unwrap("secrets", wrapped, "alice", "key") == b"value"
    assert b"value" not in wrapped
    for key, purpose, stored, names in (
        (KEY, "tokens", wrapped, ("alice", "key")),
        (KEY, "secrets", wrapped, ("alice",)),
        (KEY, "secrets", wrapped, ("alic", "ekey")),
        (KEY, "secrets", wrapped[:-1], ("alice", "key")),
        (KEY, "secrets", b"", ("alice", "key")),
        (bytes(32), "secrets", wrapped, ("alice", "key")),
    ):
        with pytest.raises(NotAuthentic):
            Wrapping(key).unwrap(purpose, stored, *names)


def test_every_flipped_bit_is_noticed() -> None:
    root = Wrapping(KEY)
    wrapped = root.wrap("secrets", b"value")
    for bit in range(8 * len(wrapped)):
        changed = bytearray(wrapped)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(NotAuthentic):
            root.unwrap("secrets", bytes(changed))


def test_a_root_key_shows_its_fingerprint_and_nothing_else() -> None:
    root = Wrapping(KEY)
    assert repr(root) == f"Wrapping(fingerprint={root.fingerprint.hex()})"
    assert root.fingerprint not in KEY
    assert root.fingerprint == Wrapping(KEY).fingerprint != Wrapping(bytes(32)).fingerprint
    with pytest.raises(TypeError):
        pickle.dumps(root)
    with pytest.raises(ValueError, match="32 bytes"):
        Wrapping(KEY[:16])
