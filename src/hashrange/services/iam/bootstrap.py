"""The first administrator of an account: there is nobody yet who could make one by the API."""

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.auth.managed_policies import ADMINISTRATOR_ACCESS
from hashrange.services.iam import access_keys, errors
from hashrange.services.iam.entities import GROUPS, USERS, changed, new_id, now, place
from hashrange.services.iam.structures import AccessKeyView
from hashrange.storage import root_key_record
from hashrange.storage.engine import Reader, Transaction
from hashrange.storage.identity_rows import ACCESS_KEYS, AccessKey, User

USER_NAME = "admin"


def bootstrap(context: Context) -> Plan:
    """A plan that makes a user who may do everything, with an access key; refused if there is an administrator."""
    seals = access_keys.seals(context)
    key_id, secret = access_keys.new_pair()
    sealed = seals.access_keys.seal(secret.encode(), key_id.encode())
    moment = now(context)
    fresh = User(name=USER_NAME, path="/", id=new_id(USERS.id_prefix), created_at=moment)

    def step(tx: Transaction) -> AccessKeyView:
        key = administrator_key(tx, context)
        if key is not None:
            raise errors.already_exists(
                f"There is an administrator already, with the access key {key.id}. Delete that key first if its "
                "secret is lost."
            )
        user = USERS.rows.find(tx, place(context), USER_NAME) or fresh
        attached = tuple({*user.attached, ADMINISTRATOR_ACCESS})
        USERS.save(tx, context, msgspec.structs.replace(user, attached=attached))
        root_key_record.claim(tx, seals.check_value)
        made = AccessKey(id=key_id, user=USER_NAME, created_at=moment, sealed=sealed)
        ACCESS_KEYS.save(tx, place(context), key_id, made)
        return AccessKeyView(
            user_name=user.name,
            access_key_id=key_id,
            status=made.status,
            secret_access_key=secret,
            create_date=moment,
        )

    return changed(context, step)


def administrator_key(reader: Reader, context: Context) -> AccessKey | None:
    """An access key of somebody who may do everything: the root, or a user with AdministratorAccess."""
    for _, key in ACCESS_KEYS.of_region(reader, place(context)):
        if key.user is None or _is_administrator(reader, context, key.user):
            return key
    return None


def _is_administrator(reader: Reader, context: Context, name: str) -> bool:
    user = USERS.rows.find(reader, place(context), name)
    if user is None:
        return False
    groups = (GROUPS.rows.find(reader, place(context), group) for group in user.groups)
    return any(ADMINISTRATOR_ACCESS in entity.attached for entity in (user, *groups) if entity is not None)
