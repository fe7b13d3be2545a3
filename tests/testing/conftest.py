"""One server for the tests of a worker: that of the plugin itself. A boto3 client shows errors the first time."""

from typing import Any

import pytest
from botocore.config import Config

from hashrange.testing import Namespace

ONCE = Config(retries={"total_max_attempts": 1})
ORDERS = {
    "TableName": "orders",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def namespace(dynamodb_namespace: Namespace) -> Namespace:
    """The test's namespace, with a table."""
    dynamodb_namespace.create_tables(ORDERS)
    return dynamodb_namespace


@pytest.fixture
def client(namespace: Namespace) -> Any:
    """A client of it that does not retry."""
    return namespace.client(config=ONCE)
