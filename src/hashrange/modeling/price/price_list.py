"""Prices by region: the data file that comes along, and one of the user's own that changes some of them."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from hashrange.modeling.problems import did_you_mean, refused

_OWN = Path(__file__).parent / "prices.json"
_FILE_BYTES_MAX = 1 << 20
_PRICE_MAX = Decimal(1_000_000)  # no price is near it; a larger one is a slip


class ClassPrices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of a table class: a million requests' units, an hour of a unit, a month of a gigabyte."""

    on_demand_write_million: Decimal
    on_demand_read_million: Decimal
    write_unit_hour: Decimal
    read_unit_hour: Decimal
    storage_gb_month: Decimal

    def unit_hour(self, *, write: bool) -> Decimal:
        """A provisioned unit, for an hour."""
        return self.write_unit_hour if write else self.read_unit_hour

    def request_unit(self, *, write: bool) -> Decimal:
        """A unit, on demand."""
        return (self.on_demand_write_million if write else self.on_demand_read_million) / 1_000_000


class ReservedPrices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of a hundred units: once, and for every hour of the term."""

    write_upfront: Decimal
    write_hour: Decimal
    read_upfront: Decimal
    read_hour: Decimal


class RegionPrices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All prices of a region."""

    standard: ClassPrices
    infrequent_access: ClassPrices
    recovery_gb_month: Decimal
    backup_gb_month: Decimal
    restore_gb: Decimal
    stream_reads_100k: Decimal
    reserved_1_year: ReservedPrices
    reserved_3_years: ReservedPrices
    dax_node_hour: dict[str, Decimal]

    def of_class(self, table_class: str) -> ClassPrices:
        """Those of tables of a class."""
        return self.standard if table_class == "STANDARD" else self.infrequent_access


class PriceList(msgspec.Struct, frozen=True):
    """Prices of a day."""

    date: str
    currency: str
    source: str
    regions: dict[str, RegionPrices]

    def region(self, name: str) -> RegionPrices:
        """The prices of a region."""
        if name not in self.regions:
            raise refused(f"there are no prices for the region `{name}`", did_you_mean(name, self.regions))
        return self.regions[name]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """A price file. Prices of a region stand beside its factor, which is for all others; both may be left out."""

    date: str = ""
    currency: str = ""
    source: str = ""
    base: dict[str, Any] = {}
    regions: dict[str, dict[str, Any]] = {}


def price_list(path: str | None = None) -> PriceList:
    """The prices that come along, with those of a file instead where it has some."""
    own = _parsed(_OWN)
    files = [own] if path is None else [own, _parsed(Path(path))]
    base = _merged([file.base for file in files], depth=2)
    names = sorted({name for file in files for name in file.regions})
    regions = {}
    for name in names:
        changes = _merged([file.regions.get(name, {}) for file in files], depth=2)
        regions[name] = _region(base, changes, path or str(_OWN), name)
    last = files[-1]
    return PriceList(
        last.date or own.date,
        last.currency or own.currency,
        last.source or (own.source if path is None else f"{path}; what it leaves out: {own.source}"),
        regions,
    )


def _parsed(path: Path) -> _File:
    try:
        with path.open("rb") as file:
            text = file.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise refused(f"cannot read the prices in {path}: {error.strerror}") from error
    if len(text) > _FILE_BYTES_MAX:
        raise refused(f"the prices in {path} are more than 1 MB")
    try:
        return msgspec.json.decode(text, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise refused(f"the prices in {path} cannot be used: {error}") from error


def _merged(layers: list[dict[str, Any]], depth: int) -> dict[str, Any]:
    """Members of all layers; the last that has one wins, but for objects, of which the members are merged."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            before = merged.get(name)
            nested = depth > 1 and isinstance(before, dict) and isinstance(value, dict)
            merged[name] = _merged([before, value], depth - 1) if nested else value  # type: ignore[list-item]
    return merged


def _region(base: dict[str, Any], changes: dict[str, Any], path: str, name: str) -> RegionPrices:
    where = f"the prices of {name} in {path} cannot be used"
    own = {member: value for member, value in changes.items() if member != "factor"}
    try:
        factor = msgspec.convert(changes.get("factor", "1"), Decimal, strict=False)
        _check({"factor": factor})
        prices = msgspec.convert(_merged([_scaled(base, factor), own], depth=2), RegionPrices, strict=False)
        _check(msgspec.structs.asdict(prices))
    except ArithmeticError as error:
        raise refused(
            f"{where}: one of them has too many digits; a price is from 0 to {_PRICE_MAX:,}"
        ) from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise refused(f"{where}: {error}") from error
    return prices


def _scaled(value: Any, factor: Decimal) -> Any:
    if isinstance(value, dict):
        return {name: _scaled(member, factor) for name, member in value.items()}
    return msgspec.convert(value, Decimal, strict=False) * factor


def _check(prices: dict[str, Any]) -> None:
    """Refuse what is no price: a number below zero, one without an end."""
    for name, value in prices.items():
        if isinstance(value, msgspec.Struct):
            _check(msgspec.structs.asdict(value))
        elif isinstance(value, dict):
            _check(value)
        elif not value.is_finite() or not 0 <= value <= _PRICE_MAX:
            raise ValueError(f"`{name}` is {value}; a price is from 0 to {_PRICE_MAX:,}")
