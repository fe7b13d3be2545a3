"""NoSQL Workbench's model file (JSON), as structures.

There is no published schema; the members are those of AWS's own sample models. What a file has beyond them is left out.
"""

from typing import Literal

import msgspec

from hashrange.modeling.exchange.guesses import WireValue
from hashrange.modeling.model import AttributeType

SERVICE = "Amazon DynamoDB"


class _Members(msgspec.Struct, kw_only=True, rename="pascal", omit_defaults=True):
    """What all parts have in common."""


class KeyDescription(_Members, kw_only=True):
    attribute_name: str
    attribute_type: Literal["S", "N", "B"] = "S"


class AttributeDescription(_Members, kw_only=True):
    attribute_name: str
    attribute_type: AttributeType = "S"


class Keys(_Members, kw_only=True):
    partition_key: KeyDescription
    sort_key: KeyDescription | None = None


class Aliases(_Members, kw_only=True):
    partition_key_alias: str = ""
    sort_key_alias: str = ""


class Facet(_Members, kw_only=True, omit_defaults=False):
    facet_name: str
    key_attribute_alias: Aliases = msgspec.field(default_factory=Aliases)
    table_data: list[dict[str, WireValue]] = []
    non_key_attributes: list[str] = []
    data_access: dict[str, object] = msgspec.field(default_factory=lambda: {"MySql": {}})


class IndexProjection(_Members, kw_only=True):
    projection_type: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = msgspec.field(default="ALL")
    non_key_attributes: list[str] = []


class WorkbenchIndex(_Members, kw_only=True, omit_defaults=False):
    index_name: str
    key_attributes: Keys
    projection: IndexProjection = msgspec.field(default_factory=IndexProjection)


class Units(_Members, kw_only=True, omit_defaults=False):
    read_capacity_units: int = 1
    write_capacity_units: int = 1


class Bounds(_Members, kw_only=True, omit_defaults=False):
    min_capacity: int = 1
    max_capacity: int = 40_000


class TargetValue(_Members, kw_only=True, omit_defaults=False):
    target_value: float = 70.0


class AutoScaling(_Members, kw_only=True, omit_defaults=False):
    scalable_target_request: Bounds = msgspec.field(default_factory=Bounds)
    scaling_policy_configuration: TargetValue = msgspec.field(default_factory=TargetValue)


class Capacity(_Members, kw_only=True):
    provisioned_throughput: Units = msgspec.field(default_factory=Units)
    auto_scaling_read: AutoScaling | None = None
    auto_scaling_write: AutoScaling | None = None


class DataModel(_Members, kw_only=True, omit_defaults=False):
    """One table."""

    table_name: str
    key_attributes: Keys
    non_key_attributes: list[AttributeDescription] = []
    table_facets: list[Facet] = []
    global_secondary_indexes: list[WorkbenchIndex] = []
    table_data: list[dict[str, WireValue]] = []
    data_access: dict[str, object] = msgspec.field(default_factory=lambda: {"MySql": {}})
    billing_mode: Literal["PROVISIONED", "PAY_PER_REQUEST"] = "PROVISIONED"
    provisioned_capacity_settings: Capacity | None = None


class Metadata(_Members, kw_only=True):
    author: str = ""
    description: str = ""
    aws_service: str = msgspec.field(default=SERVICE, name="AWSService")
    version: str = ""


class WorkbenchModel(_Members, kw_only=True, omit_defaults=False):
    """The whole file."""

    model_name: str = ""
    model_metadata: Metadata = msgspec.field(default_factory=Metadata)
    data_model: list[DataModel] = []
