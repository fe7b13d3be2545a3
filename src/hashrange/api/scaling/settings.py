"""Auto scaling as DynamoDB's own operations speak of it: settings of a table's replicas and their indexes."""

from typing import Annotated

from msgspec import Meta

from hashrange import ids
from hashrange.api import errors
from hashrange.api.errors import ApiError
from hashrange.api.protocol import kinds
from hashrange.api.protocol.kinds import JavaPattern
from hashrange.api.protocol.structures import Response, Structure
from hashrange.api.scaling import policies, targets
from hashrange.api.scaling.resources import Resource
from hashrange.api.scaling.targets import Registration
from hashrange.core.schema import Table
from hashrange.storage import scaling_rows
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.scaling_rows import Policy, TargetTracking
from hashrange.storage.setting_rows import Place

Units = Annotated[int, Meta(ge=1, le=2**63 - 1), kinds.Whole(least=1, java="Long")]
Seconds = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
PolicyName = Annotated[
    str,
    Meta(min_length=1, max_length=256, pattern=r"\A[ -~]+\Z"),
    kinds.Text(least=1, most=256, pattern=JavaPattern(r"\p{Print}+", "[ -~]+")),
]


class TargetTrackingUpdate(Structure, kw_only=True):
    """What a policy is to follow."""

    disable_scale_in: bool | None = None
    scale_in_cooldown: Seconds | None = None
    scale_out_cooldown: Seconds | None = None
    target_value: float


class AutoScalingPolicyUpdate(Structure, kw_only=True):
    """A policy to be put."""

    policy_name: PolicyName | None = None
    target_tracking_scaling_policy_configuration: TargetTrackingUpdate


class AutoScalingSettingsUpdate(Structure, kw_only=True):
    """How one capacity is to be scaled."""

    minimum_units: Units | None = None
    maximum_units: Units | None = None
    auto_scaling_disabled: bool | None = None
    auto_scaling_role_arn: str | None = None
    scaling_policy_update: AutoScalingPolicyUpdate | None = None


class TargetTrackingDescription(Response, kw_only=True):
    """What a policy follows."""

    disable_scale_in: bool | None = None
    scale_in_cooldown: int | None = None
    scale_out_cooldown: int | None = None
    target_value: float


class AutoScalingPolicyDescription(Response, kw_only=True):
    """A policy."""

    policy_name: str
    target_tracking_scaling_policy_configuration: TargetTrackingDescription


class AutoScalingSettingsDescription(Response, kw_only=True):
    """How one capacity is scaled."""

    minimum_units: int | None = None
    maximum_units: int | None = None
    auto_scaling_disabled: bool | None = None
    auto_scaling_role_arn: str | None = None
    scaling_policies: list[AutoScalingPolicyDescription]


class ReplicaIndexDescription(Response, kw_only=True):
    """How an index of a replica is scaled."""

    index_name: str
    index_status: str
    provisioned_read_capacity_auto_scaling_settings: AutoScalingSettingsDescription
    provisioned_write_capacity_auto_scaling_settings: AutoScalingSettingsDescription


class ReplicaAutoScalingDescription(Response, kw_only=True):
    """How a replica is scaled."""

    region_name: str
    global_secondary_indexes: list[ReplicaIndexDescription] | None = None
    replica_provisioned_read_capacity_auto_scaling_settings: AutoScalingSettingsDescription
    replica_provisioned_write_capacity_auto_scaling_settings: AutoScalingSettingsDescription
    replica_status: str


class TableAutoScalingDescription(Response, kw_only=True):
    """How a table is scaled: here it has one replica, itself."""

    table_name: str
    table_status: str
    replicas: list[ReplicaAutoScalingDescription]


