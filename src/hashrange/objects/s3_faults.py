"""What an S3-compatible store answers, or botocore says for want of an answer, as our own small set of errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
)
from urllib3.exceptions import HTTPError

from hashrange.objects.errors import (
    AccessDenied,
    Changed,
    InvalidKey,
    KeyTooLong,
    NoSuchBucket,
    NoSuchKey,
    ObjectStoreError,
    Unreachable,
    s3_text,
)

_KINDS: dict[str, type[ObjectStoreError]] = {
    "NoSuchBucket": NoSuchBucket,
    "InvalidBucketName": NoSuchBucket,
    "NoSuchKey": NoSuchKey,
    "PreconditionFailed": Changed,
    "412": Changed,
    "KeyTooLongError": KeyTooLong,
    "InvalidURI": InvalidKey,
}
_BUSY = frozenset(
    {"SlowDown", "RequestTimeout", "RequestTimeTooSkewed", "ServiceUnavailable", "InternalError"}
)


@contextmanager
def mapped() -> Iterator[None]:
    """Raise botocore's errors as ours."""
    try:
        yield
    except ClientError as error:
        raise answered(error) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise AccessDenied(str(error)) from error
    except ParamValidationError as error:
        raise InvalidKey(str(error)) from error
    except (BotoCoreError, HTTPError, OSError) as error:
        raise Unreachable(str(error), message=f"{Unreachable.text}: {error}") from error


def answered(error: ClientError) -> ObjectStoreError:
    """The error that an answer means, in the words of the answer."""
    details: dict[str, Any] = error.response.get("Error", {})
    metadata: dict[str, Any] = error.response.get("ResponseMetadata", {})
    status = int(metadata.get("HTTPStatusCode", 0))
    code = str(details.get("Code", status))
    kind = _kind(code, status)
    text = s3_text(
        details.get("Message") or kind.text,
        status,
        kind.code if code.isdigit() else code,
        metadata.get("RequestId", ""),
        metadata.get("HostId", ""),
    )
    return kind(message=text)


def _kind(code: str, status: int) -> type[ObjectStoreError]:
    if code in _KINDS:
        return _KINDS[code]
    if status in {401, 403}:
        return AccessDenied  # InvalidAccessKeyId, SignatureDoesNotMatch, ExpiredToken and others
    if status == 404:
        return NoSuchKey
    if status >= 500 or status == 429 or code in _BUSY:
        return Unreachable
    return ObjectStoreError


def is_code(error: ClientError, *codes: str) -> bool:
    """Whether an answer has one of these codes."""
    return error.response.get("Error", {}).get("Code") in codes
