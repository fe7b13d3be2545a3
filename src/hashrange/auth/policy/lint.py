"""What is suspicious about a policy document: what is wrong with it, and what will not do what it seems to say."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hashrange.auth.policy import documents, json_reader
from hashrange.auth.policy.conditions import Absence, Condition
from hashrange.auth.policy.documents import VERSION_NEW, Kind, MalformedPolicy
from hashrange.auth.policy.json_reader import InvalidJson
from hashrange.auth.policy.patterns import compiled

_STAR = "*"
_SERVICE = 2  # the part of an ARN
_OWN = "hashrange"  # whose actions are about tables, too


class Vocabulary(NamedTuple):
    """What a server asks for: actions as services spell them, condition keys in lower case."""

    actions: frozenset[str]
    services_in_part: frozenset[str]  # of which only some actions are known
    keys: frozenset[str]
    key_prefixes: tuple[str, ...]  # such as aws:requesttag/
    multivalued_keys: frozenset[str]


class Finding(NamedTuple):
    """Something to look at, and the member of the document that it is about."""

    member: str
    message: str

    def __str__(self) -> str:
        return f"{self.member}: {self.message}" if self.member else self.message


def findings(document: str, vocabulary: Vocabulary) -> list[Finding]:
    """All findings, in the order of the document; none for a good one."""
    try:
        content = json_reader.read(document)
    except InvalidJson:
        return [Finding("", _json_problem(document))]
    statements = content.get("Statement", [])
    listed: list[Any] = statements if isinstance(statements, list) else [statements]
    kind = _kind(listed)
    try:
        policy = documents.parse(document, kind, name="")
    except MalformedPolicy as malformed:
        return _malformed(content, listed, kind, str(malformed))
    found: list[Finding] = []
    for number, (sent, statement) in enumerate(zip(listed, policy.statements, strict=True)):
        place = f"Statement[{number}]" if isinstance(statements, list) else "Statement"
        found += _of_actions(place, sent, vocabulary)
        found += _of_resources(place, sent, variables=content.get("Version") == VERSION_NEW)
        for condition in statement.conditions:
            member = f"{place}.Condition.{condition.operator}.{condition.key}"
            found += [Finding(member, message) for message in _of_condition(condition, vocabulary)]
    return found


def _json_problem(document: str) -> str:
    try:
        json.loads(document)
    except json.JSONDecodeError as error:
        return f"is no JSON: {error.msg} in line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        return "is no JSON that can be read"
    return "is no JSON object, has an element twice, or has a character that no policy may have"


def _kind(statements: Sequence[object]) -> Kind:
    """What the document is for: policies of resources and roles name principals, and the latter no resource."""
    first = statements[0] if statements else {}
    if not isinstance(first, dict) or first.keys().isdisjoint({"Principal", "NotPrincipal"}):
        return Kind.IDENTITY
    return Kind.TRUST if first.keys().isdisjoint({"Resource", "NotResource"}) else Kind.RESOURCE


def _malformed(content: dict[str, Any], statements: list[Any], kind: Kind, message: str) -> list[Finding]:
    """Which statement is malformed: the ones that are so alone, or the document if none is."""
    found = []
    for number, statement in enumerate(statements):
        alone = json.dumps({"Version": content.get("Version", VERSION_NEW), "Statement": [statement]})
        try:
            documents.parse(alone, kind, name="")
        except MalformedPolicy as problem:
            found.append(Finding(f"Statement[{number}]", str(problem)))
    return found or [Finding("", message)]


def _of_actions(place: str, sent: dict[str, Any], vocabulary: Vocabulary) -> Iterator[Finding]:
    element = "Action" if "Action" in sent else "NotAction"
    names = _texts(sent[element])
    if element == "NotAction" and _STAR in names:
        yield Finding(f"{place}.NotAction", "leaves out every action: the statement can never match")
    for name in names:
        service = name.partition(":")[0].lower()
        if name != _STAR and service not in vocabulary.services_in_part and not _means_any(name, vocabulary):
            yield Finding(f"{place}.{element}", f"{name} is no action that this server asks for")
    everything = element == "Action" and _STAR in names and _STAR in _texts(sent.get("Resource", []))
    if everything and str(sent["Effect"]).capitalize() == "Allow" and not sent.get("Condition"):
        yield Finding(place, "allows everything: * on *")


def _means_any(name: str, vocabulary: Vocabulary) -> bool:
    pattern = compiled(name.lower(), wildcards=True, variables=False)
    return any(pattern.matches(action.lower(), {}) for action in vocabulary.actions)


def _of_resources(place: str, sent: dict[str, Any], *, variables: bool) -> Iterator[Finding]:
    resources = _texts(sent.get("Resource", []))
    if _STAR in _texts(sent.get("NotResource", [])):
        yield Finding(f"{place}.NotResource", "leaves out every resource: the statement can never match")
    if not variables and "${" in json.dumps(sent):
        yield Finding(place, f"${{…}} has a meaning only with Version {VERSION_NEW}")
    if "Action" not in sent or not resources:
        return
    services = {name.partition(":")[0].lower() for name in _texts(sent["Action"])}
    if not any(_fits_service(resource, services) for resource in resources):
        yield Finding(
            f"{place}.Resource", "is of another service than the actions: the statement can never match"
        )


def _fits_service(resource: str, services: set[str]) -> bool:
    parts = resource.split(":", 3)
    if len(parts) <= _SERVICE or any(wild in parts[_SERVICE] for wild in "*?"):
        return True
    return bool(services & {_STAR, _OWN, parts[_SERVICE].lower()})


def _of_condition(condition: Condition | Absence, vocabulary: Vocabulary) -> Iterator[str]:
    key = condition.key
    prefix = key.partition("/")[0] + "/"
    is_of_provider = "." in key.partition(":")[0]  # such as id.example.org/realm:sub
    if key not in vocabulary.keys and prefix not in vocabulary.key_prefixes and not is_of_provider:
        yield "is no condition key that requests to this server have"
    if not condition.values:
        yield (
            "has no value: it can never hold"
            if not _is_negated(condition)
            else "has no value: it always holds"
        )
    for value in condition.impossible_values:
        yield f"{value[:100]!r} is no value for this operator: nothing can match it"
    if isinstance(condition, Condition) and not condition.quantifier and key in vocabulary.multivalued_keys:
        yield "has several values: without ForAllValues or ForAnyValue it can never hold"


def _is_negated(condition: Condition | Absence) -> bool:
    return isinstance(condition, Condition) and condition.negated


def _texts(sent: Any) -> list[str]:
    return sent if isinstance(sent, list) else [sent]
