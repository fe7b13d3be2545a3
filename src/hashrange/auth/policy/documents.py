"""Documents: from a policy's JSON to compiled statements, or to what is wrong with it in the service's words."""

import enum
import re
from collections.abc import Mapping
from typing import Any

from hashrange.auth.policy import conditions, grantees, json_reader, patterns, statements
from hashrange.auth.policy.conditions import Absence, Condition, UnknownOperator
from hashrange.auth.policy.grantees import Grantees, InvalidPrincipal
from hashrange.auth.policy.json_reader import InvalidJson
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.statements import Actions, Resources, Statement

VERSION_OLD = "2008-10-17"
VERSION_NEW = "2012-10-17"  # the one in which variables have a meaning

_TOP = frozenset({"Version", "Id", "Statement"})
_ELEMENTS = frozenset(
    {
        *("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction"),
        *("Resource", "NotResource", "Condition"),
    }
)
_ACTION = re.compile(r"\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+")
_SYNTAX = "Syntax errors in policy."


class Kind(enum.Enum):
    """What a policy is attached to."""

    IDENTITY = "identity"
    BOUNDARY = "boundary"
    SESSION = "session"
    RESOURCE = "resource"
    TRUST = "trust"

    @property
    def names_principals(self) -> bool:
        """Whether its statements say whom they are about."""
        return self in {Kind.RESOURCE, Kind.TRUST}


class MalformedPolicy(Exception):
    """The document is not a policy of its kind; the message is for the client."""


class MalformedPrincipal(MalformedPolicy):
    """It names a principal there cannot be."""


def parse(document: str, kind: Kind, *, name: str, arn: str | None = None) -> Policy:
    """The compiled policy."""
    try:
        content = json_reader.read(document)
    except InvalidJson:
        raise MalformedPolicy("This policy contains invalid Json") from None
    return _Reader(kind, content).policy(name, arn, document)


def parse_new(document: str, kind: Kind, *, name: str) -> Policy:
    """The policy of a document that somebody wants to store.

    Values that nothing could ever match are refused: an address range that is none, a number, date or truth value that
    is none. Stored policies are not held to it, because one that cannot be read denies everything.
    """
    policy = parse(document, kind, name=name)
    for statement in policy.statements:
        if any(condition.impossible_values for condition in statement.conditions):
            raise MalformedPolicy(_SYNTAX)
    return policy


