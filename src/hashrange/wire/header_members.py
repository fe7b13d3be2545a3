"""Members of requests that clients may also send as headers, for their model has them there."""

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from hashrange.chain.executor import read_object


class HeaderMember(NamedTuple):
    """A member that is true or false, and its header."""

    name: str
    header: bytes

    def put_into(self, body: bytes | bytearray, headers: Mapping[bytes, bytes]) -> bytes | bytearray:
        """The body with the member that the header gives it; one that has it already stays as it is."""
        sent = headers.get(self.header)
        if sent is None:
            return body
        content = {self.name: sent.strip().lower() == b"true"} | read_object(body)
        return orjson.dumps(content)


# JSON has no headers for members in botocore's model any more; the service's own model has this one.
BY_OPERATION = {
    "PutResourcePolicy": HeaderMember(
        "ConfirmRemoveSelfResourceAccess", b"X-Amz-Confirm-Remove-Self-Resource-Access"
    )
}
