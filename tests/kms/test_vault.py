"""Ciphertexts: they open under their key, material and context, and under no other."""

import subprocess
import sys
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.kms.ciphertexts import head_of, material_id
from hashrange.kms.errors import NotAuthentic
from hashrange.kms.framing import framed, framed_context
from hashrange.kms.interface import Material
from hashrange.kms.vault import Vault
from hashrange.kms.wrapping import Wrapping

ARN = f"arn:aws:kms:us-east-1:000000000000:key/{uuid.UUID(int=7)}"
VAULT = Vault(Wrapping(bytes(32)))
CONTEXTS = st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3)


def material(number: int = 1, arn: str = ARN) -> Material:
    return Material(arn, number, VAULT.new_material(arn, number))


@given(CONTEXTS, CONTEXTS)
def test_different_contexts_have_different_bytes(one: dict[str, str], other: dict[str, str]) -> None:
    assert (framed_context(one) == framed_context(other)) == (one == other)


@given(st.lists(st.binary(max_size=3), max_size=3), st.lists(st.binary(max_size=3), max_size=3))
def test_different_lists_have_different_bytes(one: list[bytes], other: list[bytes]) -> None:
    assert (framed(*one) == framed(*other)) == (one == other)


@given(st.binary(max_size=100), CONTEXTS)
def test_what_is_encrypted_comes_back(plaintext: bytes, context: dict[str, str]) -> None:
    third = material(3)
    ciphertext = VAULT.encrypt(third, plaintext, context)
    assert head_of(ciphertext) == (str(uuid.UUID(int=7)), 3)
    assert VAULT.decrypt(third, ciphertext, context) == plaintext


def test_another_context_key_or_material_opens_nothing() -> None:
    first = material()
    ciphertext = VAULT.encrypt(first, b"text", {"ab": "c"})
    for other, context in (
        (first, {"a": "bc"}),
        (first, {}),
        (material(), {"ab": "c"}),
        (first._replace(number=2), {"ab": "c"}),
        (first._replace(key_arn=ARN.replace("us-east-1", "eu-west-1")), {"ab": "c"}),
    ):
        with pytest.raises(NotAuthentic):
            VAULT.decrypt(other, ciphertext, context)


def test_every_flipped_bit_of_a_ciphertext_is_noticed() -> None:
    first = material()
    ciphertext = VAULT.encrypt(first, b"text", {})
    for bit in range(8 * len(ciphertext)):
        changed = bytearray(ciphertext)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(NotAuthentic):
            VAULT.decrypt(first, bytes(changed), {})


@pytest.mark.parametrize("ciphertext", [b"", b"\x01", b"\x02" * 80, b"\x01" * 52])
def test_what_cannot_be_a_ciphertext_is_none(ciphertext: bytes) -> None:
    with pytest.raises(NotAuthentic):
        head_of(ciphertext)


def test_material_has_an_id_that_does_not_give_it_away() -> None:
    assert len(material_id("key", 1)) == 64
    assert len({material_id("key", 1), material_id("key", 2), material_id("other", 1)}) == 3


def test_a_server_without_a_root_key_does_not_load_the_cipher() -> None:
    program = "import sys, hashrange.server; print('cryptography' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert process.stdout == "False\n"
