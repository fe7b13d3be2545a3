"""The structures of requests and answers have the members of the service's own model, as botocore has it.

A new release of the SDK shows here what our operations lack. Lengths, ranges and patterns are left to the tests of
each operation: the service itself does not keep to its model there, and we keep to the service.
"""

import re
import sys
from collections.abc import Iterator

import msgspec
import pytest
from botocore.model import ServiceModel

from hashrange.api.registry import DYNAMODB
from hashrange.services.autoscaling.registry import AUTO_SCALING
from hashrange.services.streams.registry import STREAMS
from service_model import (
    application_auto_scaling,
    differences,
    dynamodb,
    dynamodb_streams,
    output_differences,
)

# Newer than the pinned SDK's model; take them out when it has them.
NEWER_OPERATIONS = {"CancelBulkOperation", "DescribeBulkOperation", "ListBulkOperations", "StartBulkPutItems"}
OPERATIONS = {
    name: operation
    for name, operation in (DYNAMODB.operations | STREAMS.operations).items()
    if name not in NEWER_OPERATIONS
}

# By the end of what `service_model` says.
_LIMITS = re.compile(r": (least|most|pattern): the model has ")
# Decoding fails on members that it does not know, so that the slow path takes them out.
_STRICT = ": the structure refuses members it does not know"

_LAX = "the service words this itself, in the operation's own code and not as a constraint of the shape"
_REPLICAS = "global tables are not there yet"
_MODE = "the service's own messages name this member, which its published model does not have"
_FILTER = "the service asks for both members of a filter"
_NEWER = "newer than the pinned SDK's model"
_OPERATORS = (
    "['BEGINS_WITH', 'BETWEEN', 'CONTAINS', 'EQ', 'GE', 'GT', 'IN', 'LE', 'LT', 'NE', 'NOT_CONTAINS', 'NOT_NULL', "
    "'NULL']"
)
_SELECTS = "['ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'COUNT', 'SPECIFIC_ATTRIBUTES']"
_WRITES = ("DeleteItem", "PutItem", "UpdateItem")
KNOWN_REQUESTS = {
    **{
        f"{operation}.ConditionalOperator: the model has the values ['AND', 'OR'], the structure []": _LAX
        for operation in (*_WRITES, "Query")
    },
    **{
        f"{operation}.Expected{{}}.ComparisonOperator: the model has the values {_OPERATORS}, the structure []": _LAX
        for operation in _WRITES
    },
    f"Query.Select: the model has the values {_SELECTS}, the structure []": _LAX,
    "BatchGetItem.RequestItems: the model requires it, the structure does not": _LAX,
    "BatchWriteItem.RequestItems: the model requires it, the structure does not": _LAX,
    "DescribeStream.ShardFilter.ShardId: the model lets it be left out, the structure does not": _FILTER,
    "DescribeStream.ShardFilter.Type: the model lets it be left out, the structure does not": _FILTER,
    "GetShardIterator.ShardIteratorType: the model has the values ['AFTER_SEQUENCE_NUMBER', 'AT_SEQUENCE_NUMBER', "
    "'LATEST', 'TRIM_HORIZON'], the structure ['AFTER_SEQUENCE_NUMBER', 'AT_SEQUENCE_NUMBER', 'AT_TIMESTAMP', "
    "'LATEST', 'TRIM_HORIZON']": _NEWER,
    "GetShardIterator.Timestamp: the model does not have it": _NEWER,
    "ExportTableToPointInTime.FilterSpecification: the model does not have it": _NEWER,
    "CreateTable.TableClass: the model has the values ['STANDARD', 'STANDARD_INFREQUENT_ACCESS'], "
    "the structure []": _LAX,
    "CreateTable.TableThroughputMode: the model does not have it": _MODE,
    "CreateTable.Tags[].Key: the model requires it, the structure does not": _LAX,
    "CreateTable.Tags[].Value: the model requires it, the structure does not": _LAX,
    "ListTagsOfResource.ResourceArn: the model requires it, the structure does not": _LAX,
    "TagResource.ResourceArn: the model requires it, the structure does not": _LAX,
    "TagResource.Tags: the model requires it, the structure does not": _LAX,
    "TagResource.Tags[].Key: the model requires it, the structure does not": _LAX,
    "TagResource.Tags[].Value: the model requires it, the structure does not": _LAX,
    "UntagResource.ResourceArn: the model requires it, the structure does not": _LAX,
    "UntagResource.TagKeys: the model requires it, the structure does not": _LAX,
    "UpdateTable.GlobalTableWitnessUpdates: the structure does not have it": _REPLICAS,
    "UpdateTable.MultiRegionConsistency: the structure does not have it": _REPLICAS,
    "UpdateTable.ReplicaUpdates[].Create: the structure does not have it": _REPLICAS,
    "UpdateTable.ReplicaUpdates[].Delete: the structure does not have it": _REPLICAS,
    "UpdateTable.ReplicaUpdates[].Update: the structure does not have it": _REPLICAS,
    "UpdateTable.TableClass: the model has the values ['STANDARD', 'STANDARD_INFREQUENT_ACCESS'], "
    "the structure []": _LAX,
    "UpdateTable.TableThroughputMode: the model does not have it": _MODE,
}
KNOWN_ANSWERS = {
    **{
        f"{operation}.ExportDescription.{member}: the model does not have it": _NEWER
        for operation in ("DescribeExport", "ExportTableToPointInTime")
        for member in ("DestinationType", "FilterSpecification")
    },
    "CreateTable.TableDescription.TableThroughputModeSummary: the model does not have it": _MODE,
    "DeleteTable.TableDescription.TableThroughputModeSummary: the model does not have it": _MODE,
    "DescribeTable.Table.TableThroughputModeSummary: the model does not have it": _MODE,
    "RestoreTableFromBackup.TableDescription.TableThroughputModeSummary: the model does not have it": _MODE,
    "RestoreTableToPointInTime.TableDescription.TableThroughputModeSummary: the model does not have it": _MODE,
    "UpdateTable.TableDescription.TableThroughputModeSummary: the model does not have it": _MODE,
}


