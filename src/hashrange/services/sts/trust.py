"""Whether a role may be assumed: what its trust policy and the caller's own policies say together."""

from collections.abc import Iterable

from hashrange.api.context import Context
from hashrange.api.permissions.keys import AllKeys
from hashrange.api.permissions.needs import Need
from hashrange.auth.policy import documents
from hashrange.auth.policy.decision import decide
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.auth.policy.grantees import Caller, Naming
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.policy import Policy, unusable
from hashrange.auth.policy.statements import Asked
from hashrange.auth.principals import Principal
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
        asked = Asked(action, arn, _as_named(caller, role), known)
        decision = decide(asked, rules)
        if not decision.allowed:
            raise errors.denied_by(asked, decision, rules)


def _as_named(principal: Principal, role: Role) -> Caller:
    """The caller as the trust policy may name them: who only has the name of somebody it meant is somebody else."""
    caller = principal.caller()
    own_id = principal.principal_id.partition(":")[0]
    names = (caller.arn, caller.role_arn or caller.arn)
    if any(role.trusted.get(name, own_id) != own_id for name in names):
        return caller._replace(arn="", role_arn=None)
    return caller


def check_federated(role: Role, action: str, provider_arn: str, keys: dict[str, KeyValue]) -> None:
    """Refuse whoever a provider vouches for, unless a statement names the provider: everybody is not enough."""
    policy = _compiled(role)
    asked = Asked(action, "*", Caller("", "", provider=provider_arn), keys)
    named = (
        statement
        for statement in policy.statements
        if statement.allows
        and statement.grantees is not None
        and provider_arn in statement.grantees.providers
        and not statement.grantees.negated
        and statement.actions.include(action.lower())
    )
    if policy.denial(asked) is not None or all(one.naming(asked) is Naming.NOT for one in named):
        raise errors.access_denied(f"Not authorized to perform {action}")


def _compiled(role: Role) -> Policy:
    try:
        return documents.parse(role.trust, Kind.TRUST, name=role.name)
    except MalformedPolicy:
        return unusable(role.name)
