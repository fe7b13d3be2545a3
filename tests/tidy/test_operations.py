"""One operation, one module, one name."""

import re

from hashrange import server
from hashrange.api import registry


def test_an_operation_lives_in_the_module_of_its_name() -> None:
    server.load_operations()
    wrong = {
        operation.name: operation.handler.__module__
        for operation in registry.operations.values()
        if operation.handler.__module__.rpartition(".")[2] != snake_case(operation.name)
    }
    assert wrong == {}


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
