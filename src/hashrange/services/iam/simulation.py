"""Simulations: what policies would decide about requests that nobody sends."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from hashrange.api.protocol.structures import Response, Structure
from hashrange.auth import arns
from hashrange.auth.policy import documents, grantees, wording
from hashrange.auth.policy.context_keys import context_keys
from hashrange.auth.policy.decision import PolicyType, Rules, decide
from hashrange.auth.policy.documents import Kind, MalformedPolicy
from hashrange.auth.policy.grantees import Caller
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.policy.open_denials import open_keys
from hashrange.auth.policy.policy import Policy
from hashrange.auth.policy.positions import statement_positions
from hashrange.auth.policy.reasons import Match, Recorded, decision_name, matches, reasons
from hashrange.auth.policy.statements import Asked
from hashrange.core import effort
from hashrange.services.iam import errors
from hashrange.services.iam.structures import Document

_ACTION = re.compile(r"[A-Za-z0-9-]+:[A-Za-z0-9]+")
_PRINCIPAL_TAG = "aws:principaltag/"
_PAGE = 100
_STATEMENTS_MAX = 50_000  # that are looked at for one page
_STATEMENT_UNITS = 100
_DOCUMENT_CHARS_MAX = 524_288  # of all that are sent

ActionNames = list[Annotated[str, Meta(min_length=3, max_length=128)]]
ResourceName = Annotated[str, Meta(min_length=1, max_length=2048)]
Documents = list[Document]


ContextKeyType = Literal[
    "string",
    "stringList",
    "numeric",
    "numericList",
    "boolean",
    "booleanList",
    "ip",
    "ipList",
    "binary",
    "binaryList",
    "date",
    "dateList",
]


class ContextEntry(Structure, kw_only=True):
    """A condition key that a simulated request has."""

    context_key_name: Annotated[str, Meta(min_length=5, max_length=256)] | None = None
    context_key_values: list[str] | None = None
    context_key_type: ContextKeyType | None = None


class PositionView(Response, kw_only=True):
    """A place in a document."""

    line: int
    column: int


class StatementView(Response, kw_only=True):
    """A statement that applies to a simulated request."""

    source_policy_id: str
    source_policy_type: str
    start_position: PositionView | None = None
    end_position: PositionView | None = None


class PermissionsBoundaryDecisionDetail(Response, kw_only=True):
    """What the permissions boundary says."""

    allowed_by_permissions_boundary: bool


class ResourceSpecificResult(Response, kw_only=True):
    """The result, once more, for the resource."""

    eval_resource_name: str
    eval_resource_decision: str
    matched_statements: list[StatementView]
    missing_context_values: list[str]
    permissions_boundary_decision_detail: PermissionsBoundaryDecisionDetail | None = None


class EvaluationResult(Response, kw_only=True):
    """What would become of one action on one resource."""

    eval_action_name: str
    eval_resource_name: str
    eval_decision: str
    matched_statements: list[StatementView]
    missing_context_values: list[str]
    permissions_boundary_decision_detail: PermissionsBoundaryDecisionDetail | None = None
    resource_specific_results: list[ResourceSpecificResult] | None = None
    explanation: list[str]  # ours: the decision in plain words
    open_denial_keys: list[
        str
    ]  # ours: keys without a value on which it depends whether a statement denies it


class SimulationOutput(Response, kw_only=True):
    """The answer of both operations."""

    evaluation_results: list[EvaluationResult]
    is_truncated: bool | None = None
    marker: str | None = None


class Source(NamedTuple):
    """A policy, and what results call it."""

    policy: Policy
    id: str
    type: str


class Simulated(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever would send the requests."""

    caller: Caller
    keys: Mapping[str, KeyValue] = {}
    identity: Sequence[Source] = ()
    boundary: Source | None = None
    resource: Source | None = None
    owner: str | None = None
    has_all_tags: bool = False  # of a session it is not known with which tags it would begin

    def may_have(self, key: str) -> bool:
        """Whether a real request might have a key that nobody gave."""
        return not (self.has_all_tags and key.startswith(_PRINCIPAL_TAG))


