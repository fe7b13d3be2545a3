"""ListMetrics: the metrics that had samples lately, by pages."""

from itertools import islice
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hashrange.api.cloudwatch.structures import Metric, MetricName, Namespace
from hashrange.api.context import Context
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import Request, Response, Structure
from hashrange.api.results import Described
from hashrange.core.limits import LIST_METRICS_MAX, METRIC_AGE_SECONDS_MAX
from hashrange.services.cloudwatch import errors, metrics, tokens
from hashrange.services.cloudwatch.metrics import MetricKey, Position
from hashrange.storage.engine import Reader

_RECENT_SECONDS = 3 * 3600


class DimensionFilter(Structure, kw_only=True):
    """A dimension that a metric must have, with any value if none is named."""

    name: Annotated[str, Meta(min_length=1, max_length=255)]
    value: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None


class ListMetrics(Request, kw_only=True):
    """The request."""

    namespace: Namespace | None = None
    metric_name: MetricName | None = None
    dimensions: Annotated[list[DimensionFilter], Meta(max_length=10)] | None = None
    next_token: str | None = None
    recently_active: Literal["PT3H"] | None = None
    include_linked_accounts: bool | None = None
    owning_account: Annotated[str, Meta(min_length=1, max_length=255)] | None = None


SHAPE = Shape(ListMetrics)


class ListMetricsOutput(Response, kw_only=True):
    """The answer."""

    metrics: list[Metric]
    next_token: str | None = None
    owning_accounts: list[str] | None = None


def list_metrics(context: Context, request: ListMetrics) -> Plan:
    """Take one metric more than fits a page, to know whether there is a next one."""
    asked = (request.namespace, request.metric_name, request.dimensions, request.recently_active)
    behind = _position(tokens.position(request.next_token, asked))
    age = _RECENT_SECONDS if request.recently_active else METRIC_AGE_SECONDS_MAX

    def step(reader: Reader) -> Described:
        store = metrics.store_of(context, reader)
        known = store.known_behind(store.now - age, behind)
        fitting = ((position, key) for position, key in known if _fits(key, request))
        page = list(islice(fitting, LIST_METRICS_MAX + 1))
        shown = [key.structure() for _, key in page[:LIST_METRICS_MAX]]
        following = None
        if len(page) > LIST_METRICS_MAX:
            last, _ = page[LIST_METRICS_MAX - 1]
            following = tokens.token(msgspec.json.encode(last).decode(), asked)
        owners = [context.account_id] * len(shown) if request.include_linked_accounts else None
        return Described(ListMetricsOutput(metrics=shown, next_token=following, owning_accounts=owners))

    return Read(step)


def _position(text: str | None) -> Position | None:
    if text is None:
        return None
    try:
        position = msgspec.json.decode(text, type=Position)
        bytes.fromhex(position.digest or "")
    except (msgspec.DecodeError, ValueError):
        raise errors.invalid_token() from None
    return position


def _fits(key: MetricKey, request: ListMetrics) -> bool:
    if request.namespace is not None and key.namespace != request.namespace:
        return False
    if request.metric_name is not None and key.name != request.metric_name:
        return False
    values = dict(key.dimensions)
    return all(
        wanted.name in values and wanted.value in {None, values[wanted.name]}
        for wanted in request.dimensions or ()
    )
