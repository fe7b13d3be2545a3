"""Members that the operations on resource policies have in common."""

from typing import Annotated

from hashrange.api.protocol import kinds
from hashrange.core.limits import RESOURCE_ARN_CHARS_MAX, REVISION_ID_CHARS_MAX

ResourceArn = Annotated[str, kinds.Text(least=1, most=RESOURCE_ARN_CHARS_MAX)]
RevisionId = Annotated[str, kinds.Text(least=1, most=REVISION_ID_CHARS_MAX)]
