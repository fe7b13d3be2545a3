"""Members that several operations of DynamoDB Streams have."""

from typing import Annotated

from msgspec import Meta

StreamArn = Annotated[str, Meta(min_length=37, max_length=1024)]
ShardId = Annotated[str, Meta(min_length=28, max_length=65)]
SequenceNumber = Annotated[str, Meta(min_length=21, max_length=40)]
