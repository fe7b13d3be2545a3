"""Requests for new tables."""

from typing import Any

from item_tables import definitions, key_schema, unique

WRONG = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


def request(*keys: str, types: dict[str, str] | None = None, **options: Any) -> dict[str, Any]:
    """A good request for a table with these keys, with some members replaced; None leaves one out."""
    members = {
        "TableName": unique("created"),
        "KeySchema": key_schema(*keys),
        "AttributeDefinitions": definitions(**(dict.fromkeys(keys, "S") | (types or {}))),
        "BillingMode": "PAY_PER_REQUEST",
        **options,
    }
    return {name: value for name, value in members.items() if value is not None}
