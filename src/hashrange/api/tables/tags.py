"""Tags: their rules, and the table whose ARN a tagging request gives."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import TypeVar

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.tables.structures import Tag
from hashrange.api.tables.wording import invalid
from hashrange.core.limits import TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX
from hashrange.core.schema import Table
from hashrange.core.table_life import gone

_MARKS = frozenset("+-=._:/@")

T = TypeVar("T")


def new_tags(sent: Sequence[Tag]) -> dict[str, str]:
    """The tags of a request, checked: all of them are good, or none is taken."""
    tags: dict[str, str] = {}
    for tag in sent:
        key, value = tag.key, tag.value
        check_key(key)
        if value is None or len(value) > TAG_VALUE_CHARS_MAX or not _legal(value):
            shown = "null" if value is None else value
            raise errors.validation(f"The Tag Value provided is invalid, Value: {shown}")
        if key in tags:
            raise errors.validation(f"Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
        tags[str(key)] = value
    check_count(tags)
    return tags


def required(sent: list[T] | None, name: str, word: str) -> list[T]:
    """The list a request must give, which must not be empty."""
    if sent is None:
        raise errors.validation(
            f"1 validation error detected: Value null at '{name}' failed to satisfy "
            "constraint: Member must not be null"
        )
    if not sent:
        raise errors.validation(f"Atleast one {word} needs to be provided as Input.")
    return sent


def check_key(key: str | None) -> None:
    """Refuse a key of the wrong length, with other characters than tags have, or of AWS's own."""
    if not key or len(key) > TAG_KEY_CHARS_MAX or not _legal(key):
        raise errors.validation(f"The Tag Key provided is invalid, Key: {'null' if key is None else key}")
    if key.startswith("aws:"):
        raise errors.validation(f"Tag Key cannot be prefixed with aws:, Key: {key}")


def check_count(tags: Mapping[str, str] | Sequence[str]) -> None:
    """A table has at most fifty tags."""
    if len(tags) > TAGS_MAX:
        raise errors.validation("Number of Tags exceed the current limit for the provided ResourceArn")


def _legal(text: str) -> bool:
    # Letters, digits and spaces of any script, and a few marks.
    return all(char in _MARKS or unicodedata.category(char)[0] in "LNZ" for char in text)


def tagged_table(context: Context, arn: str, name: str) -> Table:
    """The table of an ARN that has been looked at."""
    table = context.catalogue.find(arn.split(":", 5)[4], context.region, name)
    if table is None or gone(table, context.clock.now()):
        raise missing(arn)
    if table.restoring is not None:
        raise errors.table_not_found(name)
    return table


def missing(arn: str) -> ApiError:
    """ResourceNotFoundException as the tagging operations word it."""
    return errors.not_found(f"Requested resource not found: ResourceArn: {arn} not found")


def table_name(context: Context, arn: str | None) -> str:
    """The name in a table's ARN; the service looks at its parts in this order."""
    if arn is None:
        raise errors.validation("Invalid TableArn")
    if not arn.startswith("arn:"):
        raise invalid(f"ARNs must start with 'arn:': {arn}")
    parts = arn.split(":", 5)
    if len(parts) < 6 or parts[2] != "dynamodb":
        raise ApiError("AccessDeniedException", "Access is denied")
    kind, _, name = parts[5].partition("/")
    if kind != "table" or not name:
        raise invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    if parts[4] != context.account_id and parts[4] not in context.reaches:
        raise ApiError("AccessDeniedException", "Access is denied")
    if parts[3] != context.region:
        raise errors.validation(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    if "/stream/" in name:
        raise missing(arn)
    if "/" in name:
        raise invalid(
            f"Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
        )
    return name
