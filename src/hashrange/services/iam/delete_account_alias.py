"""DeleteAccountAlias: take the account's name away."""

from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request
from hashrange.services.iam import errors
from hashrange.services.iam.account_aliases import alias_of
from hashrange.services.iam.entities import changed, place
from hashrange.services.iam.structures import Alias
from hashrange.storage.engine import Transaction
from hashrange.storage.identity_rows import ACCOUNT_ALIASES


class DeleteAccountAlias(Request, kw_only=True):
    """The request."""

    account_alias: Alias


SHAPE = Shape(DeleteAccountAlias)


def delete_account_alias(context: Context, request: DeleteAccountAlias) -> Plan:
    """Take the account's name away."""

    def step(tx: Transaction) -> None:
        if alias_of(tx, context) != request.account_alias:
            raise errors.no_such_entity(f"The account alias {request.account_alias} cannot be found.")
        ACCOUNT_ALIASES.remove(tx, place(context), request.account_alias)

    return changed(context, step)
