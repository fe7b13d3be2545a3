"""Changes of one table called `tab`, in a service whose clock the test moves."""

from typing import Any

from clocked import Clocked
from item_tables import definitions, index, key_schema

WRONG = "One or more parameter values were invalid: "
IN_USE = "Attempt to change a resource which is still in use: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
ONLY_ONE = (
    "LimitExceededException",
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
)


def make(service: Clocked, *keys: str, types: dict[str, str] | None = None, **options: Any) -> str:
    """Create a table called `tab` and let it become active."""
    mode = {} if "ProvisionedThroughput" in options else {"BillingMode": "PAY_PER_REQUEST"}
    service.call(
        "CreateTable",
        TableName="tab",
        KeySchema=key_schema(*keys),
        AttributeDefinitions=definitions(**(dict.fromkeys(keys, "S") | (types or {}))),
        **mode,
        **options,
    )
    service.settle()
    return "tab"


def update(service: Clocked, **request: Any) -> Any:
    return service.call("UpdateTable", TableName="tab", **request)["TableDescription"]


def wrong(service: Clocked, **request: Any) -> str:
    """Message of the ValidationException that an update must be answered with."""
    code, message = service.refused("UpdateTable", TableName="tab", **request)
    assert code == "ValidationException", message
    return str(message)


def busy(service: Clocked, operation: str = "UpdateTable", **request: Any) -> str:
    """Why the table is in use."""
    code, message = service.refused(operation, TableName="tab", **request)
    assert code == "ResourceInUseException"
    assert message is not None
    assert message.startswith(IN_USE)
    return message.removeprefix(IN_USE)


def units(reads: int, writes: int) -> dict[str, int]:
    return {"ReadCapacityUnits": reads, "WriteCapacityUnits": writes}


def create(name: str, *keys: str, **members: Any) -> dict[str, Any]:
    return {"Create": index(name, *keys) | members}
