"""Types that the operations on backups share."""

from typing import Annotated

from msgspec import Meta

from hashrange.api.protocol import kinds

BackupArn = Annotated[str, Meta(min_length=37, max_length=1024)]
Timestamp = Annotated[float, kinds.Timestamp()]