def model_of(operation: str) -> ServiceModel:
    return dynamodb_streams() if operation in STREAMS.operations else dynamodb()


def request_differences(operation: str) -> list[str]:
    """Members, types, what is required and enumerations."""
    structure = OPERATIONS[operation].shape.request
    return [
        difference
        for difference in differences(operation, structure, model=model_of(operation))
        if not (_LIMITS.search(difference) or difference.endswith(_STRICT))
    ]


def outputs() -> Iterator[tuple[str, type[msgspec.Struct]]]:
    """The structures of answers that are described by one, by operation."""
    for name, operation in OPERATIONS.items():
        structure = getattr(sys.modules[operation.handler.__module__], f"{name}Output", None)
        if structure is not None:
            yield name, structure


OUTPUTS = dict(outputs())


def answer_differences(operation: str) -> list[str]:
    """Members that the model does not have, and types; we leave out what we have nothing to say about.

    Of an answer's enumerations we give the values that we have.
    """
    made = output_differences(operation, OUTPUTS[operation], model=model_of(operation))
    return [difference for difference in made if _matters(difference)]


def _matters(difference: str) -> bool:
    left_out = ("the structure does not have it", "the model lets it be left out, the structure does not")
    return not (
        difference.endswith(left_out)
        or _LIMITS.search(difference)
        or ": the model has the values " in difference
        or "the model requires it" in difference
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_request_has_the_members_of_the_model(operation: str) -> None:
    assert [one for one in request_differences(operation) if one not in KNOWN_REQUESTS] == []


def test_no_exception_for_requests_has_outlived_its_reason() -> None:
    made = {one for operation in OPERATIONS for one in request_differences(operation)}
    assert KNOWN_REQUESTS.keys() - made == set()


@pytest.mark.parametrize("operation", OUTPUTS)
def test_an_answer_has_only_members_of_the_model(operation: str) -> None:
    assert [one for one in answer_differences(operation) if one not in KNOWN_ANSWERS] == []


def test_no_exception_for_answers_has_outlived_its_reason() -> None:
    made = {one for operation in OUTPUTS for one in answer_differences(operation)}
    assert KNOWN_ANSWERS.keys() - made == set()


def test_the_answers_of_all_control_operations_are_compared() -> None:
    control = {name for name, operation in OPERATIONS.items() if operation.kind == "control"}
    assert control - OUTPUTS.keys() == {"TagResource", "UntagResource"}  # whose answers have no body


def test_every_operation_is_one_of_the_service() -> None:
    assert set(DYNAMODB.operations) - NEWER_OPERATIONS <= set(dynamodb().operation_names)
    assert not NEWER_OPERATIONS & set(dynamodb().operation_names)
    assert set(STREAMS.operations) == set(dynamodb_streams().operation_names)


_NOT_OFFERED = "of policies that there are not for DynamoDB"
_REFUSED = "a metric of one's own is refused whatever it is"
KNOWN_SCALING_REQUESTS = {
    "PutScalingPolicy.PredictiveScalingPolicyConfiguration: the structure does not have it": _NOT_OFFERED,
    "PutScalingPolicy.StepScalingPolicyConfiguration: the structure does not have it": _NOT_OFFERED,
    **{
        "PutScalingPolicy.TargetTrackingScalingPolicyConfiguration.CustomizedMetricSpecification."
        f"{member}: the structure does not have it": _REFUSED
        for member in ("Dimensions", "MetricName", "Metrics", "Namespace", "Statistic", "Unit")
    },
}


@pytest.mark.parametrize("operation", AUTO_SCALING.operations)
def test_requests_of_auto_scaling_have_the_members_of_the_model(operation: str) -> None:
    structure = AUTO_SCALING.operations[operation].shape.request
    made = {
        difference
        for difference in differences(operation, structure, model=application_auto_scaling())
        if not (_LIMITS.search(difference) or difference.endswith(_STRICT))
    }
    known = {one for one in KNOWN_SCALING_REQUESTS if one.startswith(f"{operation}.")}
    assert made == known


@pytest.mark.parametrize("operation", AUTO_SCALING.operations)
def test_answers_of_auto_scaling_have_only_members_of_the_model(operation: str) -> None:
    module = sys.modules[AUTO_SCALING.operations[operation].handler.__module__]
    structure = getattr(module, f"{operation}Output")
    made = output_differences(operation, structure, model=application_auto_scaling())
    assert [one for one in made if _matters(one)] == []


def test_every_operation_of_auto_scaling_is_there_but_the_forecast() -> None:
    missing = set(application_auto_scaling().operation_names) - set(AUTO_SCALING.operations)
    assert missing == {"GetPredictiveScalingForecast"}
    assert set(AUTO_SCALING.operations) <= set(application_auto_scaling().operation_names)
