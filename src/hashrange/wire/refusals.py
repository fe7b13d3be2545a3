"""What a request that HTTP itself rules out is answered with, before anybody looks at what it asks for."""

from hashrange.api.errors import ApiError, too_large

NOT_HTTP = ApiError("BadRequestException", "The request is not valid HTTP")
BAD_HOST = ApiError("BadRequestException", "The request needs exactly one valid Host header")
HEAD_TOO_LARGE = ApiError("BadRequestException", "The request's headers are too large or too many")
TIMEOUT = ApiError("RequestTimeoutException", "The request took too long to arrive", status=408)
BODY_TOO_LARGE = too_large()
EXPECTATION = ApiError("ExpectationFailedException", "The expectation cannot be met", status=417)
# RFC 9112 6.1 and RFC 9110 9.1: a transfer coding, or a method, that is known and not there.
CODING = ApiError("NotImplementedException", "The only transfer coding is chunked", status=501)
CONNECT = ApiError("NotImplementedException", "This server is no proxy", status=501)
BUSY = ApiError("ServiceUnavailableException", "The server is too busy", status=503)
FAILED = ApiError("InternalServerError", "Internal server error", status=500)


class RequestRefused(Exception):
    """Raised inside the parser to make it stop."""

    def __init__(self, refusal: ApiError) -> None:
        self.refusal = refusal
