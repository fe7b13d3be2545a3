"""ListSSHPublicKeys: none, for there are no SSH keys; Terraform asks before it deletes a user."""

from msgspec import field

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.services.iam import access_keys
from hashrange.services.iam.entities import shown
from hashrange.services.iam.structures import Marker, MaxItems, Name
from hashrange.storage.engine import Reader


class ListSSHPublicKeys(Request, kw_only=True):
    """The request."""

    user_name: Name | None = None
    marker: Marker | None = None
    max_items: MaxItems | None = None


SHAPE = Shape(ListSSHPublicKeys)


class ListSSHPublicKeysOutput(Response, kw_only=True):
    """The answer."""

    ssh_public_keys: list[str] = field(name="SSHPublicKeys")
    is_truncated: bool


def list_ssh_public_keys(context: Context, request: ListSSHPublicKeys) -> Plan:
    """There are none."""

    def step(reader: Reader) -> ListSSHPublicKeysOutput:
        access_keys.owner(reader, context, request.user_name)
        return ListSSHPublicKeysOutput(ssh_public_keys=[], is_truncated=False)

    return shown(step)
