"""Whether the caller may use a key: its own policy must grant that, to the caller or to the account.

Which key a request is about is known only when it was looked up, so steps ask, and not the link before them.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.permissions import policies
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.permissions.keys import AllKeys
from hashrange.api.permissions.needs import RESOURCE_TAG, Need, Undetermined, tag_named
from hashrange.auth.policy.decision import Decision, PolicyType, Rules, decide
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.refusals import refusal
from hashrange.auth.policy.statements import Asked
from hashrange.storage.key_rows import KmsKey

_PUT_POLICY = "kms:PutKeyPolicy"
_CONTEXT = "kms:encryptioncontext:"


class KmsKeys:
    """The condition keys of a request about a key."""

    __slots__ = ("_aliases", "_encryption_context", "_known", "_tags")

    def __init__(
        self,
        known: Mapping[str, str] | None = None,
        *,
        key: KmsKey | None = None,
        aliases: Iterable[str] = (),
        encryption_context: Mapping[str, str] | None = None,
    ) -> None:
        self._known = known or {}
        self._tags = {} if key is None else key.tags
        self._aliases = tuple(aliases)
        self._encryption_context = encryption_context or {}

    def get(self, key: str, /) -> KeyValue | None:
        """The value of a key."""
        if key.startswith(_CONTEXT):
            return tag_named(self._encryption_context.items(), key.removeprefix(_CONTEXT))
        if key.startswith(RESOURCE_TAG):
            return tag_named(self._tags.items(), key.removeprefix(RESOURCE_TAG))
        match key:
            case "kms:encryptioncontextkeys":
                return tuple(self._encryption_context) or None
            case "kms:resourcealiases":
                return self._aliases or None
            case _:
                return self._known.get(key)


def is_asked(context: Context) -> bool:
    """Whether identities have permissions (--auth iam)."""
    return context.settings.auth == "iam"


class KeyAsked(NamedTuple):
    """What is asked about: a key, or whatever has such an ARN."""

    arn: str
    key: KmsKey | None = None  # None: there is no policy, and the caller's own ones decide alone
    owner: str | None = None  # the account of the key; None: the caller's
    shown: str | None = None  # what a refusal names instead, such as an alias whose key nobody else is told


def require(context: Context, action: str, about: KeyAsked, keys: KmsKeys) -> None:
    """Refuse what the caller may not do."""
    if is_asked(context):
        judged = _judged(context, action, about, keys)
        if not judged.decision.allowed:
            named = judged.asked._replace(resource=about.shown or about.arn)
            raise AccessDenied(*judged, message=refusal(named, judged.decision))


def refuse_lockout(context: Context, resource: str, document: str) -> None:
    """Refuse a policy under which the caller could not change it any more."""
    if is_asked(context):
        judged = _judged(context, _PUT_POLICY, KeyAsked(resource), KmsKeys(), document)
        if not judged.decision.allowed:
            raise ApiError(
                "MalformedPolicyDocumentException",
                "The new key policy will not allow you to update the key policy in the future.",
            )


class _Judged(NamedTuple):
    asked: Asked
    decision: Decision
    rules: Rules


def _judged(
    context: Context, action: str, about: KeyAsked, keys: KmsKeys, document: str | None = None
) -> _Judged:
    principal, owner = context.caller(), about.owner or context.account_id
    if about.key is not None:
        document = about.key.enforced_policy
    need = Need(action, about.arn, keys, owner)
    asked = Asked(action, about.arn, principal.caller(), AllKeys(context, principal, need))
    policy = None if document is None else policies.compiled(document)
    rules = principal.rules(policy, owner)._replace(must_grant=policy is not None)
    try:
        return _Judged(asked, decide(asked, rules), rules)
    except Undetermined:
        return _Judged(asked, Decision(allowed=False, type=PolicyType.IDENTITY), rules)
