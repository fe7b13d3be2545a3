"""The namespace of the test that is running, for assertions that name none."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashrange.testing.namespace import Namespace

_namespaces: list["Namespace"] = []


def begin(namespace: "Namespace") -> None:
    """Begin a test with a namespace."""
    _namespaces.append(namespace)


def end(namespace: "Namespace") -> None:
    """End it."""
    _namespaces.remove(namespace)


def namespace() -> "Namespace":
    """The namespace of the innermost test."""
    if not _namespaces:
        raise RuntimeError(
            "no test has a namespace: use the fixture `dynamodb`, DynamoDBMixin, or say whose requests are meant"
        )
    return _namespaces[-1]
