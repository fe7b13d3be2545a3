"""The resource policies of tables and streams, compiled."""

from hashrange.api.permissions.needs import Need
from hashrange.auth.policy.documents import Kind, MalformedPolicy, parse
from hashrange.auth.policy.policy import Policy, unusable
from hashrange.caches import BoundedCache

_COMPILED_MAX = 1024
_compiled: BoundedCache[str, Policy] = BoundedCache(_COMPILED_MAX)


def of_need(need: Need) -> Policy | None:
    """The policy of the resource that a need is about; an index has that of its table."""
    table = need.table
    if table is None or not table.policies or need.policy is None:
        return None
    stored = table.policies.get(need.policy)
    return None if stored is None or stored.document is None else compiled(stored.document)


def compiled(document: str) -> Policy:
    """The policy of a stored document. One that cannot be read allows nothing to anybody."""
    policy = _compiled.get(document)
    if policy is None:
        try:
            policy = parse(document, Kind.RESOURCE, name="ResourcePolicy")
        except MalformedPolicy:
            policy = unusable("ResourcePolicy")
        _compiled.put(document, policy)
    return policy
