"""Ciphertexts: they open under their key, material and context, and under no other."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.kms.cipher import NotAuthentic
from hashrange.kms.framing import framed, framed_context
from hashrange.kms.key_material import Vault, material_id, taken_apart
from hashrange.kms.root_key import RootKey

ARN = f"arn:aws:kms:us-east-1:000000000000:key/{uuid.UUID(int=7)}"
VAULT = Vault(RootKey(bytes(32)))
CONTEXTS = st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3)


@given(CONTEXTS, CONTEXTS)
def test_different_contexts_have_different_bytes(one: dict[str, str], other: dict[str, str]) -> None:
    assert (framed_context(one) == framed_context(other)) == (one == other)


@given(st.lists(st.binary(max_size=3), max_size=3), st.lists(st.binary(max_size=3), max_size=3))
def test_different_lists_have_different_bytes(one: list[bytes], other: list[bytes]) -> None:
    assert (framed(*one) == framed(*other)) == (one == other)


@given(st.binary(max_size=100), CONTEXTS)
def test_what_is_encrypted_comes_back(plaintext: bytes, context: dict[str, str]) -> None:
    material = 3, VAULT.new_material(ARN, 3)
    blob = VAULT.encrypt(ARN, material, plaintext, context)
    parts = taken_apart(blob)
    assert ARN.endswith(parts.key_id)
    assert parts.material_number == 3
    assert VAULT.decrypt(ARN, material, parts, context) == plaintext


def test_another_context_key_or_material_opens_nothing() -> None:
    material = 1, VAULT.new_material(ARN, 1)
    blob = VAULT.encrypt(ARN, material, b"text", {"ab": "c"})
    other_arn = ARN.replace("us-east-1", "eu-west-1")
    for arn, wrapped, context in (
        (ARN, material, {"a": "bc"}),
        (ARN, material, {}),
        (ARN, (1, VAULT.new_material(ARN, 1)), {"ab": "c"}),
        (ARN, (2, material[1]), {"ab": "c"}),
        (other_arn, material, {"ab": "c"}),
    ):
        with pytest.raises(NotAuthentic):
            VAULT.decrypt(arn, wrapped, taken_apart(blob), context)


def test_every_flipped_bit_of_a_ciphertext_is_noticed() -> None:
    material = 1, VAULT.new_material(ARN, 1)
    blob = VAULT.encrypt(ARN, material, b"text", {})
    for bit in range(8 * len(blob)):
        changed = bytearray(blob)
        changed[bit // 8] ^= 1 << bit % 8
        assert not opens(bytes(changed), material)


def opens(blob: bytes, material: tuple[int, bytes]) -> bool:
    """Whether a ciphertext is taken for one of this material."""
    try:
        parts = taken_apart(blob)
        if (parts.key_id, parts.material_number) != (ARN.rpartition("/")[2], material[0]):
            return False  # it leads to other material, or to none
        VAULT.decrypt(ARN, material, parts, {})
    except NotAuthentic:
        return False
    return True


@pytest.mark.parametrize("blob", [b"", b"\x01", b"\x02" * 80, b"\x01" * 52])
def test_what_cannot_be_a_ciphertext_is_none(blob: bytes) -> None:
    with pytest.raises(NotAuthentic):
        taken_apart(blob)


def test_material_has_an_id_that_does_not_give_it_away() -> None:
    wrapped = VAULT.new_material(ARN, 1)
    assert len(material_id(wrapped)) == 64
    assert material_id(wrapped) != material_id(VAULT.new_material(ARN, 1))
