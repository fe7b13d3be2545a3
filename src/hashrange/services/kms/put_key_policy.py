"""PutKeyPolicy: give a key another policy."""

from hashrange.api.context import Context
from hashrange.api.permissions import key_policies
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.kms import policies
from hashrange.services.kms.changes import change_key
from hashrange.services.kms.structures import KeyId, Nothing, Policy, PolicyName
from hashrange.storage.key_rows import KmsKey, key_arn
from hashrange.storage.setting_rows import Place


class PutKeyPolicy(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    policy_name: PolicyName | None = None
    policy: Policy
    bypass_policy_lockout_safety_check: bool | None = None


SHAPE = Shape(PutKeyPolicy)
PutKeyPolicyOutput = Nothing


def put_key_policy(context: Context, request: PutKeyPolicy) -> Plan:
    """The document is compiled once to see that it is one."""
    policies.check_name(request.policy_name)
    bound = policies.bound_policy(context, request.policy)

    def check(place: Place, key: KmsKey) -> None:
        """A key that is pending deletion may be given a policy, too."""
        if not request.bypass_policy_lockout_safety_check:
            key_policies.refuse_lockout(context, key_arn(place, key.id), request.policy)

    edited = {"policy": request.policy, "bound_policy": bound}
    return change_key(
        context,
        request.key_id,
        "PutKeyPolicy",
        lambda _: edited,
        check=check,
    )
