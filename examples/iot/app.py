"""What devices measure: a day of a device is one item collection, and beside it is what the device says now."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hashrange import patterns

TABLE = patterns.Table("iot", partition_key="PK", sort_key="SK")
KEPT = timedelta(days=30)
Item = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """One measurement."""

    device_id: str
    measured_at: datetime
    degrees: Decimal


class Fleet:
    """Devices and their readings."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._runner = patterns.Runner(client)

    def install(self, device_id: str, site: str) -> None:
        keys = {**_device(device_id), "GSI1PK": f"SITE#{site}", "GSI1SK": device_id}
        device = {**keys, "device_id": device_id, "site": site, "measured_at": "", "degrees": 0}
        self._runner.run(TABLE.write(TABLE.putting(device, "attribute_not_exists(#PK)")))

    def record(self, readings: list[Reading]) -> None:
        """Store what a gateway has collected. Sent twice it is stored once: the key is device and time."""
        self._runner.run(TABLE.write_many([_item(reading) for reading in readings]))
        latest: dict[str, Reading] = {}
        for reading in sorted(readings, key=lambda reading: reading.measured_at):
            latest[reading.device_id] = reading
        for reading in latest.values():
            self._show(reading)

    def _show(self, reading: Reading) -> None:
        """Make it what the device says now, unless something newer was there before: gateways are late at times."""
        moved = TABLE.updating(
            _device(reading.device_id),
            "SET #measured_at = :at, #degrees = :degrees",
            "#measured_at < :at",
            at=_text(reading.measured_at),
            degrees=reading.degrees,
        )
        self._runner.run(TABLE.tried(moved))

    def now(self, device_id: str) -> Item | None:
        return self._runner.run(TABLE.get(_device(device_id)))

    def site(self, site: str) -> dict[str, Decimal]:
        """What all devices of a site say now."""
        answer = self._client.query(
            TableName=TABLE.name,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :site",
            ExpressionAttributeValues={":site": {"S": f"SITE#{site}"}},
            Limit=100,
        )
        return {item["device_id"]["S"]: Decimal(item["degrees"]["N"]) for item in answer["Items"]}

    def between(self, device_id: str, start: datetime, end: datetime) -> list[Decimal]:
        """The readings from one time to another, the oldest first: one Query for every day."""
        span = patterns.Span(_text(start), _text(end))
        days = [start.date() + timedelta(days=n) for n in range((end.date() - start.date()).days + 1)]
        degrees: list[Decimal] = []
        for day in days:
            after: Item | None = None
            while True:
                query = TABLE.query(f"DEVICE#{device_id}#{day}", span, limit=500, after=after)
                page = self._runner.run(query)
                degrees += [item["degrees"] for item in page.items]
                after = page.last_key
                if after is None:
                    break
        return degrees


def _device(device_id: str) -> Item:
    return TABLE.key(f"DEVICE#{device_id}", "LATEST")


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _item(reading: Reading) -> Item:
    text = _text(reading.measured_at)
    return {
        **TABLE.key(f"DEVICE#{reading.device_id}#{text[:10]}", text),
        "device_id": reading.device_id,
        "day": text[:10],
        "measured_at": text,
        "degrees": reading.degrees,
        "expires_at": int((reading.measured_at + KEPT).timestamp()),
    }


def demonstrate(client: Any) -> Iterator[str]:
    """Two devices over midnight."""
    fleet = Fleet(client)
    start = datetime(2100, 5, 1, 22, tzinfo=UTC)  # far ahead: the server deletes nothing meanwhile
    for device in ("roof", "cellar"):
        fleet.install(device, "house")
    hours = [start + timedelta(hours=n) for n in range(5)]
    fleet.record([Reading("roof", hour, Decimal(12 - n)) for n, hour in enumerate(hours)])
    fleet.record([Reading("cellar", start, Decimal("9.5"))])
    yield f"now: {', '.join(f'{name} {degrees}' for name, degrees in fleet.site('house').items())}"
    night = fleet.between("roof", hours[1], hours[3])
    yield f"from 23 to 1 o'clock: {', '.join(map(str, night))}"
    fleet.record([Reading("roof", hours[2], Decimal(10))])
    yield f"after a late reading, now: {fleet.site('house')['roof']}"