class Pairs(NamedTuple):
    """The requests: every action on every resource; which of them are asked for is said by the marker."""

    actions: Sequence[str]
    resources: Sequence[str] | None
    marker: str | None
    max_items: int | None


def sources(documents_sent: Iterable[str] | None, name: str, kind: Kind) -> list[Source]:
    """Policies that came with the request."""
    listed = list(documents_sent or ())
    if sum(map(len, listed)) > _DOCUMENT_CHARS_MAX:
        raise errors.invalid_input(f"{name} is too large")
    for document in listed:
        effort.spend_on_text(document)
    return [_source(document, f"{name}.{number}", kind) for number, document in enumerate(listed, 1)]


def boundary(documents_sent: list[str] | None) -> Source | None:
    """The permissions boundary that came with the request; it has one at most."""
    sent = sources(documents_sent, "PermissionsBoundaryPolicyInputList", Kind.BOUNDARY)
    if len(sent) > 1:
        raise errors.invalid_input("PermissionsBoundaryPolicyInputList can have one policy only.")
    return sent[0] if sent else None


def resource_policy(document: str | None) -> Source | None:
    """The policy of the resource that came with the request."""
    return None if document is None else _source(document, "ResourcePolicy", Kind.RESOURCE, "resource")


def _source(document: str, name: str, kind: Kind, source_type: str = "none") -> Source:
    try:
        return Source(documents.parse(document, kind, name=name), name, source_type)
    except MalformedPolicy as malformed:
        raise errors.invalid_input(f"{name}: {malformed}") from None


def given_keys(entries: list[ContextEntry] | None) -> dict[str, KeyValue]:
    """The condition keys that came with the request."""
    keys: dict[str, KeyValue] = {}
    for entry in entries or ():
        values = tuple(entry.context_key_values or ())
        if entry.context_key_name is None or not values:
            raise errors.invalid_input("A context entry must have a name and values.")
        is_list = len(values) > 1 or (entry.context_key_type or "").endswith("List")
        keys[entry.context_key_name.lower()] = values if is_list else values[0]
    return keys


def caller_of(arn: str) -> Caller:
    """The caller that a request names: a user, a role or the session of one."""
    parts = arns.parsed(arn)
    if parts is None or parts.service not in {"iam", "sts"}:
        raise errors.invalid_input(f"Invalid caller ARN: {arn}")
    role_arn = None
    match parts.resource.split("/"):
        case ["assumed-role", name, _]:
            role_arn = f"arn:aws:iam::{parts.account_id}:role/{name}"
        case ["role", *_]:
            role_arn = arn
    return Caller(parts.account_id, arn, role_arn, is_root=parts.resource == "root")


def owner_of(named: str | None) -> str | None:
    """The account that owns resources whose ARNs do not say it."""
    if named is None:
        return None
    account_id = grantees.account_of(named)
    if account_id is None:
        raise errors.invalid_input(f"Invalid resource owner: {named}")
    return account_id


