"""Who may assume a role: conditions of its trust policy see what those of any other policy see."""

from typing import Any

import msgspec
import pytest

from hashrange.api.errors import ApiError
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.permissions.guard import coming_from
from hashrange.audit.events import Origin
from hashrange.auth.principals import Principal, PrincipalKind
from hashrange.services.sts import trust
from hashrange.storage.identity_rows import Role
from permissions.callers import OURS, Guarded, allow, document, user

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


def test_a_new_name_changes_nothing() -> None:
    renamed = user(tags={"team": "red"}, name="alison", principal_id="AIDAALICE")
    context = msgspec.structs.replace(Guarded().context, principal=renamed, account_id=OURS)
    role = trusting({})
    trust.check(context, OURS, msgspec.structs.replace(role, trusted={ALICE.arn: "AIDAALICE"}), ACTIONS, {})
    for known in ({ALICE.arn: "AIDAOTHER"}, {}):  # without an id the name is all there is
        with pytest.raises(ApiError):
            trust.check(context, OURS, msgspec.structs.replace(role, trusted=known), ACTIONS, {})


@pytest.mark.parametrize(("role_id", "trusted"), [("AROAONE", True), ("AROATWO", False)])
def test_one_session_of_a_role_is_trusted_while_the_role_is_the_same(role_id: str, *, trusted: bool) -> None:
    arn = f"arn:aws:sts::{OURS}:assumed-role/app/s"
    session = Principal(
        account_id=OURS,
        arn=arn,
        kind=PrincipalKind.ASSUMED_ROLE,
        principal_id=f"{role_id}:s",
        role_arn=f"arn:aws:iam::{OURS}:role/app",
    )
    context = msgspec.structs.replace(Guarded().context, principal=session, account_id=OURS)
    statement = {"Effect": "Allow", "Principal": {"AWS": arn}, "Action": "sts:AssumeRole"}
    role = msgspec.structs.replace(trusting({}), trust=document(statement), trusted={arn: "AROAONE"})
    if trusted:
        trust.check(context, OURS, role, ACTIONS, {})
        return
    with pytest.raises(ApiError):
        trust.check(context, OURS, role, ACTIONS, {})


def test_a_renamed_user_is_still_denied() -> None:
    renamed = user(allow("sts:AssumeRole"), name="alison", principal_id="AIDAALICE")
    context = msgspec.structs.replace(Guarded().context, principal=renamed, account_id=OURS)
    everybody = {"Effect": "Allow", "Principal": {"AWS": OURS}, "Action": "sts:AssumeRole"}
    but_her = {"Effect": "Deny", "Principal": {"AWS": ALICE.arn}, "Action": "sts:AssumeRole"}
    role = msgspec.structs.replace(
        trusting({}), trust=document(everybody, but_her), trusted={ALICE.arn: "AIDAALICE"}
    )
    with pytest.raises(AccessDenied) as denied:
        trust.check(context, OURS, role, ACTIONS, {})
    assert denied.value.decision.explicit
    nobody = msgspec.structs.replace(role, trusted={ALICE.arn: "AIDABEFORE"})
    trust.check(context, OURS, nobody, ACTIONS, {})
