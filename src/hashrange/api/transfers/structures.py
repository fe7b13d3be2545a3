"""Types that exports, imports and bulk operations share."""

import re
import secrets
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.errors import ApiError, validation
from hashrange.api.protocol import kinds
from hashrange.storage.job_rows import JobPlace

Timestamp = Annotated[float, kinds.Timestamp()]
JobArn = Annotated[str, Meta(min_length=37, max_length=1024)]
TableArn = Annotated[str, Meta(min_length=1, max_length=1024)]
ClientToken = Annotated[str, Meta(pattern=r"\A[^$]+\Z"), kinds.Text(pattern=kinds.compiled(r"^[^\$]+$"))]
_BUCKET = r"[a-z0-9A-Z][a-zA-Z0-9_.-]*[a-z0-9A-Z]"


class BucketName(kinds.Text):
    """A bucket's name: the service's own pattern says the same, and takes cubic time."""

    def violations(self, value: Any, path: str) -> Iterator[kinds.Violation]:
        if re.fullmatch(_BUCKET, value) is None:
            rule = r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$"
            yield value, path, f"Member must satisfy regular expression pattern: {rule}"
        yield from super().violations(value, path)


S3Bucket = Annotated[str, Meta(max_length=255, pattern=rf"\A{_BUCKET}\Z"), BucketName(most=255)]
S3Prefix = Annotated[str, Meta(max_length=1024)]
S3BucketOwner = Annotated[
    str, Meta(pattern=r"\A[0-9]{12}\Z"), kinds.Text(pattern=kinds.compiled("[0-9]{12}"))
]
KmsKeyId = Annotated[str, Meta(min_length=1, max_length=2048)]
PageSize = Annotated[int, Meta(ge=1, le=25)]
PAGE_DEFAULT = 10
# The order is spelled out: Python takes two Literals of the same values for one and may give the other's order.
CompressionType = Annotated[Literal["ZSTD", "NONE", "GZIP"], kinds.Text(choices=("ZSTD", "NONE", "GZIP"))]
PageToken = Annotated[
    str,
    Meta(min_length=112, max_length=1024, pattern=r"\A([0-9a-f]{16})+\Z"),
    kinds.Text(least=112, most=1024, pattern=kinds.compiled("([0-9a-f]{16})+")),
]

_ARN = re.compile(r"arn:aws[^:]*:dynamodb:([^:]+):([0-9]{12}):table/([a-zA-Z0-9_.-]{3,255})")
_TOKEN_BYTES = 56  # 112 hexadecimal digits, the least that the service's own tokens have


def invalid(rule: str) -> ApiError:
    """ValidationException as these operations word it."""
    return validation(f"Invalid Request: {rule}")


def new_place(context: Context, now: float) -> JobPlace:
    """The place of a new job."""
    return JobPlace(context.account_id, context.region, f"{int(now * 1000):014d}-{secrets.token_hex(4)}")


def place_of(context: Context, arn: str, kind: str) -> JobPlace | None:
    """The place of a job by its ARN, None if it is another region's or account's; garbage is refused."""
    match = re.fullmatch(rf"{_ARN.pattern}/{kind}/([0-9]{{14}}-[0-9a-f]{{8}})", arn)
    if match is None:
        raise validation(f"Invalid {kind.replace('-', ' ').title()} ARN")
    region, account_id, _, job_id = match.groups()
    if (region, account_id) != (context.region, context.account_id):
        return None
    return JobPlace(account_id, region, job_id)


def table_of_arn(context: Context, arn: str) -> str:
    """The name in a table's ARN."""
    if not arn.startswith("arn:"):
        raise validation("One or more parameter values were invalid: tableArn is not a valid ARN")
    match = _ARN.fullmatch(arn)
    if match is None or match[1] != context.region:
        raise invalid("Table ARN is invalid.")
    if match[2] != context.account_id:
        raise ApiError("AccessDeniedException", "Access is denied")
    return match[3]


def next_token(job_id: str) -> str:
    """Where the next page begins: hexadecimal digits, in sixteens."""
    return job_id.encode().ljust(_TOKEN_BYTES, b"\0").hex()


def read_token(token: str | None) -> str:
    """The id that a page ended with; empty for the first page."""
    if token is None:
        return ""
    try:
        job_id = bytes.fromhex(token).rstrip(b"\0").decode("ascii")
    except ValueError:
        job_id = ""
    if not re.fullmatch(r"[0-9]{14}-[0-9a-f]{8}", job_id):
        raise invalid(f"Provided nextToken is invalid: {token}")
    return job_id
