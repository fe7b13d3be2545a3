"""Streams, encryption and table class: what a request may say about them."""

from hashrange.api import errors
from hashrange.api.keys.table_encryption import MANAGED
from hashrange.api.tables.structures import SSESpecification, StreamSpecification
from hashrange.api.tables.wording import invalid

_TABLE_CLASSES = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")


def created_stream(spec: StreamSpecification | None) -> str | None:
    """The view type of a new table's stream, or none."""
    if spec is None:
        return None
    view_type = spec.stream_view_type
    if spec.stream_enabled and view_type is None:
        raise invalid("Table is being created with a stream enabled, UpdateViewType is required")
    if not spec.stream_enabled and view_type is not None:
        raise invalid("Table is being created with a stream disabled, UpdateViewType should not be specified")
    return view_type


def check_stream_change(spec: StreamSpecification) -> None:
    """A stream is switched on with a view type and off without one."""
    if spec.stream_enabled and spec.stream_view_type is None:
        raise invalid("If stream is being enabled then UpdateViewType is required")
    if not spec.stream_enabled and spec.stream_view_type is not None:
        raise invalid("If stream is being disabled, then UpdateViewType must not be specified")


def check_table_class(name: str | None) -> None:
    """Refuse a table class there is not; the service does so in a sentence of its own."""
    if name is not None and name not in _TABLE_CLASSES:
        raise errors.validation(
            "Invalid table-class parameter provided. Please try again with a valid table-class value: "
            f"[{', '.join(_TABLE_CLASSES)}]."
        )


def encryption_key(spec: SSESpecification | None) -> str | None:
    """How a request names the key that it asks for; none for the service's own key."""
    if not spec:
        return None
    enabled, kind, key = spec.enabled, spec.sse_type, spec.kms_master_key_id
    if enabled is False and kind is not None:
        raise invalid("SSEType can not be specified if Enabled is false")
    if enabled is False and key is not None:
        raise invalid("KMSMasterKeyId can not be specified if Enabled is false")
    if kind == "AES256":
        raise invalid("SSEType AES256 is not supported")
    if key is not None and kind is None:
        raise invalid("SSEType KMS is required if KMSMasterKeyId is specified")
    if not enabled and kind is None:
        return None
    return MANAGED if key is None else key
