"""What an operation may know beside its request."""

import msgspec

from hashrange.api.items.prepared import PreparedRequests
from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.storage.catalogue import Catalogue


class Context(msgspec.Struct):
    """One caller's view of the server: who asks, for which region, and with which services at hand."""

    catalogue: Catalogue
    clock: Clock
    settings: Settings
    region: str
    account_id: str
    access_key: str
    prepared: PreparedRequests
