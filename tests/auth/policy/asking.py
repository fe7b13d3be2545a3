"""Short ways to write policies and to ask about them."""

import json
from collections.abc import Mapping
from typing import Any

from hashrange.auth.policy.decision import Decision, Rules, decide
from hashrange.auth.policy.documents import Kind, parse
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.keys import KeyValue, keys_of
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.statements import Asked

OURS, OTHERS = "111111111111", "222222222222"
TABLE = f"arn:aws:dynamodb:us-east-1:{OURS}:table/orders"
USER = f"arn:aws:iam::{OURS}:user/alice"
ROLE = f"arn:aws:iam::{OURS}:role/reader"
SESSION = f"arn:aws:sts::{OURS}:assumed-role/reader/work"
STRANGER = f"arn:aws:iam::{OTHERS}:user/eve"

ALICE = Caller(OURS, USER)
READER = Caller(OURS, SESSION, ROLE)
ROOT = Caller(OURS, f"arn:aws:iam::{OURS}:root", is_root=True)
EVE = Caller(OTHERS, STRANGER)


def statement(effect: str = "Allow", **elements: Any) -> dict[str, Any]:
    """A statement about everything, unless it says more."""
    everything: dict[str, Any] = {}
    if "NotAction" not in elements:
        everything["Action"] = "*"
    if "NotResource" not in elements:
        everything["Resource"] = "*"
    return {"Effect": effect} | everything | elements


def policy(
    *statements: dict[str, Any],
    kind: Kind = Kind.IDENTITY,
    version: str | None = "2012-10-17",
    arn: str | None = None,
) -> Policy:
    document: dict[str, Any] = {"Statement": list(statements)}
    if version is not None:
        document["Version"] = version
    return parse(json.dumps(document), kind, name="policy", arn=arn)


def asked(
    action: str = "dynamodb:GetItem",
    resource: str = TABLE,
    caller: Caller = ALICE,
    keys: Mapping[str, KeyValue] | None = None,
    **more: KeyValue,
) -> Asked:
    """Keys are written with two underscores for a colon."""
    named = {name.replace("__", ":"): value for name, value in ({**(keys or {}), **more}).items()}
    return Asked(action, resource, caller, keys_of(named))


def decided(request: Asked, *statements: dict[str, Any]) -> Decision:
    return decide(request, Rules(identity=[policy(*statements)]))


def allows(request: Asked, **elements: Any) -> bool:
    """Whether one statement with these elements allows a request."""
    return decided(request, statement(**elements)).allowed


def holds(operator: str, key: str, values: Any, request: Asked) -> bool:
    """Whether a condition is true of a request."""
    return allows(request, Condition={operator: {key: values}})
