"""Keys as paths: no two keys share one, none leads out of the bucket, every one is read back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.objects import file_names

parts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.text(st.sampled_from("./%aA2E\x00\n"), max_size=8),
    st.text(st.sampled_from("xü%."), min_size=200, max_size=300),
    st.sampled_from(["%object", "%uploads", "%", "%25", "..", "."]),
)
keys = st.lists(parts, min_size=1, max_size=5).map("/".join).filter(bool)


def key_of(path: list[str]) -> str:
    entries = [file_names.entry(name, is_directory=place < len(path) - 1) for place, name in enumerate(path)]
    return "".join(entry.text for entry in entries if entry is not None)


@given(keys)
def test_a_path_is_read_back(key: str) -> None:
    path = file_names.path_parts(key)
    assert key_of(path) == key
    assert file_names.is_path_of(key, path)
    assert file_names.is_path_of(key, [*path[:-1], path[-1] + file_names.OBJECT])


@given(keys)
def test_every_name_is_one_that_a_file_may_have(key: str) -> None:
    path = file_names.path_parts(key)
    assert len((path[-1] + file_names.OBJECT).encode()) <= 255
    for name in path:
        assert name not in {"", ".", "..", file_names.UPLOADS}
        assert not re.search(r"[/\x00-\x1f\x7f]", name)
        assert len(name.encode()) <= 255


@given(st.lists(keys, min_size=2, max_size=12, unique=True))
def test_different_keys_have_different_paths(several: list[str]) -> None:
    paths = {"/".join(file_names.path_parts(key)) for key in several}
    assert len(paths) == len(several)


@pytest.mark.parametrize(
    "key", ["AWSDynamoDB/01700000000000-0123abcd/data/x7.json.gz", "my data.csv", ".x/é"]
)
def test_ordinary_keys_are_their_own_paths(key: str) -> None:
    assert "/".join(file_names.path_parts(key)) == key
