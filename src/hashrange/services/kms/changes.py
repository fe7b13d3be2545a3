"""Changing one key: it is found, looked at, and written back changed."""

from collections.abc import Callable
from typing import Any

import msgspec

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted, use
from hashrange.api.protocol.plan import Write
from hashrange.api.protocol.structures import Response
from hashrange.api.results import Described
from hashrange.services.kms.structures import Nothing
from hashrange.storage import key_rows
from hashrange.storage.engine import Transaction
from hashrange.storage.key_rows import KmsKey
from hashrange.storage.setting_rows import Place

Check = Callable[[Place, KmsKey], None]


def change_key(
    context: Context,
    name: str,
    action: str,
    edit: Callable[[KmsKey], dict[str, Any]],
    *,
    check: Check = use.refuse_pending,
    answer: Callable[[Place, KmsKey], Response] | None = None,
) -> Write:
    """Give a key other fields; the keys that AWS manages stay as they are."""
    place = lookup.place_of(context)

    def step(tx: Transaction) -> Described:
        key = permitted.find_exact(context, tx, action, name)
        use.refuse_managed(place, key, action)
        check(place, key)
        after = msgspec.structs.replace(key, **edit(key))
        if after != key:
            key_rows.save_key(tx, place, after)
        return Described(Nothing() if answer is None else answer(place, after))

    return Write(step)
