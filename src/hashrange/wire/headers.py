"""Header names have no case on the wire; here they are in Title-Case, which most clients send anyway."""

_ODD = (b"amz-sdk-invocation-id", b"amz-sdk-request")  # how the SDKs spell these two
_TITLED = (
    b"Accept",
    b"Accept-Encoding",
    b"Authorization",
    b"Connection",
    b"Content-Length",
    b"Content-Type",
    b"Host",
    b"User-Agent",
    b"X-Amz-Content-Sha256",
    b"X-Amz-Date",
    b"X-Amz-Security-Token",
    b"X-Amz-Target",
    b"X-Amz-User-Agent",
    b"X-Amzn-Trace-Id",
)
# Transfer-Encoding is not among them on purpose: its trailers must not get into the dictionary that is given on.
# Asking whether all names are usual ones takes an eighth of the time of making a new dictionary.
_USUAL = frozenset(_TITLED + _ODD)
_SPELLINGS = {name.lower(): name for name in _TITLED}


def normal(fields: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Give the headers under names that can be looked up: the same dictionary where it already has them."""
    if _USUAL.issuperset(fields):
        return fields
    spellings = _SPELLINGS
    return {spellings.get(name) or name.title(): value for name, value in fields.items()}
