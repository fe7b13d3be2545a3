"""The version of the stored format, the same in every engine: what rows hold is none of an engine's business."""

from hashrange.storage.errors import Corrupt, FormatTooNew, FormatTooOld

# 1: items with a header of 5 bytes. 2: of 16 bytes, and partitions in the table's record (docs/design/009).
# 3: every row and counter has a checksum (docs/design/011).
# 4: change logs, and what they need in the table's record (docs/design/014).
# 5: bounds of partitions and shards are keys (docs/design/022).
# 6: SQLite keeps large values apart from their keys (docs/design/048).
FORMAT_VERSION = 6


def check_version(version: object, subject: str) -> None:
    """Refuse data of another format; `subject` says for people what the data is."""
    if not isinstance(version, str) or not version.isdigit():
        raise Corrupt(f"{subject} does not say which on-disk format it has")
    if int(version) > FORMAT_VERSION:
        message = (
            f"{subject} has on-disk format {version}, this version of Hashrange reads up to {FORMAT_VERSION}: "
            "use a newer version"
        )
        raise FormatTooNew(message)
    if int(version) < FORMAT_VERSION:
        message = (
            f"{subject} has on-disk format {version}, this version of Hashrange reads {FORMAT_VERSION}: use the "
            "version that wrote it, or start with an empty one"
        )
        raise FormatTooOld(message)
