"""Hypothesis strategies for attribute values, shared by property tests."""

import base64
from typing import Any

from hypothesis import strategies as st

# The service's JSON carries no lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
number_texts = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.builds("{}E{}".format, st.integers(-999, 999), st.integers(-120, 120)),
    st.decimals(-1000, 1000, allow_nan=False, allow_infinity=False, places=3).map(str),
)
base64_texts = st.binary(max_size=6).map(lambda raw: base64.b64encode(raw).decode("ascii"))

strings = st.fixed_dictionaries({"S": texts})
numbers = st.fixed_dictionaries({"N": number_texts})
binaries = st.fixed_dictionaries({"B": base64_texts})
scalars = st.one_of(
    strings,
    numbers,
    binaries,
    st.fixed_dictionaries({"BOOL": st.booleans()}),
    st.just({"NULL": True}),
)
sets = st.one_of(
    st.fixed_dictionaries({"SS": st.lists(texts, min_size=1, max_size=4, unique=True)}),
    st.fixed_dictionaries(
        {"NS": st.lists(st.integers(-99, 99).map(str), min_size=1, max_size=4, unique=True)}
    ),
    st.fixed_dictionaries({"BS": st.lists(base64_texts, min_size=1, max_size=4, unique=True)}),
)


def _documents(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries({"L": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"M": st.dictionaries(texts.filter(bool), inner, max_size=3)}),
    )


values = st.recursive(st.one_of(scalars, sets), _documents, max_leaves=6)
items = st.dictionaries(texts.filter(bool), values, max_size=4)
