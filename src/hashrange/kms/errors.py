"""What can be wrong with keys and with what is encrypted under them."""

from collections.abc import Iterable


class NotAuthentic(Exception):
    """The bytes are not what was encrypted under this key, for this purpose: some of them were changed, or moved."""


class OtherRootKey(Exception):
    """A file is encrypted under another root key; the message is meant for the operator."""

    def __init__(self, theirs: Iterable[str], ours: str) -> None:
        names = " and ".join(sorted(theirs)) or "unknown"
        super().__init__(
            f"it is encrypted under the root key with the id {names}, and this one has the id {ours}"
        )
