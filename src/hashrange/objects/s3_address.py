"""Where an S3-compatible store is and as whom to speak to it, read from its URL and the usual AWS variables."""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import msgspec


class S3Address(msgspec.Struct, frozen=True):
    """An endpoint. Without keys of its own, those are taken that AWS's tools would find: variables, files, roles."""

    endpoint: str
    region: str
    access_key_id: str | None = None
    secret_access_key: str | None = None

    def __repr__(self) -> str:
        """Leave out the secret."""
        return f"S3Address({self.endpoint!r}, {self.region!r})"


def s3_address(url: str, environment: Mapping[str, str], region: str) -> S3Address:
    """The address in a URL, which may have keys in it: `https://KEY:SECRET@host`."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or region
    return S3Address(
        f"{parts.scheme}://{host}{parts.path}",
        region,
        None if parts.username is None else unquote(parts.username),
        None if parts.password is None else unquote(parts.password),
    )
