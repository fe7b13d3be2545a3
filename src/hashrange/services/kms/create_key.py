"""CreateKey: make a symmetric key."""

from typing import Annotated

from msgspec import Meta

from hashrange import ids
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.keys import lookup, use
from hashrange.api.keys.new_keys import new_key
from hashrange.api.permissions import key_policies
from hashrange.api.protocol.plan import Plan, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms import policies, tags
from hashrange.services.kms.structures import (
    ALGORITHM,
    CustomerMasterKeySpec,
    Description,
    KeyMetadata,
    KeySpec,
    KeyUsage,
    Origin,
    Policy,
    Tag,
    metadata,
)
from hashrange.storage import root_key_record
from hashrange.storage.engine import Transaction
from hashrange.storage.key_rows import key_arn, save_key

KeyStoreId = Annotated[str, Meta(min_length=1, max_length=128)]


class CreateKey(Request, kw_only=True):
    """The request."""

    policy: Policy | None = None
    description: Description | None = None
    key_usage: KeyUsage | None = None
    customer_master_key_spec: CustomerMasterKeySpec | None = None
    key_spec: KeySpec | None = None
    origin: Origin | None = None
    custom_key_store_id: KeyStoreId | None = None
    bypass_policy_lockout_safety_check: bool | None = None
    tags: list[Tag] | None = None
    multi_region: bool | None = None
    xks_key_id: KeyStoreId | None = None


SHAPE = Shape(CreateKey)


class CreateKeyOutput(Response, kw_only=True):
    """The answer."""

    key_metadata: KeyMetadata


def create_key(context: Context, request: CreateKey) -> Plan:
    """Only symmetric keys whose material is made here are offered."""
    _check(request)
    vault, place, now = use.vault_of(context), lookup.place_of(context), context.clock.now()
    tagged = tags.merged({}, request.tags or ())
    bound = "" if request.policy is None else policies.bound_policy(context, request.policy)
    key_id = ids.unique_id()
    if request.policy is not None and not request.bypass_policy_lockout_safety_check:
        key_policies.refuse_lockout(context, key_arn(place, key_id), request.policy)
    key = new_key(
        vault,
        place,
        key_id,
        now,
        policy=request.policy,
        bound_policy=bound,
        description=request.description or "",
        tags=tagged,
    )

    def step(tx: Transaction) -> Described:
        root_key_record.claim(tx, vault.check_value)
        save_key(tx, place, key)
        return Described(CreateKeyOutput(key_metadata=metadata(place, key)))

    return Write(step)


def _check(request: CreateKey) -> None:
    """Refuse other keys than symmetric ones, and those that are kept elsewhere."""
    if (
        request.key_usage not in (None, "ENCRYPT_DECRYPT")
        or request.key_spec not in (None, ALGORITHM)
        or request.customer_master_key_spec not in (None, ALGORITHM)
    ):
        raise _unsupported("Only symmetric encryption keys are supported")
    if request.origin not in (None, "AWS_KMS") or request.custom_key_store_id or request.xks_key_id:
        raise _unsupported("Only keys whose material is made by this service are supported")
    if request.multi_region:
        raise _unsupported("Keys of several regions are not supported")


def _unsupported(message: str) -> ApiError:
    return ApiError("UnsupportedOperationException", message)
