"""For unittest: a fresh namespace for every test of a TestCase."""

import unittest
from collections.abc import Sequence
from typing import Any, ClassVar

from hashrange.testing import current
from hashrange.testing.namespace import Namespace
from hashrange.testing.server import Server, shared_server
from hashrange.testing.tables import TableSource


class DynamoDBMixin(unittest.TestCase):
    """Comes before TestCase: `class TestOrders(DynamoDBMixin, unittest.TestCase)`.

    All test cases share one server; `dynamodb_tables` has the sources of the tables that every test begins with.
    """

    dynamodb_tables: ClassVar[Sequence[TableSource]] = ()

    server: Server
    namespace: Namespace
    dynamodb: Any  # a boto3 client

    def setUp(self) -> None:
        super().setUp()
        self.server = shared_server()
        self.namespace = self.server.namespace()
        self.addCleanup(self.namespace.clear)
        current.begin(self.namespace)
        self.addCleanup(current.end, self.namespace)
        self.namespace.create_tables(*self.dynamodb_tables)
        self.dynamodb = self.namespace.client()
