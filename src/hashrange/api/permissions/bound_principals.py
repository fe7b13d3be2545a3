"""Principals of stored policies: by their unique ids, so that another user or role of the same name is nobody yet."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hashrange.auth import arns
from hashrange.storage.directory import Directory

_ELEMENTS = ("Principal", "NotPrincipal")


def named(content: Mapping[str, Any]) -> Iterator[str]:
    """The principals of AWS that a policy names; an account's number stands for its root."""
    for statement in _listed(content["Statement"]):
        for element in _ELEMENTS:
            principals = statement.get(element)
            if isinstance(principals, dict):
                for name in _listed(principals.get("AWS", [])):
                    if name != "*":
                        yield arns.account_root(name) if name.isdecimal() else name


def bound(text: str, directory: Directory) -> str:
    """A policy with the ids of users and roles in place of their ARNs."""
    return _renamed(text, directory.unique_id)


def shown(text: str, bound_text: str, directory: Directory) -> str:
    """A policy as it was sent; if somebody in it is gone, with the id, which is nobody's any more."""
    current = _renamed(bound_text, directory.arn_of_id)
    return text if json.loads(current) == json.loads(_renamed(text, _unchanged)) else current


def _renamed(text: str, rename: Callable[[str], str | None]) -> str:
    content = json.loads(text)
    for statement in _listed(content["Statement"]):
        for element in _ELEMENTS:
            principals = statement.get(element)
            if isinstance(principals, dict) and "AWS" in principals:
                principals["AWS"] = [rename(name) or name for name in _listed(principals["AWS"])]
    return json.dumps(content)


def _unchanged(name: str) -> str:
    return name


def _listed(element: Any) -> list[Any]:
    return element if isinstance(element, list) else [element]
