"""DynamoDB Streams: the changes of a table's items, in order, for a day."""
