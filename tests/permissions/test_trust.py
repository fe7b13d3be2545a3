"""Who may assume a role: conditions of its trust policy see what those of any other policy see."""

from typing import Any

import msgspec
import pytest

from hashrange.api.errors import ApiError
from hashrange.api.permissions.guard import coming_from
from hashrange.audit.events import Origin
from hashrange.services.sts import trust
from hashrange.storage.identity_rows import Role
from permissions.callers import OURS, Guarded, document, user

ALICE = user(tags={"team": "red"})
ACTIONS = ["sts:AssumeRole"]


def trusting(condition: dict[str, Any]) -> Role:
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": ALICE.arn},
        "Action": "sts:AssumeRole",
        "Condition": condition,
    }
    return Role(name="r", path="/", id="AROA", created_at=0, trust=document(statement), tags={"Team": "red"})


@pytest.mark.parametrize(
    ("condition", "trusted"),
    [
        ({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}, True),
        ({"IpAddress": {"aws:SourceIp": "11.0.0.0/8"}}, False),
        ({"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}}, False),
        ({"Bool": {"aws:SecureTransport": "true"}}, True),
        ({"StringEquals": {"aws:RequestedRegion": "us-east-1"}}, True),
        ({"DateLessThan": {"aws:CurrentTime": "2000-01-01T00:00:00Z"}}, False),
        ({"StringEquals": {"sts:ExternalId": "outside"}}, True),
        ({"StringEquals": {"sts:ExternalId": "inside"}}, False),
        ({"StringEquals": {"aws:ResourceTag/team": "${aws:PrincipalTag/Team}"}}, True),
        ({"StringEquals": {"aws:PrincipalTag/team": "blue"}}, False),
    ],
)
def test_conditions_of_a_trust_policy(condition: dict[str, Any], *, trusted: bool) -> None:
    context = msgspec.structs.replace(Guarded().context, principal=ALICE, account_id=OURS)
    here = coming_from(context, lambda: Origin("10.1.2.3", tls_version="TLSv1.3"))
    role = trusting(condition)
    if trusted:
        trust.check(here, OURS, role, ["sts:AssumeRole"], {"sts:externalid": "outside"})
    else:
        with pytest.raises(ApiError):
            trust.check(here, OURS, role, ["sts:AssumeRole"], {"sts:externalid": "outside"})


def test_whoever_gets_the_name_of_somebody_who_was_trusted_is_somebody_else() -> None:
    context = msgspec.structs.replace(Guarded().context, principal=ALICE, account_id=OURS)
    role = trusting({})
    trust.check(context, OURS, msgspec.structs.replace(role, trusted={ALICE.arn: "AIDAALICE"}), ACTIONS, {})
    gone = msgspec.structs.replace(role, trusted={ALICE.arn: "AIDABEFORE"})
    with pytest.raises(ApiError):
        trust.check(context, OURS, gone, ACTIONS, {})
