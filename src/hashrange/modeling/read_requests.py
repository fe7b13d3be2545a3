"""Read requests: a plan with the application's values, as the API takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from hashrange.modeling.expressions import Expressions, key_wire
from hashrange.modeling.key_values import is_empty_range, operand_text
from hashrange.modeling.model import Attribute, Model, ReadOperation
from hashrange.modeling.plans import ReadPlan
from hashrange.modeling.requests import (
    ApiRequest,
    BatchGetItem,
    GetItem,
    KeysAndAttributes,
    Query,
    Scan,
    TransactGet,
    TransactGetItem,
    TransactGetItems,
)
from hashrange.modeling.wire_values import WireItem

Parameters = Mapping[str, object]


def request_for(
    plan: ReadPlan, parameters: Parameters, model: Model, *, now: int = 0, shard: int = 0
) -> ApiRequest:
    """The request for one set of parameters; of a sharded key, the one for a shard."""
    match plan.operation:
        case ReadOperation.QUERY:
            return _query(plan, parameters, model, now, shard)
        case ReadOperation.SCAN:
            return _scan(plan, parameters, model, now)
        case ReadOperation.GET_ITEM:
            return _get(plan, parameters, model, now)
        case _:
            return _keyed(plan, [parameters], model, now)


def requests_for(
    plan: ReadPlan, parameters: Parameters | Sequence[Parameters], model: Model, *, now: int = 0
) -> tuple[ApiRequest, ...]:
    """All requests of one answer: a Query for each shard, or one batch for several sets of parameters.

    Bounds that cross describe no item, but the service refuses a BETWEEN of them: then there is nothing to send.
    """
    every = [parameters] if isinstance(parameters, Mapping) else list(parameters)
    if plan.operation in (ReadOperation.BATCH_GET_ITEM, ReadOperation.TRANSACT_GET_ITEMS):
        return (_keyed(plan, every, model, now),)
    return tuple(
        request_for(plan, each, model, now=now, shard=shard)
        for each in every
        for shard in range(plan.shards)
        if not is_empty_range(plan, each, _attributes(plan, model), now=now)
    )


def _attributes(plan: ReadPlan, model: Model) -> Mapping[str, Attribute]:
    return {
        name: attribute
        for entity in reversed(plan.pattern.entities)
        for name, attribute in model.entities[entity].attributes.items()
    }


def _projection(plan: ReadPlan, expressions: Expressions) -> str | None:
    return ", ".join(map(expressions.name, plan.pattern.project)) or None


def _index_name(plan: ReadPlan) -> str | None:
    return None if plan.index is None else plan.index.name


def _query(plan: ReadPlan, parameters: Parameters, model: Model, now: int, shard: int) -> Query:
    expressions = Expressions(_attributes(plan, model), parameters, now=now)
    keys = [expressions.key_condition(condition, shard) for condition in (*plan.partition, *plan.sort)]
    return Query(
        table_name=plan.table.name,
        index_name=_index_name(plan),
        key_condition_expression=" AND ".join(keys),
        filter_expression=None if plan.filter is None else expressions.condition(plan.filter),
        projection_expression=_projection(plan, expressions),
        select="ALL_ATTRIBUTES" if plan.fetches and not plan.pattern.project else None,
        scan_index_forward=not plan.pattern.descending,
        limit=plan.limit,
        consistent_read=plan.pattern.consistent,
        expression_attribute_names=expressions.names,
        expression_attribute_values=expressions.values,
    )


def _scan(plan: ReadPlan, parameters: Parameters, model: Model, now: int) -> Scan:
    expressions = Expressions(_attributes(plan, model), parameters, now=now)
    return Scan(
        table_name=plan.table.name,
        index_name=_index_name(plan),
        filter_expression=None if plan.filter is None else expressions.condition(plan.filter),
        projection_expression=_projection(plan, expressions),
        consistent_read=plan.pattern.consistent and not plan.path.is_global,
        expression_attribute_names=expressions.names,
        expression_attribute_values=expressions.values,
    )


def _key(plan: ReadPlan, parameters: Parameters, now: int) -> WireItem:
    return {
        condition.attribute.name: key_wire(
            operand_text(condition.operands[0], parameters, now=now), condition.attribute
        )
        for condition in (*plan.partition, *plan.sort)
    }


def _get(plan: ReadPlan, parameters: Parameters, model: Model, now: int) -> GetItem:
    expressions = Expressions(_attributes(plan, model), parameters, now=now)
    return GetItem(
        table_name=plan.table.name,
        key=_key(plan, parameters, now),
        projection_expression=_projection(plan, expressions),
        consistent_read=plan.pattern.consistent,
        expression_attribute_names=expressions.names,
    )


def _keyed(plan: ReadPlan, every: Sequence[Parameters], model: Model, now: int) -> ApiRequest:
    """Several items by their keys. BatchGetItem refuses a key that is there twice."""
    expressions = Expressions(_attributes(plan, model), {}, now=now)
    projection = _projection(plan, expressions)
    keys = [_key(plan, parameters, now) for parameters in every]
    distinct = list({msgspec.json.encode(key): key for key in keys}.values())
    if plan.operation is ReadOperation.TRANSACT_GET_ITEMS:
        gets = [
            TransactGet(
                table_name=plan.table.name,
                key=key,
                projection_expression=projection,
                expression_attribute_names=expressions.names,
            )
            for key in distinct
        ]
        return TransactGetItems(transact_items=[TransactGetItem(get=get) for get in gets])
    asked = KeysAndAttributes(
        keys=distinct,
        projection_expression=projection,
        consistent_read=plan.pattern.consistent,
        expression_attribute_names=expressions.names,
    )
    return BatchGetItem(request_items={plan.table.name: asked})
