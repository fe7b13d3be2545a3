"""Faults that users have asked for, and where all workers and servers on the same data find them."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from hashrange.storage import layout
from hashrange.storage.engine import Reader, Transaction

READS = (layout.FAULTS,)  # the row that all of this is about: a hint for engines across a network
RULES_MAX = 100

Fault = Literal["throttle", "latency", "conflict", "error"]


class FaultRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which requests fail, how, and how often."""

    id: str
    fault: Fault
    rate: float  # of requests, or of items where a batch can fail in part; 1.0 is all of them
    expires_epoch_seconds: float
    operations: tuple[str, ...] = ()  # none: all that read or write items
    tables: tuple[str, ...] = ()  # none: all
    latency_ms: int = 0
    after: bool = False  # the request is carried out, and only its answer is an error
    seed: int | None = None
    times: int | None = None  # after so many faults the rule is over, in each process; None: never
    account_id: str | None = None  # whose requests fail; None: everybody's


class TooManyRules(Exception):
    """There is no room for another rule."""


_decode = msgspec.json.Decoder(tuple[FaultRule, ...]).decode


def stored_rules(reader: Reader) -> tuple[FaultRule, ...]:
    """All rules, expired ones too."""
    stored = reader.get(layout.FAULTS)
    return () if stored is None else _decode(stored)


def add(tx: Transaction, rule: FaultRule, now: float) -> tuple[FaultRule, ...]:
    """Add a rule; give all that are in force."""
    rules = [other for other in stored_rules(tx) if other.expires_epoch_seconds > now]
    if len(rules) >= RULES_MAX:
        raise TooManyRules
    return _save(tx, [*rules, rule])


def clear(tx: Transaction, rule_id: str | None) -> tuple[FaultRule, ...]:
    """Remove one rule, or all; give those that are left."""
    return _save(tx, [rule for rule in stored_rules(tx) if rule_id is not None and rule.id != rule_id])


def clear_account(tx: Transaction, account_id: str) -> tuple[FaultRule, ...]:
    """Remove the rules of one account; give those that are left."""
    return _save(tx, [rule for rule in stored_rules(tx) if rule.account_id != account_id])


def _save(tx: Transaction, rules: Sequence[FaultRule]) -> tuple[FaultRule, ...]:
    if rules:
        tx.put(layout.FAULTS, msgspec.json.encode(rules))
    else:
        tx.delete(layout.FAULTS)
    return tuple(rules)
