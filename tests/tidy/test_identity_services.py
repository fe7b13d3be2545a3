"""The operations of IAM and STS, their structures and errors are those of the services' own models."""

import re
import sys
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore.model import ServiceModel

from hashrange.api.errors import ApiError
from hashrange.api.protocol.operation import Service
from hashrange.services.iam import errors as iam_errors
from hashrange.services.iam.registry import IAM
from hashrange.services.sts import errors as sts_errors
from hashrange.services.sts.registry import STS
from service_model import differences, output_differences

_LIMITS = re.compile(r": (least|most|pattern): the model has ")
_STRICT = ": the structure refuses members it does not know"
_ABSENT = ("the structure does not have it", "the model lets it be left out, the structure does not")
# The root has no name, only the service itself makes keys expire, an ARN is what a policy of a session is, nothing that
# vouches for context is configured anywhere, and there are no instance profiles to describe.
_KNOWN = {
    "AssumeRole.PolicyArns[].arn: the model lets it be left out, the structure does not",
    "AssumeRole.ProvidedContexts: the structure does not have it",
    "CreateAccessKey.AccessKey.UserName: the model requires it, the structure does not",
    # The decision in plain words is our own; clients leave out what they do not know.
    "SimulateCustomPolicy.EvaluationResults[].Explanation: the model does not have it",
    "SimulateCustomPolicy.EvaluationResults[].OpenDenialKeys: the model does not have it",
    "SimulatePrincipalPolicy.EvaluationResults[].Explanation: the model does not have it",
    "SimulatePrincipalPolicy.EvaluationResults[].OpenDenialKeys: the model does not have it",
    *(
        f"{member}[]: the model has structure, the structure str"
        for member in (
            "ListMFADevices.MFADevices",
            "ListSSHPublicKeys.SSHPublicKeys",
            "ListServiceSpecificCredentials.ServiceSpecificCredentials",
            "ListSigningCertificates.Certificates",
            "ListVirtualMFADevices.VirtualMFADevices",
        )
    ),
    "AssumeRoleWithWebIdentity.PolicyArns[].arn: the model lets it be left out, the structure does not",
    "GetFederationToken.PolicyArns[].arn: the model lets it be left out, the structure does not",
    "ListInstanceProfilesForRole.InstanceProfiles[]: the model has structure, the structure str",
    (
        "UpdateAccessKey.Status: the model has the values ['Active', 'Expired', 'Inactive'], the structure "
        "['Active', 'Inactive']"
    ),
}
OPERATIONS = [(service, name) for service in (IAM, STS) for name in service.operations]


@cache
def model(service: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(service)


def structure(service: Service, name: str) -> Any:
    module = sys.modules[service.operations[name].handler.__module__]
    return getattr(module, f"{name}Output", None)


@pytest.mark.parametrize(("service", "name"), OPERATIONS, ids=lambda value: getattr(value, "name", value))
def test_a_request_has_the_members_of_the_model(service: Service, name: str) -> None:
    found = differences(name, service.operations[name].shape.request, model=model(service.name))
    wrong = [one for one in found if not one.endswith(_STRICT) and not _LIMITS.search(one)]
    assert set(wrong) <= _KNOWN
    assert service.operations[name].action == f"{service.name}:{name}"


@pytest.mark.parametrize(("service", "name"), OPERATIONS, ids=lambda value: getattr(value, "name", value))
def test_an_answer_has_only_members_of_the_model(service: Service, name: str) -> None:
    output = structure(service, name)
    assert (output is not None) == (model(service.name).operation_model(name).output_shape is not None)
    if output is None:
        return
    wrong = [
        one
        for one in output_differences(name, output, model=model(service.name))
        if not one.endswith((_STRICT, *_ABSENT, ".UserName: the model requires it, the structure does not"))
        and not _LIMITS.search(one)
        and ": the model has the values " not in one
    ]
    assert set(wrong) <= _KNOWN


@pytest.mark.parametrize(
    "error",
    [
        iam_errors.no_such_entity(""),
        iam_errors.already_exists(""),
        iam_errors.delete_conflict(""),
        iam_errors.quota("", 1),
        iam_errors.malformed_policy(""),
        iam_errors.invalid_input(""),
        iam_errors.no_root_key(""),
        iam_errors.conflict(),
    ],
    ids=lambda error: error.code,
)
def test_errors_have_the_codes_and_statuses_of_the_model(error: ApiError) -> None:
    modelled = {
        shape.metadata["error"]["code"]: shape.metadata["error"]["httpStatusCode"]
        for shape in map(model("iam").shape_for, model("iam").shape_names)
        if "error" in shape.metadata
    }
    assert modelled[error.code] == error.status


@pytest.mark.parametrize("error", [sts_errors.malformed_policy(""), sts_errors.too_large(101)])
def test_errors_of_sts_are_those_of_its_model(error: ApiError) -> None:
    modelled = model("sts").shape_for(f"{error.code}Exception").metadata["error"]
    assert (modelled.get("code", error.code), modelled["httpStatusCode"]) == (error.code, error.status)