class _Reader:
    """Compiles the statements of one document."""

    def __init__(self, kind: Kind, content: dict[str, Any]) -> None:
        self._kind = kind
        self._content = content
        self._variables = content.get("Version") == VERSION_NEW

    def policy(self, name: str, arn: str | None, document: str) -> Policy:
        content = self._content
        if not content.keys() <= _TOP or ("Id" in content and self._kind is not Kind.RESOURCE):
            raise MalformedPolicy(_SYNTAX)
        if content.get("Version", VERSION_OLD) not in {VERSION_OLD, VERSION_NEW}:
            raise MalformedPolicy("The policy must contain a valid version string")
        if "Statement" not in content:
            raise MalformedPolicy("Missing required field Statement")
        sent = content["Statement"]
        listed = sent if isinstance(sent, list) else [sent]
        if not listed:
            raise MalformedPolicy("Could not parse the policy: Statement is empty!")
        compiled = [self._statement(number, each) for number, each in enumerate(listed, start=1)]
        self._check_sids(listed)
        return Policy(name, compiled, arn=arn, document=document)

    def _statement(self, number: int, sent: object) -> Statement:
        if not isinstance(sent, dict) or not sent.keys() <= _ELEMENTS or not _is_text(sent.get("Sid", "")):
            raise MalformedPolicy(_SYNTAX)
        effect = str(sent.get("Effect", "")).capitalize()
        if effect not in {"Allow", "Deny"}:
            raise MalformedPolicy("Missing required field Effect" if "Effect" not in sent else _SYNTAX)
        return Statement(
            name=sent.get("Sid") or str(number),
            allows=effect == "Allow",
            actions=self._actions(sent),
            resources=self._resources(sent),
            grantees=self._grantees(sent),
            conditions=self._conditions(sent.get("Condition", {})),
        )

    def _actions(self, sent: Mapping[str, Any]) -> Actions:
        element = self._one_of(sent, "Action", "Policy statement must contain actions.")
        names = _texts(sent[element])
        if not names:
            raise MalformedPolicy("Policy statement must contain actions.")
        if not all(_ACTION.fullmatch(name) for name in names):
            raise MalformedPolicy(
                "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
            )
        compiled = (patterns.compiled(name.lower(), wildcards=True, variables=False) for name in names)
        return Actions(tuple(compiled), negated=element == "NotAction")

    def _resources(self, sent: Mapping[str, Any]) -> Resources | None:
        if self._kind is Kind.TRUST:
            if "Resource" in sent or "NotResource" in sent:
                raise MalformedPolicy("Has prohibited field Resource")
            return None
        element = self._one_of(sent, "Resource", "Policy statement must contain resources.")
        names = _texts(sent[element])
        if not names:
            raise MalformedPolicy("Policy statement must contain resources.")
        compiled = []
        for name in names:
            resource = statements.resource(name, variables=self._variables)
            if resource is None:
                raise MalformedPolicy(f'Resource {name} must be in ARN format or "*".')
            compiled.append(resource)
        varies = any(part.varies for resource in compiled for part in resource.parts)
        return Resources(tuple(compiled), negated=element == "NotResource", varies=varies)

    def _one_of(self, sent: Mapping[str, Any], element: str, missing: str) -> str:
        """Which of an element and its negation a statement has; it must be one."""
        present = [name for name in (element, f"Not{element}") if name in sent]
        if not present:
            raise MalformedPolicy(missing if not self._kind.names_principals else _missing(element))
        if len(present) > 1:
            raise MalformedPolicy(_SYNTAX)
        return present[0]

    def _grantees(self, sent: Mapping[str, Any]) -> Grantees | None:
        present = [name for name in ("Principal", "NotPrincipal") if name in sent]
        if not self._kind.names_principals:
            if present:
                raise MalformedPolicy("Policy document should not specify a principal.")
            return None
        if not present:
            raise MalformedPolicy(_missing("Principal"))
        if len(present) > 1:
            raise MalformedPolicy(_SYNTAX)
        element = sent[present[0]]
        try:
            if _is_text(element):
                return grantees.compiled(element, negated=present[0] == "NotPrincipal")
            if not isinstance(element, dict) or not element.keys() <= {"AWS", "Service", "Federated"}:
                raise MalformedPolicy(_SYNTAX)
            by_kind = {kind: _texts(names) for kind, names in element.items()}
            return grantees.compiled(by_kind, negated=present[0] == "NotPrincipal")
        except InvalidPrincipal as invalid:
            raise MalformedPrincipal(f"Invalid principal in policy: {invalid}") from None

    def _conditions(self, sent: object) -> tuple[Condition | Absence, ...]:
        if not isinstance(sent, dict) or not all(isinstance(keys, dict) for keys in sent.values()):
            raise MalformedPolicy(_SYNTAX)
        try:
            return tuple(
                conditions.compiled(operator, key, _condition_values(values), variables=self._variables)
                for operator, keys in sent.items()
                for key, values in keys.items()
            )
        except UnknownOperator as unknown:
            raise MalformedPolicy(f"Invalid Condition type : {unknown}.") from None

    def _check_sids(self, sent: list[dict[str, Any]]) -> None:
        sids = [statement["Sid"] for statement in sent if statement.get("Sid")]
        if len(set(sids)) == len(sids):
            return
        if self._kind is Kind.RESOURCE:
            raise MalformedPolicy("The Statement Ids in the policy are not unique")
        raise MalformedPolicy("Statement IDs (SID) in a single policy must be unique.")


def _missing(element: str) -> str:
    return f"Missing required field {element}"


def _is_text(sent: object) -> bool:
    return type(sent) is str


def _texts(sent: object) -> list[str]:
    """The texts of an element that is a text or a list of them."""
    texts: list[Any] = sent if isinstance(sent, list) else [sent]
    if not all(_is_text(text) for text in texts):
        raise MalformedPolicy(_SYNTAX)
    return texts


def _condition_values(sent: object) -> list[str]:
    listed = sent if isinstance(sent, list) else [sent]
    return [_condition_value(value) for value in listed]


def _condition_value(sent: object) -> str:
    if isinstance(sent, bool):
        return "true" if sent else "false"
    if isinstance(sent, str):
        return str(sent)
    raise MalformedPolicy(_SYNTAX)
