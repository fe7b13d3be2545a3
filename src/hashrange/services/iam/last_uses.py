"""When access keys and roles were used last."""

from hashrange.api.context import Context
from hashrange.services.iam.entities import place
from hashrange.storage.engine import Reader
from hashrange.storage.last_uses import LastUse, stored_use


def last_use(reader: Reader, context: Context, used_id: str) -> LastUse | None:
    """The last use of a key or role, by its id: as it is kept, or as this process knows it better."""
    stored = stored_use(reader, place(context), used_id)
    known = None if context.directory is None else context.directory.last_uses.known(used_id)
    if stored is None or known is None:
        return stored or known
    return max(stored, known, key=lambda use: use.at)
