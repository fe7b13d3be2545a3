"""Tags of keys."""

from collections.abc import Iterable

from hashrange.api.errors import ApiError, limit_exceeded
from hashrange.core.limits import TAGS_MAX
from hashrange.services.kms.structures import Tag


def merged(tags: dict[str, str], more: Iterable[Tag]) -> dict[str, str]:
    """Tags with others added or changed."""
    added: dict[str, str] = {}
    for tag in more:
        if tag.tag_key.lower().startswith("aws:"):
            raise ApiError("TagException", "Tags beginning with aws: are reserved")
        if tag.tag_key in added:
            raise ApiError("TagException", "Duplicate tag keys")
        added[tag.tag_key] = tag.tag_value
    after = tags | added
    if len(after) > TAGS_MAX:
        raise limit_exceeded(f"A key has at most {TAGS_MAX} tags")
    return after
