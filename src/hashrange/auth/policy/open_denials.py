"""Open denials: statements that would deny a request if a condition key that nobody named had the right value.

Only simulations have them: a real request has all of its keys, and one that it lacks is absent.
"""

from collections.abc import Callable

from hashrange.auth.policy.decision import Rules
from hashrange.auth.policy.keys import ConditionKeys
from hashrange.auth.policy.reasons import Match, Recorded, matches
from hashrange.auth.policy.statements import Asked

IsUnknown = Callable[[str], bool]  # of a key without a value: whether a real request might have one


def open_keys(asked: Asked, rules: Rules, is_unknown: IsUnknown) -> list[str]:
    """The keys on which denials depend, each once, in lower case."""
    keys: dict[str, None] = {}
    for match in matches(asked, rules):
        if not (match.statement.allows or match.applies or match.other_principal):
            keys.update(dict.fromkeys(_missing(match, asked, is_unknown)))
    return list(keys)


def _missing(match: Match, asked: Asked, is_unknown: IsUnknown) -> list[str]:
    """The unknown keys that keep a statement from applying; none if something that is known does, too."""
    missing: list[str] = []
    obstacles: list[Callable[[ConditionKeys], object]] = [condition.holds for condition in match.unmet]
    resources = match.statement.resources
    if match.other_resource and resources is not None:
        obstacles.append(lambda keys: resources.include(asked.resource, keys))
    for looked_at in obstacles:
        recorded = Recorded(asked.keys)
        looked_at(recorded)
        unknown = [key for key, value in recorded.seen.items() if value is None and is_unknown(key)]
        if not unknown:
            return []
        missing += unknown
    return missing
