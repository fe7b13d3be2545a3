"""A policy: its statements, found by action and resource."""

from collections.abc import Sequence

from hashrange.auth.policy.grantees import Naming
from hashrange.auth.policy.patterns import compiled
from hashrange.auth.policy.statements import Actions, Asked, Resource, Resources, Statement

# Clients choose the resources they ask for, so what is remembered of them is bounded.
_REMEMBERED_MAX = 512
_RESOURCE_CHARS_MAX = 1024

_Relevant = tuple[list[Statement], list[Statement]]  # those that deny, those that allow


class Policy:
    """A compiled policy."""

    __slots__ = ("_remembered", "arn", "document", "name", "statements")

    def __init__(
        self, name: str, statements: Sequence[Statement], *, arn: str | None = None, document: str = ""
    ) -> None:
        """`arn` is that of a managed policy; an inline policy has none."""
        self.name = name
        self.arn = arn
        self.document = document  # that it was compiled from
        self.statements = tuple(statements)
        self._remembered: dict[tuple[str, str], _Relevant] = {}

    def denial(self, asked: Asked) -> Statement | None:
        """The first statement that denies the request."""
        for statement in self.about(asked.action, asked.resource)[0]:
            if statement.naming(asked) is not Naming.NOT:
                return statement
        return None

    def grant(self, asked: Asked) -> tuple[Naming, Statement | None]:
        """The statement that allows the request and names its caller most closely."""
        best: tuple[Naming, Statement | None] = (Naming.NOT, None)
        for statement in self.about(asked.action, asked.resource)[1]:
            naming = statement.naming(asked)
            if naming is Naming.DIRECTLY:
                return naming, statement
            if naming > best[0]:
                best = naming, statement
        return best

    def about(self, action: str, resource: str) -> _Relevant:
        """The statements about an action on a resource, as far as that does not depend on the request's keys."""
        relevant = self._remembered.get((action, resource))
        if relevant is None:
            relevant = [], []
            lowered = action.lower()
            for statement in self.statements:
                if statement.is_about(lowered, resource):
                    relevant[statement.allows].append(statement)
            if len(resource) <= _RESOURCE_CHARS_MAX:
                if len(self._remembered) >= _REMEMBERED_MAX:
                    self._remembered.clear()
                self._remembered[action, resource] = relevant
        return relevant


def unusable(name: str) -> Policy:
    """Stands for a stored policy that cannot be read: nothing is allowed to whom it applies."""
    everything = compiled("*", wildcards=True, variables=False)
    denial = Statement(
        "unusable",
        allows=False,
        actions=Actions((everything,)),
        resources=Resources((Resource([]),)),
        grantees=None,
    )
    return Policy(name, [denial])
