"""The words of AccessDeniedException: who may not do what, and which type of policy says so."""

from hashrange.auth.policy.decision import Decision, PolicyType
from hashrange.auth.policy.statements import Asked


def refusal(asked: Asked, decision: Decision) -> str:
    """The service's message for a request that was denied."""
    told = f"User: {asked.caller.arn} is not authorized to perform: {asked.action}"
    if asked.resource != "*":
        told += f" on resource: {asked.resource}"
    kind = decision.type or PolicyType.IDENTITY
    if not decision.explicit:
        return f"{told} because no {kind.value} allows the {asked.action} action"
    arn = None if decision.policy is None else decision.policy.arn
    # Inline policies have no ARN to be told.
    which = f": {arn}" if arn is not None and kind is PolicyType.IDENTITY else ""
    return f"{told} with an explicit deny in {_article(kind)} {kind.value}{which}"


def _article(kind: PolicyType) -> str:
    match kind:
        case PolicyType.IDENTITY:
            return "an"
        case PolicyType.TRUST:
            return "the"
        case _:
            return "a"
