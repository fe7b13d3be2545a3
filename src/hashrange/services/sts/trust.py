"""Whether a role may be assumed: what its trust policy and the caller's own policies say together."""

from collections.abc import Iterable

from hashrange.api.context import Context
from hashrange.api.permissions.keys import AllKeys
from hashrange.api.permissions.needs import Need
from hashrange.auth.policy import documents
from hashrange.auth.policy.decision import decide
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.policy import Policy, unusable
from hashrange.auth.policy.statements import Asked
from hashrange.services.sts import errors
from hashrange.storage.identity_rows import Role, arn_of


def check(
    context: Context, account_id: str, role: Role, actions: Iterable[str], keys: dict[str, KeyValue]
) -> None:
    """Refuse unless every action, such as sts:AssumeRole, is allowed on the role."""
    caller, arn = context.caller(), arn_of(account_id, role)
    own = keys | {f"aws:resourcetag/{name}".lower(): value for name, value in role.tags.items()}
    # Where nobody is known for who they are, there is nobody to be trusted or not.
    verified = context.principal is not None
    rules = caller.rules(_compiled(role), account_id)._replace(must_grant=verified)
    for action in actions:
        known = AllKeys(context, caller, Need(action, arn, own, account_id))
        asked = Asked(action, arn, caller.caller(), known)
        decision = decide(asked, rules)
        if not decision.allowed:
            raise errors.denied_by(asked, decision, rules)


def _compiled(role: Role) -> Policy:
    try:
        return documents.parse(role.trust, Kind.TRUST, name=role.name)
    except MalformedPolicy:
        return unusable(role.name)
