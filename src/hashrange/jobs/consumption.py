"""What a table or index has consumed, minute by minute, as all workers of all servers have counted it."""

from hashrange.api.scaling.resources import Resource
from hashrange.capacity.series import MINUTE
from hashrange.storage.engine import Reader
from hashrange.storage.metric_rows import read_series
from hashrange.storage.setting_rows import Place


def consumed_minutes(reader: Reader, place: Place, resource: Resource, start: int, end: int) -> list[float]:
    """The units of every minute from `start` to before `end`: zero where nothing was consumed."""
    dimensions = {"TableName": resource.table_name}
    if resource.index_name is not None:
        dimensions["GlobalSecondaryIndexName"] = resource.index_name
    metric = f"Consumed{resource.access}CapacityUnits"
    points = read_series(reader, *place, metric, dimensions, start, end, MINUTE)
    sums = {point.time: point.sum for point in points}
    return [sums.get(minute, 0.0) for minute in range(start, end, MINUTE)]
