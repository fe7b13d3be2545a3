"""Structures that several operations of IAM have, and the types of their members."""

from typing import Annotated, Literal

from msgspec import Meta

from hashrange.api.protocol import kinds
from hashrange.api.protocol.kinds import JavaPattern
from hashrange.api.protocol.structures import Response, Structure

_NAME = JavaPattern(r"[\w+=,.@-]+", r"[A-Za-z0-9_+=,.@-]+")
_STRICT = r"\A[A-Za-z0-9_+=,.@-]+\Z"
_PATH = JavaPattern(r"(\u002F)|(\u002F[\u0021-\u007E]+\u002F)", r"/|/[!-~]+/")
_DOCUMENT = JavaPattern(r"[\u0009\u000A\u000D\u0020-\u00FF]+", r"[\t\n\r -\xff]+")

Name = Annotated[
    str,
    Meta(min_length=1, max_length=64, pattern=_STRICT),
    kinds.Name(least=1, most=64, pattern=_NAME),
]
LongName = Annotated[
    str,
    Meta(min_length=1, max_length=128, pattern=_STRICT),
    kinds.Name(least=1, most=128, pattern=_NAME),
]
Path = Annotated[
    str,
    Meta(min_length=1, max_length=512, pattern=r"\A(/|/[!-~]+/)\Z"),
    kinds.Name(least=1, most=512, pattern=_PATH),
]
PathPrefix = Annotated[str, Meta(min_length=1, max_length=512)]
Document = Annotated[
    str,
    Meta(min_length=1, max_length=131_072, pattern=r"\A[\t\n\r -\xff]+\Z"),
    kinds.Name(least=1, most=131_072, pattern=_DOCUMENT),
]
Arn = Annotated[str, Meta(min_length=20, max_length=2048)]
AccessKeyId = Annotated[
    str,
    Meta(min_length=16, max_length=128, pattern=r"\A[A-Za-z0-9_]+\Z"),
    kinds.Name(least=16, most=128, pattern=JavaPattern(r"[\w]+", r"[A-Za-z0-9_]+")),
]
VersionId = Annotated[
    str,
    Meta(pattern=r"\Av[1-9][0-9]*(\.[A-Za-z0-9-]*)?\Z"),
    kinds.Name(
        pattern=JavaPattern(r"v[1-9][0-9]*(\.[A-Za-z0-9-]*)?", r"v[1-9][0-9]{0,8}(\.[A-Za-z0-9-]{0,64})?")
    ),
]
Description = Annotated[str, Meta(max_length=1000)]
SessionSeconds = Annotated[int, Meta(ge=3600, le=43_200)]
Marker = Annotated[str, Meta(min_length=1, max_length=2048)]
MaxItems = Annotated[int, Meta(ge=1, le=1000)]
Status = Literal["Active", "Inactive"]
Timestamp = Annotated[float, kinds.Timestamp()]
# Letters, digits and blanks of every script, and some signs.
_TAG_CHAR = r"(?:[^\W_]|[ \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000_.:/=+\-@])"
_TAG_CHARS = r"[\p{L}\p{Z}\p{N}_.:/=+\-@]"
TagKey = Annotated[
    str,
    Meta(min_length=1, max_length=128, pattern=rf"\A{_TAG_CHAR}+\Z"),
    kinds.Name(least=1, most=128, pattern=JavaPattern(_TAG_CHARS + "+", _TAG_CHAR + "+")),
]
TagValue = Annotated[
    str,
    Meta(max_length=256, pattern=rf"\A{_TAG_CHAR}*\Z"),
    kinds.Name(least=0, most=256, pattern=JavaPattern(_TAG_CHARS + "*", _TAG_CHAR + "*")),
]


_ALIAS = r"[a-z0-9]([a-z0-9]|-(?!-)){1,61}[a-z0-9]"
Alias = Annotated[
    str,
    Meta(min_length=3, max_length=63, pattern=rf"\A{_ALIAS}\Z"),
    kinds.Name(least=3, most=63, pattern=JavaPattern(f"^{_ALIAS}$", _ALIAS)),
]


class Tag(Structure, kw_only=True):
    """A tag."""

    key: TagKey
    value: TagValue


class TagView(Response, kw_only=True):
    """A tag as answers have it."""

    key: str
    value: str


class AttachedPermissionsBoundary(Response, kw_only=True):
    """The permissions boundary of a user or role."""

    permissions_boundary_type: str = "Policy"
    permissions_boundary_arn: str


class UserView(Response, kw_only=True):
    """A user."""

    path: str
    user_name: str | None = None
    user_id: str
    arn: str
    create_date: Timestamp
    permissions_boundary: AttachedPermissionsBoundary | None = None
    tags: list[TagView] | None = None


class GroupView(Response, kw_only=True):
    """A group."""

    path: str
    group_name: str
    group_id: str
    arn: str
    create_date: Timestamp


class RoleLastUsed(Response, kw_only=True):
    """When a role was used last; empty if it never was."""

    last_used_date: Timestamp | None = None
    region: str | None = None


class RoleView(Response, kw_only=True):
    """A role."""

    path: str
    role_name: str
    role_id: str
    arn: str
    create_date: Timestamp
    assume_role_policy_document: str
    description: str | None = None
    max_session_duration: int | None = None
    permissions_boundary: AttachedPermissionsBoundary | None = None
    tags: list[TagView] | None = None
    role_last_used: RoleLastUsed | None = None


class PolicyView(Response, kw_only=True):
    """A managed policy."""

    policy_name: str
    policy_id: str
    arn: str
    path: str
    default_version_id: str
    attachment_count: int | None = None
    permissions_boundary_usage_count: int | None = None
    is_attachable: bool | None = None
    description: str | None = None
    create_date: Timestamp
    update_date: Timestamp
    tags: list[TagView] | None = None


class PolicyVersionView(Response, kw_only=True):
    """A version of a managed policy."""

    document: str | None = None
    version_id: str
    is_default_version: bool | None = None
    create_date: Timestamp


class AttachedPolicy(Response, kw_only=True):
    """A managed policy that is attached."""

    policy_name: str
    policy_arn: str


class AccessKeyMetadata(Response, kw_only=True):
    """An access key without its secret."""

    user_name: str | None = None
    access_key_id: str
    status: str
    create_date: Timestamp


class AccessKeyView(Response, kw_only=True):
    """A new access key, with the secret, which is shown this once."""

    user_name: str | None = None
    access_key_id: str
    status: str
    secret_access_key: str
    create_date: Timestamp
