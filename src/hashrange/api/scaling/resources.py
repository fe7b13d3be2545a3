"""What can be scaled: the read or write capacity of a table or of a global index."""

import re
from typing import Literal, NamedTuple

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.table_names import existing_table
from hashrange.core.schema import Table, Throughput
from hashrange.storage.setting_rows import Place

NAMESPACE = "dynamodb"
_NAME = r"[a-zA-Z0-9_.-]{3,255}"
_RESOURCE = re.compile(rf"table/({_NAME})(?:/index/({_NAME}))?")
_DIMENSION = re.compile(r"dynamodb:(table|index):(Read|Write)CapacityUnits")

Access = Literal["Read", "Write"]


class Resource(NamedTuple):
    """A capacity by its names."""

    table_name: str
    index_name: str | None
    access: Access

    @property
    def id(self) -> str:
        """The service's resource id."""
        index = "" if self.index_name is None else f"/index/{self.index_name}"
        return f"table/{self.table_name}{index}"

    @property
    def dimension(self) -> str:
        """The service's scalable dimension."""
        kind = "table" if self.index_name is None else "index"
        return f"dynamodb:{kind}:{self.access}CapacityUnits"

    @property
    def metric_type(self) -> str:
        """The predefined metric that a policy for it follows."""
        return f"DynamoDB{self.access}CapacityUtilization"

    def throughput(self, table: Table) -> Throughput | None:
        """The provisioned capacity of the table or index; None where there is none."""
        if table.on_demand or table.status == "DELETING":
            return None
        if self.index_name is None:
            return table.throughput
        index = table.index_by_name.get(self.index_name)
        if index is None or index.local or index.status == "DELETING":
            return None
        return index.throughput

    def units(self, throughput: Throughput) -> int:
        """The capacity in question."""
        return throughput.read_units if self.access == "Read" else throughput.write_units


def parse(namespace: str, resource_id: str, dimension: str) -> Resource:
    """The capacity of a request's three identifiers."""
    resource = _RESOURCE.fullmatch(resource_id)
    scaled = _DIMENSION.fullmatch(dimension)
    if namespace != NAMESPACE or resource is None or scaled is None:
        raise _unsupported()
    table_name, index_name = resource.groups()
    if (scaled[1] == "index") is (index_name is None):
        raise _unsupported()
    return Resource(table_name, index_name, "Read" if scaled[2] == "Read" else "Write")


def _unsupported() -> ApiError:
    return errors.validation("Unsupported service namespace, resource type or scalable dimension")


def check_exists(context: Context, resource: Resource) -> None:
    """Refuse what there is no table or global index for."""
    table = existing_table(context, resource.table_name)
    if table is None:
        raise errors.validation(f"DynamoDB table does not exist: table/{resource.table_name}")
    if resource.index_name is None:
        return
    index = table.index_by_name.get(resource.index_name)
    if index is None or index.local:
        raise errors.validation(f"DynamoDB index does not exist: {resource.id}")


def identified(resource_id: str, dimension: str) -> str:
    """How messages name a capacity."""
    return f"service namespace: {NAMESPACE}, resource ID: {resource_id}, scalable dimension: {dimension}"


def object_not_found(message: str) -> ApiError:
    """ObjectNotFoundException."""
    return ApiError("ObjectNotFoundException", message)


def place_of(context: Context) -> Place:
    """Where the caller's settings are."""
    return Place(context.account_id, context.region)
