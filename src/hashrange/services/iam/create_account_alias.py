"""CreateAccountAlias: give the account a name, in place of the one that it has."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import errors
from hashrange.services.iam.account_aliases import account_with, alias_of
from hashrange.services.iam.entities import changed, now, place
from hashrange.services.iam.structures import Alias
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import ACCOUNT_ALIASES, AccountAlias


class CreateAccountAlias(Request, kw_only=True):
    """The request."""

    account_alias: Alias


SHAPE = Shape(CreateAccountAlias)


def create_account_alias(context: Context, request: CreateAccountAlias) -> Plan:
    """Give the account a name, in place of the one that it has."""

    def step(tx: Transaction) -> None:
        owner = account_with(tx, request.account_alias)
        if owner is not None and owner != context.account_id:
            raise errors.already_exists(f"The account alias {request.account_alias} already exists.")
        before = alias_of(tx, context)
        if before is not None:
            ACCOUNT_ALIASES.remove(tx, place(context), before)
        ACCOUNT_ALIASES.save(tx, place(context), request.account_alias, AccountAlias(created_at=now(context)))

    return changed(context, step)
