"""Clients of IAM and STS, and names that no other test has."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def iam(make_client: Callable[..., Any]) -> Any:
    return make_client("iam")


@pytest.fixture(scope="session")
def sts(make_client: Callable[..., Any]) -> Any:
    return make_client("sts")


@pytest.fixture
def name() -> str:
    return f"n-{uuid.uuid4().hex[:12]}"
