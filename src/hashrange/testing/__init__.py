"""For test suites: a server of their own, a fresh namespace for every test, and a hand on its clock and its faults."""

from hashrange.testing.assertions import assert_capacity, assert_no_scans
from hashrange.testing.clock import Clock
from hashrange.testing.control import TestingFailed
from hashrange.testing.faults import Fault, Faults
from hashrange.testing.namespace import Namespace
from hashrange.testing.request_log import Request, RequestLog
from hashrange.testing.server import Server, shared_server
from hashrange.testing.unittest_mixin import DynamoDBMixin

__all__ = [
    "Clock",
    "DynamoDBMixin",
    "Fault",
    "Faults",
    "Namespace",
    "Request",
    "RequestLog",
    "Server",
    "TestingFailed",
    "assert_capacity",
    "assert_no_scans",
    "shared_server",
]
