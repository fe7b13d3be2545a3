"""TLS for the server: its context, made of files, and made again when they have changed."""

import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hashrange import logs
from hashrange.config import SettingInvalid, Settings
from hashrange.metrics import Metric, Sample
from hashrange.tls_files import Certificate, TlsInvalid, read_certificate, read_password, refuse_open_key

# Mozilla's intermediate configuration 6.0: forward secrecy and authenticated encryption only. Those of TLS 1.3 all are.
CIPHERS = (
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
)
_WARN_SECONDS = 14 * 24 * 3600.0
EXPIRY_CHECK_SECONDS = 24 * 3600.0

log = logs.Log("tls")


class TlsFiles(NamedTuple):
    """Where certificate and key are."""

    certificate: Path
    key: Path
    client_ca: Path | None = None  # of clients that must show a certificate; None: they need none
    key_password: Path | None = None


class Tls:
    """The context that the next connection is served with. Connections keep the one they began with."""

    def __init__(self, files: TlsFiles, now: Callable[[], float] = time.time) -> None:
        """Load the files; raises TlsInvalid."""
        self._files = files
        self._now = now
        self.context, self.certificate = load(files)

    @classmethod
    def configured(cls, settings: Settings) -> "Tls | None":
        """Load what the settings name; None without TLS."""
        if settings.tls_cert is None or settings.tls_key is None:
            return None
        files = TlsFiles(
            settings.tls_cert, settings.tls_key, settings.tls_client_ca, settings.tls_key_password_file
        )
        try:
            return cls(files)
        except TlsInvalid as problem:
            raise SettingInvalid(f"TLS: {problem}") from None

    def announce(self) -> None:
        """Log which certificate is served, and if it expires soon."""
        certificate = self.certificate
        log.info(
            "tls.loaded",
            fingerprint=certificate.fingerprint,
            names=",".join(certificate.names),
            expires=certificate.not_after.isoformat(),
        )
        self.check_expiry()

    def check_expiry(self) -> None:
        """Warn of a certificate that is about to expire."""
        left = self.certificate.seconds_left(self._now())
        expires = self.certificate.not_after.isoformat()
        if left <= 0:
            log.error("tls.expired", expires=expires)
        elif left < _WARN_SECONDS:
            log.warning("tls.expires_soon", expires=expires, days=int(left // 86400))

    def reload(self) -> bool:
        """Load the files again; if that fails, go on with what there is."""
        try:
            context, certificate = load(self._files)
            self._refuse_expired(certificate)
        except TlsInvalid as problem:
            log.error("tls.not_reloaded", reason=str(problem))
            return False
        self.context, self.certificate = context, certificate
        self.announce()
        return True

    def _refuse_expired(self, certificate: Certificate) -> None:
        """Clients refuse an expired certificate, so another one is better as long as it is valid."""
        now = self._now()
        if certificate.seconds_left(now) <= 0 < self.certificate.seconds_left(now):
            expired = certificate.not_after.isoformat()
            raise TlsInvalid(f"the certificate in {self._files.certificate} has expired: {expired}")

    def metrics(self) -> list[Metric]:
        """When the certificate that is served expires."""
        help_text = "When the certificate that is served expires, in seconds since 1970."
        value = self.certificate.not_after.timestamp()
        return [Metric("hashrange_tls_certificate_expiry_seconds", "gauge", help_text, [Sample({}, value)])]


def load(files: TlsFiles) -> tuple[ssl.SSLContext, Certificate]:
    """Make a context of the files, or raise TlsInvalid."""
    refuse_open_key(files.key)
    certificate = read_certificate(files.certificate)
    password = None if files.key_password is None else read_password(files.key_password)

    def give_password() -> bytes:
        # Without this OpenSSL would ask at the terminal.
        if password is None:
            raise TlsInvalid(f"{files.key} is encrypted: its password goes into --tls-key-password-file")
        return password

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.set_ciphers(CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(files.certificate, files.key, give_password)
    except ssl.SSLError as error:
        raise TlsInvalid(_key_problem(files, error)) from None
    except OSError as error:
        raise TlsInvalid(f"{files.key} cannot be read: {error.strerror}") from None
    if files.client_ca is not None:
        _require_clients(context, files.client_ca)
    return context, certificate


def _key_problem(files: TlsFiles, error: ssl.SSLError) -> str:
    match error.reason:
        case "KEY_VALUES_MISMATCH":
            return f"{files.key} is not the key of the certificate in {files.certificate}"
        case _ if files.key_password is not None:
            return f"{files.key} has no key in PEM form, or its password is another one"
        case _:
            return (
                f"{files.key} and {files.certificate} cannot be used: {error.reason or 'no key in PEM form'}"
            )


def _require_clients(context: ssl.SSLContext, authority: Path) -> None:
    """Let in those only who show a certificate of this authority."""
    try:
        context.load_verify_locations(authority)
    except ssl.SSLError:
        raise TlsInvalid(f"{authority} has no certificate in PEM form") from None
    except OSError as error:
        raise TlsInvalid(f"{authority} cannot be read: {error.strerror}") from None
    context.verify_mode = ssl.CERT_REQUIRED
