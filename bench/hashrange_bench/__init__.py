"""The benchmark: the same work against any endpoint that speaks DynamoDB."""
