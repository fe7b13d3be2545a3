"""What is wrong with a file, a line or an item in it."""

import msgspec


class Garbage(Exception):
    """From here on an object cannot be read: what comes behind a line that is none cannot be trusted."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Damaged(Exception):
    """An export is not what its manifest says; the message names the file and the difference."""


class Rejection(msgspec.Struct, frozen=True):
    """An item that was not imported."""

    index: int  # which item of its object, from 0
    message: str
    stops: bool = False  # whether the rest of the object is not read


class ItemPointer(msgspec.Struct, frozen=True, rename="camel"):
    """Where in a bucket an item was read."""

    bucket: str
    key: str
    item_index: int


class ImportErrorLine(msgspec.Struct, frozen=True, kw_only=True):
    """A message in an import's error log (developer guide: Validation errors)."""

    pointer: ItemPointer = msgspec.field(name="itemS3Pointer")
    import_arn: str = msgspec.field(name="importArn")
    error_messages: list[str] = msgspec.field(name="errorMessages")


def import_error_line(import_arn: str, bucket: str, key: str, rejection: Rejection) -> bytes:
    """One line of an import's error log."""
    line = ImportErrorLine(
        pointer=ItemPointer(bucket, key, rejection.index),
        import_arn=import_arn,
        error_messages=[rejection.message],
    )
    return msgspec.json.encode(line) + b"\n"
