"""ListKeyPolicies: the names of a key's policies, which is one."""

from hashrange.api.context import Context
from hashrange.api.keys import permitted
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms import pages, policies
from hashrange.services.kms.structures import KeyId, Marker, PageLimit
from hashrange.storage.engine import Reader


class ListKeyPolicies(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    limit: PageLimit | None = None
    marker: Marker | None = None


SHAPE = Shape(ListKeyPolicies)


class ListKeyPoliciesOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    policy_names: tuple[str, ...]
    truncated: bool


def list_key_policies(context: Context, request: ListKeyPolicies) -> Plan:
    """One name fits one page."""
    pages.start_of(request.marker)

    def step(reader: Reader) -> Described:
        permitted.find_exact(context, reader, "ListKeyPolicies", request.key_id)
        return Described(ListKeyPoliciesOutput(policy_names=(policies.NAME,), truncated=False))

    return Read(step)
