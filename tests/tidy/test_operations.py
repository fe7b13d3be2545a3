"""One operation, one module, one name."""

import re

from hashrange.api.registry import DYNAMODB


def test_an_operation_lives_in_the_module_of_its_name() -> None:
    wrong = {
        operation.name: operation.handler.__module__
        for operation in DYNAMODB.operations.values()
        if operation.handler.__module__.rpartition(".")[2] != snake_case(operation.name)
    }
    assert wrong == {}


def test_the_table_of_operations_is_sorted() -> None:
    assert list(DYNAMODB.operations) == sorted(DYNAMODB.operations)


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
