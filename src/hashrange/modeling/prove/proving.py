"""A proof from beginning to end: tables and items into a private engine, then every pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hashrange.api.errors import ApiError
from hashrange.core import limits
from hashrange.modeling import table_requests
from hashrange.modeling.data.generation import ITEMS, Data, make_data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.model import Model, ReadPattern
from hashrange.modeling.prove.private_engine import PrivateEngine
from hashrange.modeling.prove.reads import prove_read
from hashrange.modeling.prove.results import Proof, ProvedRead
from hashrange.modeling.prove.writes import prove_write
from hashrange.modeling.requests import BatchWrite, BatchWriteItem, PutRequest


def prove(model: Model, *, seed: int = 1, items: int = ITEMS) -> Proof:
    """Prove a model."""
    with PrivateEngine(model.region) as engine:
        refusals = list(create_tables(engine, model))
        if refusals:
            return Proof(model.name, seed, 0, tuple(refusals), ())
        data = make_data(model, seed=seed, items=items)
        failures = [*data.clashes, *data.rejected, *store(engine, data)]
        reads = tuple(prove_read(engine, model, pattern, data) for pattern in model.reads)
        count = len(data.by_key)
        writes = tuple(prove_write(engine, model, pattern, data) for pattern in model.writes)
        if writes:
            reads = tuple(
                _once_more(engine, model, read, data) for read in zip(model.reads, reads, strict=True)
            )
        return Proof(model.name, seed, count, tuple(failures), reads, writes)


def _once_more(
    engine: PrivateEngine, model: Model, read: tuple[ReadPattern, ProvedRead], data: Data
) -> ProvedRead:
    """Ask again after the writes: their items have to be where the reads look for them."""
    pattern, proved = read
    if proved.failures:
        return proved
    failures = prove_read(engine, model, pattern, data).failures
    return replace(proved, failures=tuple(f"after the writes: {failure}" for failure in failures))


def create_tables(engine: PrivateEngine, model: Model) -> Iterator[str]:
    """Create the tables; what comes of a proof does not depend on backups and expiry, which are left out."""
    for table in model.tables.values():
        try:
            engine.send(table_requests.create_table(table, model))
        except ApiError as error:
            yield f"the table {table.name} is refused: {error.message}"


def store(engine: PrivateEngine, data: Data) -> Iterator[str]:
    """Put all items; say which are refused, one for each entity and reason."""
    refused: set[tuple[str, str | None]] = set()
    for batch in _batches(list(data.all())):
        try:
            engine.send(_put(batch))
        except ApiError:
            for sample in batch:
                message = _refusal(engine, sample)
                if message is not None and (sample.entity.name, message) not in refused:
                    refused.add((sample.entity.name, message))
                    yield f"an item of {sample.entity.name} is refused: {message}"


def _refusal(engine: PrivateEngine, sample: Sample) -> str | None:
    try:
        engine.send(_put([sample]))
    except ApiError as error:
        return error.message or error.code
    return None


def _batches(samples: list[Sample]) -> Iterator[list[Sample]]:
    size = limits.BATCH_WRITE_ITEMS_MAX
    for at in range(0, len(samples), size):
        yield samples[at : at + size]


def _put(samples: list[Sample]) -> BatchWriteItem:
    by_table: dict[str, list[BatchWrite]] = {}
    for sample in samples:
        by_table.setdefault(sample.entity.table, []).append(BatchWrite(put_request=PutRequest(sample.wire)))
    return BatchWriteItem(request_items=by_table)
