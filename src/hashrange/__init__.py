"""Hashrange: a durable, faithful, self-hosted DynamoDB."""

__version__ = "0.1.0"
