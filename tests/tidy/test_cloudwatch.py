"""CloudWatch's operations, their structures and its errors are those of the service's own model."""

import importlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import botocore.session
import msgspec
import pytest
from botocore.model import ServiceModel

from hashrange.services.cloudwatch.registry import CLOUDWATCH
from service_model import differences, output_differences

_LIMITS = re.compile(r": (least|most|pattern): the model has ")
_STRICT = ": the structure refuses members it does not know"
_PAGE = (Path(__file__).parents[2] / "docs" / "compatibility.md").read_text()
# Composite alarms, of which there are none, are not described.
_LEFT_OUT = "DescribeAlarms.CompositeAlarms[]."


@cache
def model() -> ServiceModel:
    return botocore.session.get_session().get_service_model("cloudwatch")


def outputs() -> Iterator[tuple[str, type[msgspec.Struct]]]:
    for name, operation in CLOUDWATCH.operations.items():
        module = sys.modules[operation.handler.__module__]
        structure = getattr(module, f"{name}Output", None)
        if structure is not None:
            yield name, structure


OUTPUTS = dict(outputs())


def test_an_operation_lives_in_the_module_of_its_name() -> None:
    for name, operation in CLOUDWATCH.operations.items():
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        assert operation.handler.__module__ == f"hashrange.services.cloudwatch.{snake}"
        assert operation.action == f"cloudwatch:{name}"
    assert list(CLOUDWATCH.operations) == sorted(CLOUDWATCH.operations)
    assert set(CLOUDWATCH.operations) <= set(model().operation_names)


@pytest.mark.parametrize("name", CLOUDWATCH.operations)
def test_a_request_has_the_members_of_the_model(name: str) -> None:
    request = CLOUDWATCH.operations[name].shape.request
    found = differences(name, request, model=model())
    assert [one for one in found if not one.endswith(_STRICT) and not _LIMITS.search(one)] == []


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_answer_has_only_members_of_the_model(name: str) -> None:
    found = output_differences(name, OUTPUTS[name], model=model())
    absent = ("the structure does not have it", "the model lets it be left out, the structure does not")
    wrong = [
        one
        for one in found
        if not one.endswith((_STRICT, *absent))
        and not _LIMITS.search(one)
        and ": the model has the values " not in one
        and not one.startswith(_LEFT_OUT)
    ]
    assert wrong == []


def test_every_answer_of_the_model_is_there() -> None:
    with_output = {name for name in CLOUDWATCH.operations if model().operation_model(name).output_shape}
    assert set(OUTPUTS) == with_output


def test_errors_have_the_codes_of_the_model() -> None:
    assert CLOUDWATCH.query is not None
    codes = CLOUDWATCH.query.codes
    errors = importlib.import_module("hashrange.services.cloudwatch.errors")
    raised = [
        errors.invalid_value(""),
        errors.invalid_combination(""),
        errors.missing(""),
        errors.invalid_token(),
        errors.no_such_alarm(),
        errors.no_such_resource(""),
        errors.limit_exceeded(""),
        errors.conflict(),
    ]
    for error in raised:
        modelled = model().shape_for(error.code).metadata["error"]
        assert codes.get(error.code, error.code) == modelled.get("code", error.code)
        assert error.status == modelled["httpStatusCode"]


def test_the_page_on_compatibility_lists_every_operation_and_what_it_does_not_do() -> None:
    section = _PAGE.split("## CloudWatch\n")[1].split("\n## ")[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert listed == set(CLOUDWATCH.operations)
