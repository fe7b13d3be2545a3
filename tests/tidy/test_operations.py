"""One operation, one module, one name."""

import re

import pytest

from hashrange.api.protocol.operation import Service
from hashrange.api.registry import DYNAMODB
from hashrange.services.autoscaling.registry import AUTO_SCALING
from hashrange.services.cloudwatch.registry import CLOUDWATCH
from hashrange.services.iam.registry import IAM
from hashrange.services.kms.registry import KMS
from hashrange.services.streams.registry import STREAMS
from hashrange.services.sts.registry import STS

SERVICES = (DYNAMODB, STREAMS, AUTO_SCALING, CLOUDWATCH, IAM, KMS, STS)


def test_an_operation_lives_in_the_module_of_its_name() -> None:
    wrong = {
        operation.name: operation.handler.__module__
        for service in SERVICES
        for operation in service.operations.values()
        if operation.handler.__module__.rpartition(".")[2] != snake_case(operation.name)
    }
    assert wrong == {}


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_the_table_of_operations_is_sorted(service: Service) -> None:
    assert list(service.operations) == sorted(service.operations)


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
