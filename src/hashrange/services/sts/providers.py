"""The identity provider that the settings name, with the keys that it publishes."""

from functools import lru_cache
from pathlib import Path

from hashrange.auth import web_tokens
from hashrange.auth.web_tokens import InvalidKeys, Provider
from hashrange.config import SettingInvalid, Settings

_KEYS_BYTES_MAX = 1024 * 1024


def provider(settings: Settings) -> Provider | None:
    """The provider; None if there is none. Raises `InvalidKeys` if its keys cannot be read."""
    path = settings.oidc_jwks
    if settings.oidc_issuer is None or path is None:
        return None
    try:
        changed_at = path.stat().st_mtime_ns
    except OSError as error:
        raise InvalidKeys(f"{path} cannot be read: {error.strerror}") from None
    return _read(settings.oidc_issuer, settings.oidc_audience, path, changed_at)


@lru_cache(maxsize=4)
def _read(issuer: str, audiences: tuple[str, ...], path: Path, _changed_at: int) -> Provider:
    """The provider with the keys in a file, which is read again when it has changed."""
    try:
        with path.open("rb") as file:
            document = file.read(_KEYS_BYTES_MAX)
    except OSError as error:
        raise InvalidKeys(f"{path} cannot be read: {error.strerror}") from None
    return Provider(issuer, frozenset(audiences), web_tokens.published_keys(document))


def check(settings: Settings) -> None:
    """See that the keys of the provider can be read, before a server starts."""
    try:
        provider(settings)
    except InvalidKeys as problem:
        raise SettingInvalid(f"--oidc-jwks: {problem}") from None


def arn_of(account_id: str, known: Provider) -> str:
    """What trust policies of an account call a provider."""
    return f"arn:aws:iam::{account_id}:oidc-provider/{known.name}"
