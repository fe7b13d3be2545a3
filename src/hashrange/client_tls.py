"""TLS as commands speak it to a server: whom they trust, and which certificate they show.

All of it comes from the environment, as the access key does: the authority from where AWS's tools have it.
"""

import ssl
from collections.abc import Mapping

_AUTHORITY = "AWS_CA_BUNDLE"
CERTIFICATE = "HASHRANGE_CLIENT_CERT"
KEY = "HASHRANGE_CLIENT_KEY"


class ClientTlsInvalid(Exception):
    """A file that the environment names cannot be used; the message says which."""


def client_certificate(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """The files of a certificate and its key; they may be one."""
    certificate, key = environment.get(CERTIFICATE), environment.get(KEY)
    if key and not certificate:
        raise ClientTlsInvalid(f"{KEY} goes with {CERTIFICATE}, which is not set")
    return (certificate, key or certificate) if certificate else None


def client_context(environment: Mapping[str, str]) -> ssl.SSLContext:
    """What an https connection is made with; without an authority of its own the system's are trusted."""
    authority = environment.get(_AUTHORITY) or None
    try:
        context = ssl.create_default_context(cafile=authority)
    except OSError as error:
        raise ClientTlsInvalid(f"{_AUTHORITY}: {authority} cannot be used: {error}") from None
    pair = client_certificate(environment)
    if pair is not None:
        try:
            # No question at the terminal for the password of a key; a wrong one is an error.
            context.load_cert_chain(*pair, password=bytes)
        except OSError as error:
            raise ClientTlsInvalid(f"{CERTIFICATE}: {pair[0]} cannot be used: {error}") from None
    return context
