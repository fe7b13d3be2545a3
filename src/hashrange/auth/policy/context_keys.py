"""The condition keys that a document names, in conditions and in variables."""

import json
import re
from collections.abc import Iterator
from typing import Any

# All of it is bounded, so that no document takes longer than its length.
_VARIABLE = re.compile(r"\$\{\s{0,16}([^\s,}*?$]{3,256})\s{0,16}(?:,[^}$]{0,256})?\}")


def context_keys(document: str) -> list[str]:
    """The keys of a document, which is known to be one, each once and as it spells them."""
    by_name: dict[str, str] = {}
    for key in _named(document):
        by_name.setdefault(key.lower(), key)
    return sorted(by_name.values(), key=str.lower)


def _named(document: str) -> Iterator[str]:
    content: dict[str, Any] = json.loads(document)
    listed = content["Statement"]
    for statement in listed if isinstance(listed, list) else [listed]:
        for keys in statement.get("Condition", {}).values():
            yield from keys
    for variable in _VARIABLE.finditer(document):
        yield variable[1]
