"""Tags of scalable targets."""

from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.core.limits import TAG_KEY_CHARS_MAX, TAG_VALUE_CHARS_MAX, TAGS_MAX


def check(tags: dict[str, str]) -> None:
    """Refuse keys and values that are too long, or of AWS's own, and more than fifty."""
    for key, value in tags.items():
        if not 0 < len(key) <= TAG_KEY_CHARS_MAX:
            raise errors.validation(f"Tag keys must have 1 to {TAG_KEY_CHARS_MAX} characters")
        if len(value) > TAG_VALUE_CHARS_MAX:
            raise errors.validation(f"Tag values must have at most {TAG_VALUE_CHARS_MAX} characters")
        if key.lower().startswith("aws:"):
            raise errors.validation("Tag keys that begin with aws: are reserved")
    if len(tags) > TAGS_MAX:
        raise errors.validation(f"A scalable target has at most {TAGS_MAX} tags")


def merged(tags: dict[str, str], more: dict[str, str], arn: str) -> dict[str, str]:
    """Tags with others added or changed."""
    after = tags | more
    if len(after) > TAGS_MAX:
        message = f"The number of tags of {arn} exceeds the limit of {TAGS_MAX}"
        raise ApiError("TooManyTagsException", message, fields={"ResourceName": arn})
    return after