def described_table_scaling(
    reader: Reader, place: Place, table: Table, now: float
) -> TableAutoScalingDescription:
    """All settings of a table, whoever made them."""
    status = table.status_at(now)
    indexes = [
        ReplicaIndexDescription(
            index_name=index.name,
            index_status=index.status_at(now),
            provisioned_read_capacity_auto_scaling_settings=_described(
                reader, place, Resource(table.name, index.name, "Read")
            ),
            provisioned_write_capacity_auto_scaling_settings=_described(
                reader, place, Resource(table.name, index.name, "Write")
            ),
        )
        for index in table.indexes_by_name
        if not index.local
    ]
    replica = ReplicaAutoScalingDescription(
        region_name=place.region,
        global_secondary_indexes=indexes or None,
        replica_provisioned_read_capacity_auto_scaling_settings=_described(
            reader, place, Resource(table.name, None, "Read")
        ),
        replica_provisioned_write_capacity_auto_scaling_settings=_described(
            reader, place, Resource(table.name, None, "Write")
        ),
        replica_status=status,
    )
    return TableAutoScalingDescription(table_name=table.name, table_status=status, replicas=[replica])


def _described(reader: Reader, place: Place, resource: Resource) -> AutoScalingSettingsDescription:
    target = scaling_rows.find_target(reader, place, resource.id, resource.dimension)
    if target is None:
        return AutoScalingSettingsDescription(auto_scaling_disabled=True, scaling_policies=[])
    own = scaling_rows.policies_of(reader, place, resource.id, resource.dimension)
    return AutoScalingSettingsDescription(
        minimum_units=target.least,
        maximum_units=target.most,
        auto_scaling_role_arn=target.role_arn,
        scaling_policies=[_described_policy(policy) for policy in own],
    )


def _described_policy(policy: Policy) -> AutoScalingPolicyDescription:
    tracking = policy.tracking
    return AutoScalingPolicyDescription(
        policy_name=policy.name,
        target_tracking_scaling_policy_configuration=TargetTrackingDescription(
            disable_scale_in=tracking.disable_scale_in,
            scale_in_cooldown=tracking.scale_in_cooldown,
            scale_out_cooldown=tracking.scale_out_cooldown,
            target_value=tracking.target_value,
        ),
    )


def apply(
    tx: Transaction, place: Place, resource: Resource, update: AutoScalingSettingsUpdate, now: float
) -> None:
    """Register, change or deregister the target of a capacity, and its policy."""
    if update.auto_scaling_disabled:
        targets.remove(tx, place, resource, now)
        return
    if update.minimum_units is None or update.maximum_units is None:
        # The quotes around the name are the service's own.
        raise errors.validation(
            f"Failed to update settings for global table with name: \u2018{resource.table_name}\u2019: Parameters "
            "'MaximumUnits', 'MinimumUnits' are required unless auto scaling is being disabled."
        )
    try:
        registration = Registration(least=update.minimum_units, most=update.maximum_units)
        targets.register(tx, place, resource, registration, now)
        if update.scaling_policy_update is not None:
            _put_policy(tx, place, resource, update.scaling_policy_update, now)
    except ApiError as error:
        raise _passed_on(error) from None


def _put_policy(
    tx: Transaction, place: Place, resource: Resource, update: AutoScalingPolicyUpdate, now: float
) -> None:
    """A policy with another name takes the place of the present one."""
    sent = update.target_tracking_scaling_policy_configuration
    tracking = TargetTracking(
        target_value=sent.target_value,
        metric_type=resource.metric_type,
        scale_out_cooldown=sent.scale_out_cooldown,
        scale_in_cooldown=sent.scale_in_cooldown,
        disable_scale_in=sent.disable_scale_in,
    )
    policies.check(resource, tracking)
    name = update.policy_name or f"{resource.metric_type}:{resource.id}"
    for policy in list(scaling_rows.policies_of(tx, place, resource.id, resource.dimension)):
        if policy.name != name:
            policies.remove(tx, place, policy, now)
    policies.put(tx, place, resource, name, tracking, now)


def _passed_on(error: ApiError) -> ApiError:
    """An error of the other service, as DynamoDB passes it on."""
    tail = (
        f"(Service: AWSApplicationAutoScaling; Status Code: {error.status}; Error Code: {error.code}; "
        f"Request ID: {ids.unique_id()}; Proxy: null)"
    )
    code = "LimitExceededException" if error.code == "LimitExceededException" else "ValidationException"
    return ApiError(code, f"{error.message} {tail}")
