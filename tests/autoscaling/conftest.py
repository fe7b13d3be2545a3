"""A client of Application Auto Scaling, and tables to scale."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from item_tables import index, make_table

UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


@pytest.fixture(scope="session")
def scaling(make_client: Callable[..., Any]) -> Any:
    return make_client("application-autoscaling")


@pytest.fixture
def region_scaling(make_client: Callable[..., Any]) -> Any:
    """A client for a region of its own, where no other test has anything."""
    return make_client("application-autoscaling", region=f"test-{uuid4().hex[:8]}-1")


@pytest.fixture(scope="module")
def table(client: Any) -> str:
    """A provisioned table with a global and a local index."""
    return make_table(
        client,
        "pk",
        "sk",
        types={"g": "S", "l": "S"},
        BillingMode="PROVISIONED",
        ProvisionedThroughput=UNITS,
        GlobalSecondaryIndexes=[{**index("glo", "g"), "ProvisionedThroughput": UNITS}],
        LocalSecondaryIndexes=[index("loc", "pk", "l")],
    )
