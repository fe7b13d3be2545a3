"""Whether a role may be assumed: what its trust policy and the caller's own policies say together."""

from collections.abc import Iterable, Mapping

from hashrange.api.context import Context
from hashrange.api.permissions.keys import AllKeys
from hashrange.api.permissions.needs import Need
from hashrange.auth.policy import documents
from hashrange.auth.policy.decision import Decision, PolicyType, Rules, decide
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.auth.policy.grantees import Caller, Naming
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.policy import Policy, unusable
from hashrange.auth.policy.statements import Asked, Statement
from hashrange.auth.principals import Principal
from hashrange.services.sts import errors
from hashrange.storage.identity_rows import Role, arn_of

_ABOUT_CALLER = frozenset({"aws:principalaccount", "aws:principalarn", "aws:principaltype", "aws:userid"})


def check(
    context: Context, account_id: str, role: Role, actions: Iterable[str], keys: dict[str, KeyValue]
) -> None:
    """Refuse unless every action, such as sts:AssumeRole, is allowed on the role."""
    caller, arn = context.caller(), arn_of(account_id, role)
    own = keys | _tags(role)
    # Where nobody is known for who they are, there is nobody to be trusted or not.
    verified = context.principal is not None
    rules = caller.rules(_by_id(role, caller), account_id)._replace(must_grant=verified)
    for action in actions:
        known = AllKeys(context, caller, Need(action, arn, own, account_id))
        asked = Asked(action, arn, caller.caller(), known)
        decision = decide(asked, rules)
        if not decision.allowed:
            raise errors.denied_by(errors.unauthorized(caller.arn, action, arn), asked, decision, rules)


class _TokenKeys:
    """The keys of a request with a token: what that says, and where, when and for which role it was sent."""

    def __init__(self, keys: dict[str, KeyValue], around: AllKeys) -> None:
        self._keys = keys
        self._around = around

    def get(self, key: str, /) -> KeyValue | None:
        """The value of a key; who asks is nobody yet, so that there are none about that."""
        value = self._keys.get(key)
        return value if value is not None or key in _ABOUT_CALLER else self._around.get(key)


def check_federated(
    context: Context, account_id: str, role: Role, action: str, provider_arn: str, keys: dict[str, KeyValue]
) -> None:
    """Refuse whoever a provider vouches for, unless a statement names the provider: everybody is not enough."""
    policy = _compiled(role)
    arn = arn_of(account_id, role)
    own = keys | _tags(role)
    known = _TokenKeys(own, AllKeys(context, context.caller(), Need(action, arn, own, account_id)))
    asked = Asked(action, arn, Caller("", "", provider=provider_arn), known)
    named = (
        statement
        for statement in policy.statements
        if statement.allows
        and statement.grantees is not None
        and provider_arn in statement.grantees.providers
        and not statement.grantees.negated
        and statement.actions.include(action.lower())
    )
    denial = policy.denial(asked)
    if denial is not None or all(one.naming(asked) is Naming.NOT for one in named):
        explicit = denial is not None
        decision = Decision(allowed=False, explicit=explicit, type=PolicyType.TRUST, statement=denial)
        if explicit:
            decision = decision._replace(policy=policy)
        message = f"Not authorized to perform {action}"
        raise errors.denied_by(message, asked, decision, Rules(resource=policy))


def _by_id(role: Role, caller: Principal) -> Policy:
    """The trust policy with ids in place of names: a new name changes nothing, and an old one is nobody's.

    Names without an id are those of documents from before ids were kept, and of federated users.
    """
    policy = _compiled(role)
    own_id = caller.principal_id.partition(":")[0]
    return Policy(
        policy.name,
        [_with_ids(statement, role.trusted, own_id) for statement in policy.statements],
        document=policy.document,
    )


def _with_ids(statement: Statement, ids: Mapping[str, str], own_id: str) -> Statement:
    grantees = statement.grantees
    if grantees is None:
        return statement
    named = set[str]()
    for name in grantees.arns:
        if ":assumed-role/" not in name:
            named.add(ids.get(name, name))
        elif (
            ids.get(name, own_id) == own_id
        ):  # one session of a role: its name counts, if the role is the same
            named.add(name)
    return statement._replace(grantees=grantees._replace(arns=frozenset(named)))


def _tags(role: Role) -> dict[str, KeyValue]:
    return {f"aws:resourcetag/{name}".lower(): value for name, value in role.tags.items()}


def _compiled(role: Role) -> Policy:
    try:
        return documents.parse(role.trust, Kind.TRUST, name=role.name)
    except MalformedPolicy:
        return unusable(role.name)
