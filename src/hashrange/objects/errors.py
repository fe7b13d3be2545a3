"""What can go wrong with an object store: a small closed set, each with the text that S3's own client shows."""

import secrets


class ObjectStoreError(Exception):
    """Something is wrong with a bucket or an object; `message` is what descriptions of jobs show."""

    code = "InternalError"  # S3's own code
    status = 500
    text = "We encountered an internal error. Please try again."
    temporary = False  # whether it may work later without anybody doing anything

    def __init__(self, reason: str = "", *, message: str | None = None) -> None:
        self.reason = reason  # for the log: what the file system or the store said
        self.message = message or s3_text(self.text, self.status, self.code)
        super().__init__(f"{self.message} ({reason})" if reason else self.message)

    @property
    def failure_code(self) -> str:
        """The FailureCode of an export or import that ends with this."""
        return f"S3{self.code}"


class NoSuchBucket(ObjectStoreError):
    """There is no such bucket."""

    code, status, text = "NoSuchBucket", 404, "The specified bucket does not exist"


class NoSuchKey(ObjectStoreError):
    """The bucket has no such object."""

    code, status, text = "NoSuchKey", 404, "The specified key does not exist."


class AccessDenied(ObjectStoreError):
    """The store does not let us, or we have nothing to identify ourselves with."""

    code, status, text = "AccessDenied", 403, "Access Denied"


class Encrypted(AccessDenied):
    """The object is encrypted, and cannot be opened: the key is missing, another one, or another account's."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why, message=f"{key} is encrypted, and cannot be opened")


class Tampered(ObjectStoreError):
    """The object is not what was encrypted: some of it was changed, moved, cut off, or is in the clear."""

    code, status = "BadDigest", 400

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why, message=f"{key} is not what was encrypted")


class Changed(ObjectStoreError):
    """The object is no longer the one whose ETag was given."""

    code, status = "PreconditionFailed", 412
    text = "At least one of the pre-conditions you specified did not hold"


class KeyTooLong(ObjectStoreError):
    """The key is longer than S3 has it, or than a path on this machine can be."""

    code, status, text = "KeyTooLongError", 400, "Your key is too long"


class InvalidKey(ObjectStoreError):
    """The key is empty, is no UTF-8, or clashes with another on a file system that ignores case."""

    code, status, text = "InvalidArgument", 400, "Invalid Argument"


class Unreachable(ObjectStoreError):
    """The store does not answer, or says that it is too busy; retries have been made."""

    code, status, temporary = "ServiceUnavailable", 503, True
    text = "Unable to execute HTTP request"


class NoSpace(ObjectStoreError):
    """The disk is full."""

    code, status, temporary = "InternalError", 500, True


def s3_text(text: str, status: int, code: str, request_id: str = "", extended_id: str = "") -> str:
    """The message as the service copies it from its own S3 client (recorded)."""
    request_id = request_id or secrets.token_hex(8).upper()
    return (
        f"{text} (Service: Amazon S3; Status Code: {status}; Error Code: {code}; Request ID: {request_id}; "
        f"S3 Extended Request ID: {extended_id or 'null'}; Proxy: null)"
    )
