"""What a server has of another key service, as its settings say."""

import os
from collections.abc import Callable, Iterable

from hashrange.config import SettingInvalid, Settings
from hashrange.kms.table_key import SealedKey
from hashrange.remote_keys.client import KmsClient
from hashrange.remote_keys.new_keys import NewKeys
from hashrange.remote_keys.ring import KeyRing

_START_SECONDS = 10.0  # a start waits no longer than this for tables' keys


class RemoteKeys:
    """Keys at another key service."""

    def __init__(self, client: KmsClient, life_seconds: float, now: Callable[[], float]) -> None:
        self.ring = KeyRing(client, life_seconds, now)
        self.new_keys = NewKeys(client, self.ring)
        self.find = self.ring.find
        self.holds = self.ring.holds
        self.tick = self.ring.tick

    def prefetch(self, keys: Iterable[SealedKey]) -> None:
        """Have the keys of tables that are there, as far as that goes quickly."""
        self.ring.prefetch(keys, _START_SECONDS)

    def close(self) -> None:
        """Ask for nothing any more."""
        self.ring.close()
        self.new_keys.close()


def open_remote_keys(settings: Settings, now: Callable[[], float]) -> RemoteKeys | None:
    """The keys at another key service; None if tables' keys are at this server's own."""
    client = client_of(settings)
    return None if client is None else RemoteKeys(client, settings.data_key_cache, now)


def client_of(settings: Settings) -> KmsClient | None:
    """The key service that tables' keys are at; None if it is this server's own."""
    if settings.kms_endpoint is None:
        return None
    if not (os.environ.get("AWS_ACCESS_KEY_ID") and os.environ.get("AWS_SECRET_ACCESS_KEY")):
        raise SettingInvalid(
            "--kms-endpoint: requests to it are signed, so AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be in the "
            "environment"
        )
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or settings.region
    return KmsClient(settings.kms_endpoint, settings.kms_region or region)
