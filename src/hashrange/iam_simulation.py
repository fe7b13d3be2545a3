"""`hashrange iam simulate`: what the policies of somebody decide about an action, and which statement does."""

import argparse
from collections.abc import Iterator

from hashrange.auth import arns
from hashrange.iam_operations import Content, Operations, text_of

DESCRIPTION = (
    "say whether a user or role may do something, and which statement of which policy decides; "
    "the exit status is 0 if it is allowed, 3 if it is denied, and 4 if a statement might deny it, depending on a "
    "condition key that --context does not give"
)
_STATUSES = {"allowed": 0, "denied": 3, "unknown": 4}
_REGION = "us-east-1"
# Keys that a request may have several values of.
_MULTIVALUED = frozenset(
    {
        *("aws:tagkeys", "dynamodb:attributes", "dynamodb:leadingkeys"),
        *("dynamodb:firstpartitionkeyvalues", "dynamodb:secondpartitionkeyvalues"),
        *("dynamodb:thirdpartitionkeyvalues", "dynamodb:fourthpartitionkeyvalues"),
    }
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the action's flags."""
    parser.add_argument("--as", dest="principal", required=True, metavar="USER|ARN", help="who asks")
    parser.add_argument("permission", metavar="ACTION", help="such as dynamodb:GetItem")
    parser.add_argument("resource", metavar="RESOURCE", help="an ARN, the name of a table, or *")
    parser.add_argument("--region", default=_REGION, help="of a table that is named (default: %(default)s)")
    parser.add_argument(
        "--context",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a condition key of the request, such as dynamodb:LeadingKeys=bob; may be repeated",
    )
    parser.add_argument(
        "--session-policy", metavar="FILE", help="that limits the session; - for standard input"
    )
    parser.set_defaults(show=_shown, status=lambda answer: _STATUSES[answer["Decision"]])


def run(operations: Operations, options: argparse.Namespace) -> Content:
    """Simulate the request, with the resource policy that the table has."""
    account_id = operations.account_id()
    arn = options.principal
    if not arn.startswith("arn:"):
        arn = f"arn:aws:iam::{account_id}:user/{arn}"
    resource = options.resource
    if resource != "*" and not resource.startswith("arn:"):
        resource = f"arn:aws:dynamodb:{options.region}:{account_id}:table/{resource}"
    asked: Content = {
        "ActionNames": [options.permission],
        "ResourceArns": [resource],
        "ContextEntries": _entries(options.context),
    }
    policy = _resource_policy(operations, resource)
    caller = {"CallerArn": arn} if ":assumed-role/" in arn else {}
    own = operations.ask(
        "SimulatePrincipalPolicy",
        {"PolicySourceArn": arn, "ResourcePolicy": policy, **caller, **asked},
    )
    results = [own["EvaluationResults"][0]]
    if options.session_policy is not None:
        limit = {"PolicyInputList": [text_of(options.session_policy)], **asked}
        results.append(operations.ask("SimulateCustomPolicy", limit)["EvaluationResults"][0])
    verdict = _verdict(results)
    return {
        "Allowed": verdict == "allowed",
        "Decision": verdict,
        "Policies": results[0],
        **({"SessionPolicy": results[1]} if len(results) > 1 else {}),
    }


def _verdict(results: list[Content]) -> str:
    if any(result["EvalDecision"] != "allowed" for result in results):
        return "denied"
    return "unknown" if any(result.get("OpenDenialKeys", ()) for result in results) else "allowed"


def _entries(sent: list[str]) -> list[Content]:
    values: dict[str, list[str]] = {}
    for entry in sent:
        key, _, value = entry.partition("=")
        values.setdefault(key, []).append(value)
    return [
        {
            "ContextKeyName": key,
            "ContextKeyValues": listed,
            "ContextKeyType": "stringList" if key.lower() in _MULTIVALUED or len(listed) > 1 else "string",
        }
        for key, listed in values.items()
    ]


def _resource_policy(operations: Operations, resource: str) -> str | None:
    parts = arns.parsed(resource)
    if parts is None or parts.service != "dynamodb" or not parts.resource.startswith("table/"):
        return None
    table, _, rest = parts.resource.partition("/index/")
    place = "arn:" + ":".join(parts._replace(resource=table)) if rest else resource
    return None if "*" in place else operations.resource_policy(place, parts.region)


def _shown(answer: Content) -> Iterator[str]:
    yield answer["Decision"]
    for title, name in (("Policies", "policies"), ("SessionPolicy", "session policy")):
        result = answer.get(title)
        if result is None:
            continue
        yield f"{name}:"
        yield from (f"  {line}" for line in result["Explanation"])
        for key in result.get("OpenDenialKeys", ()):
            yield f"  A statement denies it or does not, depending on {key}: --context {key}=VALUE"
        for key in result["MissingContextValues"]:
            if key in result.get("OpenDenialKeys", ()):
                continue
            yield f"  A condition asks for {key}, which the request does not have: --context {key}=VALUE"
        boundary = result.get("PermissionsBoundaryDecisionDetail")
        if boundary is not None:
            allows = boundary["AllowedByPermissionsBoundary"]
            yield f"  The permissions boundary {'allows' if allows else 'does not allow'} it."
