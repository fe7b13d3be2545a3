"""ListKeyRotations: when a key got new material."""

from typing import Literal

from hashrange.api.context import Context
from hashrange.api.keys import lookup, permitted
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response
from hashrange.api.results import Described
from hashrange.api.tables.description import timestamp
from hashrange.kms.ciphertexts import material_id
from hashrange.services.kms import pages
from hashrange.services.kms.structures import KeyId, Marker, PageLimit
from hashrange.storage.engine import Reader
from hashrange.storage.key_rows import KmsKey, StoredMaterial, key_arn
from hashrange.storage.setting_rows import Place

_PAGE_DEFAULT = 100


class Rotation(Response, kw_only=True):
    """One of them."""

    key_id: str
    key_material_id: str
    key_material_state: str
    rotation_date: float | None = None
    rotation_type: str | None = None


class ListKeyRotations(Request, kw_only=True):
    """The request."""

    key_id: KeyId
    include_key_material: Literal["ALL_KEY_MATERIAL", "ROTATIONS_ONLY"] | None = None
    limit: PageLimit | None = None
    marker: Marker | None = None


SHAPE = Shape(ListKeyRotations)


class ListKeyRotationsOutput(Response, kw_only=True):
    """The answer."""

    rotations: list[Rotation]
    truncated: bool
    next_marker: str | None = None


def list_key_rotations(context: Context, request: ListKeyRotations) -> Plan:
    """The first material is listed only where all of it is asked for."""
    start, limit = pages.start_of(request.marker), request.limit or _PAGE_DEFAULT
    place = lookup.place_of(context)

    def step(reader: Reader) -> Described:
        key = permitted.find_exact(context, reader, "ListKeyRotations", request.key_id)
        rows = (
            (f"{material.number:09d}", _rotation(place, key, material))
            for material in key.materials
            if material.cause != "CREATION" or request.include_key_material == "ALL_KEY_MATERIAL"
        )
        rotations, following = pages.page((row for row in rows if row[0] > start), limit)
        answer = ListKeyRotationsOutput(
            rotations=rotations, truncated=following is not None, next_marker=following
        )
        return Described(answer)

    return Read(step)


def _rotation(place: Place, key: KmsKey, material: StoredMaterial) -> Rotation:
    is_first = material.cause == "CREATION"
    return Rotation(
        key_id=key_arn(place, key.id),
        key_material_id=material_id(key.id, material.number),
        key_material_state="CURRENT" if material is key.materials[-1] else "NON_CURRENT",
        rotation_date=None if is_first else timestamp(material.created_at),
        rotation_type=None if is_first else material.cause,
    )
