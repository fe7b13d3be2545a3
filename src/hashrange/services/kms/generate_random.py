"""GenerateRandom: random bytes."""

import os
from typing import Annotated

from msgspec import Meta

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.services.kms import requests
from hashrange.services.kms.structures import NumberOfBytes, RecipientInfo


class GenerateRandom(Request, kw_only=True):
    """The request."""

    number_of_bytes: NumberOfBytes | None = None
    custom_key_store_id: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    recipient: RecipientInfo | None = None


SHAPE = Shape(GenerateRandom)


class GenerateRandomOutput(Response, kw_only=True, omit_defaults=False):
    """The answer."""

    plaintext: bytes


def generate_random(context: Context, request: GenerateRandom) -> Plan:
    """From the operating system."""
    requests.refuse_recipient(request.recipient)
    if request.custom_key_store_id is not None:
        raise ApiError("CustomKeyStoreNotFoundException", None)
    if request.number_of_bytes is None:
        raise errors.validation("NumberOfBytes must be specified.")
    return Answer(Described(GenerateRandomOutput(plaintext=os.urandom(request.number_of_bytes))))
