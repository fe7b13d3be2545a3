"""All condition keys of one need: those of the caller, of the connection, of the resource and of the request."""

import time
from collections.abc import Callable, Mapping

from hashrange.api.context import Context
from hashrange.api.permissions.needs import REQUEST_TAG, RESOURCE_TAG, Need, tag_named
from hashrange.audit.events import Origin
from hashrange.auth.policy.keys import KeyValue
from hashrange.auth.principals import Principal

_OWN = ("dynamodb:", "iam:", "kms:", "sts:", REQUEST_TAG, "aws:tagkeys")  # what a need says itself
_CONNECTION: Mapping[str, Callable[[Origin], str | None]] = {
    "aws:sourceip": lambda origin: origin.address or None,
    "aws:securetransport": lambda origin: "false" if origin.tls_version is None else "true",
    "aws:useragent": lambda origin: origin.user_agent or None,
    "aws:referer": lambda origin: origin.referer or None,
}
_CONSTANT = {"aws:viaawsservice": "false", "aws:principalisawsservice": "false"}


class AllKeys:
    """Looks a key up where it comes from."""

    __slots__ = ("_context", "_need", "_principal", "were_asked")

    def __init__(self, context: Context, principal: Principal, need: Need) -> None:
        self._context = context
        self._principal = principal
        self._need = need
        self.were_asked = (
            False  # if not, every request for the same action and resource gets the same decision
        )

    def get(self, key: str, /) -> KeyValue | None:
        """The value of a key, by its name in lower case; None if the request has no such key."""
        self.were_asked = True
        if key.startswith(_OWN):
            return self._need.keys.get(key)
        if key in _CONNECTION:
            return _CONNECTION[key](self._context.origin())
        value = self._principal.keys().get(key)
        if value is not None:
            return value
        if key.startswith(RESOURCE_TAG):
            table = self._need.table
            if table is None:
                return self._need.keys.get(key)
            return tag_named(table.tags.items(), key.removeprefix(RESOURCE_TAG))
        return self._global(key)

    def _global(self, key: str) -> str | None:
        context, issued_at = self._context, self._principal.issued_at
        match key:
            case "aws:tokenissuetime":
                return None if issued_at is None else _moment(issued_at)
            case "aws:multifactorauthpresent":
                return None if issued_at is None else "false"
            case "aws:requestedregion":
                return context.region
            case "aws:resourceaccount":
                return self._need.account_id or context.account_id
            case "aws:currenttime":
                return _moment(context.clock.now())
            case "aws:epochtime":
                return str(int(context.clock.now()))
            case _:
                return _CONSTANT.get(key)


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
