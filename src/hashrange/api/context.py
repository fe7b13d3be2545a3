"""What an operation may know beside its request."""

from dataclasses import dataclass

from hashrange.clock import Clock
from hashrange.config import Settings
from hashrange.storage.catalogue import Catalogue


@dataclass(slots=True)
class Context:
    """One caller's view of the server: who asks, for which region, and with which services at hand."""

    catalogue: Catalogue
    clock: Clock
    settings: Settings
    region: str
    account_id: str
    access_key: str
