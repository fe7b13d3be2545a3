"""Why a request is not served: the service's code and words."""


class Rejected(Exception):
    """A request that is not signed as it must be."""

    canonical: bytes | None = None  # what should have been signed, where something else was

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def incomplete(message: str) -> Rejected:
    """Something of the signature is missing or cannot be read."""
    return Rejected("IncompleteSignatureException", message)


def invalid(message: str) -> Rejected:
    """The signature is there, and is wrong."""
    return Rejected("InvalidSignatureException", message)


def unrecognized(message: str) -> Rejected:
    """Nobody has this access key, or not with this token."""
    return Rejected("UnrecognizedClientException", message)