def simulated(who: Simulated, pairs: Pairs) -> SimulationOutput:
    """The results of one page."""
    for action in pairs.actions:
        if not _ACTION.fullmatch(action):
            raise errors.invalid_input(f"Invalid Entity Action: {action}")
    resources = pairs.resources or ("*",)
    first, last = _first(pairs.marker), len(pairs.actions) * len(resources)
    simulation = _Simulation(who, names_resources=bool(pairs.resources))
    # A page may have fewer results than were asked for: of very long policies it has.
    most = min(pairs.max_items or _PAGE, max(1, _STATEMENTS_MAX // simulation.statements))
    end = min(last, first + most)
    results = [
        simulation.result(pairs.actions[number // len(resources)], resources[number % len(resources)])
        for number in range(first, end)
    ]
    marker = base64.urlsafe_b64encode(str(end).encode()).decode() if end < last else None
    return SimulationOutput(evaluation_results=results, is_truncated=end < last, marker=marker)


def _first(marker: str | None) -> int:
    if marker is None:
        return 0
    try:
        return max(0, int(base64.b64decode(marker.encode("ascii"), altchars=b"-_", validate=True)[:18]))
    except (ValueError, binascii.Error):
        raise errors.invalid_input("Invalid Marker.") from None


class _Simulation:
    """Decides about one request after the other."""

    def __init__(self, who: Simulated, *, names_resources: bool) -> None:
        self._who = who
        self._names_resources = names_resources
        listed = [*who.identity, *(source for source in (who.boundary, who.resource) if source is not None)]
        self.statements = sum(len(source.policy.statements) for source in listed) + 1
        self._sources = {id(source.policy): source for source in listed}
        self._positions = {
            id(source.policy): statement_positions(source.policy.document) for source in listed
        }
        self._spelt = {
            key.lower(): key
            for source in listed
            if source.policy.document
            for key in context_keys(source.policy.document)
        }

    def result(self, action: str, resource: str) -> EvaluationResult:
        """The result of one action on one resource."""
        effort.spend(self.statements * _STATEMENT_UNITS)
        who = self._who
        recorded = Recorded(who.keys)
        asked = Asked(action, resource, who.caller, recorded)
        rules = self._rules(resource)
        decision = decide(asked, rules)
        every = list(matches(asked, rules))
        matched = [self._view(match) for match in every if match.applies]
        missing = [self._spelt.get(key, key) for key, value in recorded.seen.items() if value is None]
        hanging = open_keys(asked, rules, who.may_have) if decision.allowed else []
        bounded = self._bounded(every)
        name = decision_name(decision)
        specific = ResourceSpecificResult(
            eval_resource_name=resource,
            eval_resource_decision=name,
            matched_statements=matched,
            missing_context_values=missing,
            permissions_boundary_decision_detail=bounded,
        )
        return EvaluationResult(
            eval_action_name=action,
            eval_resource_name=resource,
            eval_decision=name,
            matched_statements=matched,
            missing_context_values=missing,
            permissions_boundary_decision_detail=bounded,
            resource_specific_results=[specific] if self._names_resources else None,
            explanation=list(wording.lines(reasons(asked, rules, decision, recorded))),
            open_denial_keys=[self._spelt.get(key, key) for key in hanging],
        )

    def _rules(self, resource: str) -> Rules:
        who, parts = self._who, arns.parsed(resource)
        owner = parts.account_id if parts is not None and parts.account_id else who.owner
        return Rules(
            [source.policy for source in who.identity],
            None if who.boundary is None else who.boundary.policy,
            None,
            None if who.resource is None else who.resource.policy,
            owner,
        )

    def _bounded(self, every: Iterable[Match]) -> PermissionsBoundaryDecisionDetail | None:
        if self._who.boundary is None:
            return None
        said = [match.statement for match in every if match.type is PolicyType.BOUNDARY and match.applies]
        allowed = any(statement.allows for statement in said) and all(statement.allows for statement in said)
        return PermissionsBoundaryDecisionDetail(allowed_by_permissions_boundary=allowed)

    def _view(self, match: Match) -> StatementView:
        source = self._sources[id(match.policy)]
        positions = self._positions[id(match.policy)]
        number = match.policy.statements.index(match.statement)
        start, end = positions[number] if number < len(positions) else (None, None)
        return StatementView(
            source_policy_id=source.id,
            source_policy_type=source.type,
            start_position=None if start is None else PositionView(line=start.line, column=start.column),
            end_position=None if end is None else PositionView(line=end.line, column=end.column),
        )


def names(listed: Iterable[Source]) -> list[str]:
    """The condition keys that policies name, each once."""
    by_name: dict[str, str] = {}
    for source in listed:
        for key in context_keys(source.policy.document) if source.policy.document else ():
            by_name.setdefault(key.lower(), key)
    return sorted(by_name.values(), key=str.lower)
