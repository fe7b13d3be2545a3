"""Random WHERE clauses of a tenant: whatever is answered, it is theirs, and whatever is written, too."""

import random
from collections import Counter
from typing import Any

import pytest

from hashrange.api.errors import ApiError
from permissions.callers import DENIED, Guarded
from permissions.test_tenants import TENANT

OWNERS, IDS = ("alice", "bob", "*", "alic"), ("1", "2", "3")
STATEMENTS = 1200


def _condition(dice: random.Random, depth: int) -> str:
    if depth and dice.random() < 0.55:
        parts = [_condition(dice, depth - 1) for _ in range(dice.choice((2, 2, 3)))]
        joined = f" {dice.choice(('AND', 'AND', 'OR'))} ".join(parts)
        return f"{'NOT ' if dice.random() < 0.15 else ''}({joined})"
    owner, other = dice.choices(OWNERS, (6, 3, 1, 1), k=2)
    number = dice.choice(IDS)
    return dice.choice(
        (
            *(f"owner = '{owner}'",) * 4,
            f"'{owner}' = owner",
            f"owner IN ['{owner}']",
            f"owner IN ['{owner}', '{other}']",
            f"owner <> '{owner}'",
            f"owner BETWEEN '{owner}' AND '{other}'",
            f"begins_with(owner, '{owner[:2]}')",
            *(f"id = '{number}'",) * 2,
            f"id > '{number}'",
            f"id IN ['{number}', '2']",
            f"secret = '{owner}'",
            "owner = secret",
            "attribute_exists(secret)" if dice.random() < 0.1 else "secret IS NOT MISSING",
        )
    )


def _filled() -> Guarded:
    server = Guarded()
    server.table()
    for owner in OWNERS:
        for number in IDS:
            item = {"owner": owner, "id": number, "secret": owner, "city": "Rome"}
            server.call(
                "PutItem", TableName="orders", Item={name: {"S": text} for name, text in item.items()}
            )
    return server


@pytest.mark.parametrize("seed", range(3))
def test_a_tenant_is_answered_with_their_own_items_only(seed: int) -> None:
    dice, server, outcomes = random.Random(seed), _filled(), Counter[str]()
    for _ in range(STATEMENTS):
        text = f"SELECT * FROM orders WHERE {_condition(dice, 2)}"
        try:
            items = server.ask(TENANT, "ExecuteStatement", Statement=text)["Items"]
        except ApiError as error:
            outcomes[error.code] += 1
            continue
        outcomes["answered"] += 1
        assert {item["owner"]["S"] for item in items} <= {"alice"}, text
    assert outcomes["answered"] > STATEMENTS / 50, outcomes
    assert outcomes[DENIED] > STATEMENTS / 10, outcomes


@pytest.mark.parametrize("verb", ["UPDATE orders SET touched = 1", "DELETE FROM orders"])
def test_a_tenant_writes_their_own_items_only(verb: str) -> None:
    dice, server, outcomes = random.Random(verb), _filled(), Counter[str]()
    for _ in range(STATEMENTS):
        keyed = f"owner = '{dice.choice(OWNERS)}' AND id = '{dice.choice(IDS)}'"
        where = keyed if dice.random() < 0.3 else f"{keyed} AND {_condition(dice, 1)}"
        operation, request = "ExecuteStatement", dict[str, Any](Statement=f"{verb} WHERE {where}")
        if dice.random() < 0.3:
            operation, request = "BatchExecuteStatement", {"Statements": [request]}
        try:
            server.ask(TENANT, operation, **request)
            outcomes["answered"] += 1
        except ApiError as error:
            outcomes[error.code] += 1
    others = [
        item for item in server.call("Scan", TableName="orders")["Items"] if item["owner"]["S"] != "alice"
    ]
    assert len(others) == (len(OWNERS) - 1) * len(IDS)
    assert not any("touched" in item for item in others)
    assert outcomes["answered"] > STATEMENTS / 50, outcomes
