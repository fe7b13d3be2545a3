"""Random sequences of steps, on every engine, against a sorted dictionary."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.postgres import PostgresEngine
from hashrange.storage.sqlite import MemoryEngine, SqliteEngine
from postgres_server import PostgresServer
from sizes import size

LAST = b"\xff" * 9
keys = st.binary(max_size=3).map(lambda key: bytes(byte & 0xC3 for byte in key))
values = st.one_of(st.binary(max_size=8), st.integers(0, 9000).map(lambda size: b"v" * size))
limits = st.integers(0, 6)
actions = st.one_of(
    st.tuples(st.just("put"), keys, values),
    st.tuples(st.just("delete"), keys),
    st.tuples(st.just("get"), keys),
    st.tuples(st.just("clear"), keys, keys, limits),
    st.tuples(st.just("scan"), keys, keys, st.booleans(), st.none() | limits),
    st.tuples(st.just("add"), keys, st.integers(-5, 5)),
    st.tuples(st.just("counter"), keys),
)
steps = st.lists(st.tuples(st.lists(actions, max_size=8), st.booleans()), min_size=1, max_size=4)


class Boom(Exception):
    """What a failing step raises."""


class Model:
    """A transaction on plain dictionaries."""

    def __init__(self, rows: dict[bytes, bytes], counters: dict[bytes, int]) -> None:
        self.rows, self.counters = dict(rows), dict(counters)

    def get(self, key: bytes) -> bytes | None:
        return self.rows.get(key)

    def scan(
        self, start: bytes, end: bytes, *, reverse: bool = False, limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        found = sorted((row for row in self.rows.items() if start <= row[0] < end), reverse=reverse)
        return found[:limit]

    def counter(self, key: bytes) -> int:
        return self.counters.get(key, 0)

    def put(self, key: bytes, value: bytes) -> None:
        self.rows[key] = value

    def delete(self, key: bytes) -> None:
        self.rows.pop(key, None)

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        found = self.scan(start, end, limit=limit)
        for key, _ in found:
            del self.rows[key]
        return len(found)

    def add(self, key: bytes, amount: int) -> None:
        self.counters[key] = self.counter(key) + amount


def act(tx: Transaction | Model, todo: list[tuple]) -> list[object]:  # type: ignore[type-arg]
    seen: list[object] = []
    for action in todo:
        match action:
            case ("clear", start, end, limit):
                seen.append(tx.clear(start, end, limit=limit))
            case ("scan", start, end, reverse, limit):
                seen.append(list(tx.scan(start, end, reverse=reverse, limit=limit)))
            case (name, *arguments):
                seen.append(getattr(tx, name)(*arguments))
    return seen


class EngineMachine(RuleBasedStateMachine):
    """Whatever the model answers, the engine answers."""

    forgets = True  # when it is closed

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.engine: Engine = self.opener(self.directory)
        self.rows: dict[bytes, bytes] = {}
        self.counters: dict[bytes, int] = {}

    def opener(self, directory: Path) -> Engine:
        return MemoryEngine()

    @rule(batch=steps)
    def submit(self, batch: list[tuple[list[tuple], bool]]) -> None:  # type: ignore[type-arg]
        seen: list[object] = []
        expected: list[object] = []
        for todo, fails in batch:
            self.engine.submit(self.step(todo, fails), lambda result, error: seen.append(error or result))
            model = Model(self.rows, self.counters)
            answer = act(model, todo)
            if fails:
                expected.append(Boom)
            else:
                expected.append(answer)
                self.rows, self.counters = model.rows, model.counters
        self.engine.write(lambda _tx: None)
        assert [type(one) if isinstance(one, Boom) else one for one in seen] == expected

    @staticmethod
    def step(todo: list[tuple], fails: bool) -> Callable[[Transaction], list[object]]:  # type: ignore[type-arg]
        def run(tx: Transaction) -> list[object]:
            seen = act(tx, todo)
            if fails:
                raise Boom
            return seen

        return run

    @rule(start=keys, end=keys, reverse=st.booleans(), limit=st.none() | limits)
    def scan(self, start: bytes, end: bytes, reverse: bool, limit: int | None) -> None:
        expected = Model(self.rows, {}).scan(start, end, reverse=reverse, limit=limit)
        assert self.engine.read(
            lambda reader: list(reader.scan(start, end, reverse=reverse, limit=limit)) == expected
        )

    @rule(pages=st.integers(0, 5))
    def maintain(self, pages: int) -> None:
        assert 0 <= self.engine.maintain(pages) <= pages

    @rule()
    def reopen(self) -> None:
        if not self.forgets:
            self.engine.close()
            self.engine = self.opener(self.directory)

    @invariant()
    def equal(self) -> None:
        def look(reader: Reader) -> tuple[dict[bytes, bytes], dict[bytes, int]]:
            return dict(reader.scan(b"", LAST)), {key: reader.counter(key) for key in self.counters}

        assert self.engine.read(look) == (self.rows, self.counters)

    def teardown(self) -> None:
        self.engine.close()
        shutil.rmtree(self.directory)


class DiskMachine(EngineMachine):
    """The same on disk."""

    forgets = False

    def opener(self, directory: Path) -> Engine:
        return SqliteEngine.open(directory)


class PostgresMachine(EngineMachine):
    """The same on PostgreSQL, in a schema per run."""

    forgets = False
    server: PostgresServer
    isolation = "locking"

    def opener(self, directory: Path) -> Engine:
        return PostgresEngine.open(
            self.server.url(), schema_name=self.schema(directory), isolation=self.isolation
        )

    def schema(self, directory: Path) -> str:
        return f"model_{directory.name.lower()}"

    def teardown(self) -> None:
        super().teardown()
        self.server.execute(f"DROP SCHEMA {self.schema(self.directory)} CASCADE")


class Wide:
    """An engine, reader or transaction whose keys are all longer, so that some are too long for an index."""

    PAD = b"p" * 1998

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def read(self, step: Any) -> Any:
        return self.inner.read(lambda reader: step(Wide(reader)))

    def write(self, step: Any) -> Any:
        return self.inner.write(lambda tx: step(Wide(tx)))

    def submit(self, step: Any, done: Any) -> None:
        self.inner.submit(lambda tx: step(Wide(tx)), done)

    def get(self, key: bytes) -> Any:
        return self.inner.get(self.PAD + key)

    def scan(self, start: bytes, end: bytes, **options: Any) -> Any:
        rows = self.inner.scan(self.PAD + start, self.PAD + end, **options)
        return ((key.removeprefix(self.PAD), value) for key, value in rows)

    def put(self, key: bytes, value: bytes) -> None:
        self.inner.put(self.PAD + key, value)

    def delete(self, key: bytes) -> None:
        self.inner.delete(self.PAD + key)

    def clear(self, start: bytes, end: bytes, *, limit: int) -> int:
        return self.inner.clear(self.PAD + start, self.PAD + end, limit=limit)


class WidePostgresMachine(PostgresMachine):
    """The same with keys on both sides of what an index takes."""

    def opener(self, directory: Path) -> Engine:
        wide: Any = Wide(super().opener(directory))
        return wide


class SerializableMachine(PostgresMachine):
    """The same with the database's SERIALIZABLE."""

    isolation = "serializable"


class WideSerializableMachine(WidePostgresMachine):
    """Both."""

    isolation = "serializable"


@pytest.mark.parametrize(
    ("machine", "examples"),
    [
        (EngineMachine, size(30, 60)),
        pytest.param(DiskMachine, size(12, 30), marks=pytest.mark.slow),
        pytest.param(PostgresMachine, size(8, 12), marks=pytest.mark.slow),
        pytest.param(WidePostgresMachine, size(8, 12), marks=pytest.mark.slow),
        pytest.param(SerializableMachine, size(8, 12), marks=pytest.mark.slow),
        pytest.param(WideSerializableMachine, size(8, 12), marks=pytest.mark.slow),
    ],
)
def test_an_engine_is_a_sorted_dictionary(
    machine: type[EngineMachine], examples: int, request: pytest.FixtureRequest
) -> None:
    if issubclass(machine, PostgresMachine):
        PostgresMachine.server = request.getfixturevalue("postgres")
    case = machine.TestCase
    case.settings = settings(
        max_examples=examples * settings().max_examples // size(100, 150),
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    case().runTest()
