"""Tables that many tests share; each test uses keys of its own."""

from typing import Any

import pytest

from item_tables import index, make_table


@pytest.fixture(scope="session")
def hash_table(client: Any) -> str:
    """A table with the hash key `pk`."""
    return make_table(client, "pk")


@pytest.fixture(scope="session")
def range_table(client: Any) -> str:
    """A table with the hash key `pk` and the range key `sk`, both strings."""
    return make_table(client, "pk", "sk")


@pytest.fixture(scope="session")
def number_table(client: Any) -> str:
    """A table with the hash key `pk` and a numeric range key `sk`."""
    return make_table(client, "pk", "sk", types={"sk": "N"})


@pytest.fixture(scope="session")
def binary_table(client: Any) -> str:
    """A table with the hash key `pk` and a binary range key `sk`."""
    return make_table(client, "pk", "sk", types={"sk": "B"})


@pytest.fixture(scope="session")
def indexed_table(client: Any) -> str:
    """A table (`pk`, `sk`) with local and global indexes of every projection.

    Local, with range key `l`: `local-all`, `local-keys`, `local-some` (carries `carried`).
    Global, with keys `g` and `n` (a number): `global-all`, `global-keys`, `global-some`; `global-hash` has only `g`.
    """
    return make_table(
        client,
        "pk",
        "sk",
        types={"l": "S", "g": "S", "n": "N"},
        LocalSecondaryIndexes=[
            index("local-all", "pk", "l"),
            index("local-keys", "pk", "l", projection="KEYS_ONLY"),
            index("local-some", "pk", "l", projection="INCLUDE", included=("carried",)),
        ],
        GlobalSecondaryIndexes=[
            index("global-all", "g", "n"),
            index("global-keys", "g", "n", projection="KEYS_ONLY"),
            index("global-some", "g", "n", projection="INCLUDE", included=("carried",)),
            index("global-hash", "g"),
        ],
    )
