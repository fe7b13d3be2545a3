"""A hundred thousand spoilt requests: no 5xx, no hang, no lost data, and memory that stays flat."""

import os
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from differential import calls, generator
from faults.line import Line
from faults.tables import await_active, check_table
from fuzz import heavy, hostile, model, rubbish, seeds
from fuzz.pipeline import Shot, Tally, fire
from fuzz.watcher import Waits, watching
from serving import Serving, serving
from sizes import size

SEED = int(os.environ.get("HASHRANGE_FUZZ_SEED", "20120810"))
REQUESTS = int(os.environ.get("HASHRANGE_FUZZ_REQUESTS", size(5000, 20_000)))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(max(1800, REQUESTS // 50))]
_ROUND = 5_000
# One costly request takes up to 154 MiB (docs/benchmarks-stalls.md), of which Python's allocator keeps a part.
_GROWTH_BYTES_MAX = 96 * 1024 * 1024
_CANARIES = 200
_HEAVY_EVERY = 250
_TABLES = [
    seeds.table(seeds.TABLE),
    seeds.table(seeds.BARE, indexes=False),
    seeds.table(seeds.CANARY),
    *generator.TABLES,
]


def test_spoilt_requests_do_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally()
    resident: list[int] = []
    shots = _shots()
    with serving("--data-dir", str(tmp_path), "--transition-ms", "0", "--log-level", "error") as server:
        _prepare(server)
        with watching(server.port) as waits:
            for _ in range(0, REQUESTS, _ROUND):
                fire(server.port, list(islice(shots, _ROUND)), tally)
                _prepare(server)
                resident.append(_resident_bytes(server))
        with capsys.disabled():
            print(_report(tally, waits, resident))
        assert not tally.wrong, _explain(tally)
        _check_data(server)
        assert "Traceback" not in server.log_text(), server.log_text()[-5000:]
        assert server.stop() == 0
    assert _every_kind_was_there(tally), (tally.statuses, tally.codes)
    # The first rounds fill the caches, which are bounded.
    early = resident[len(resident) // 3]
    assert resident[-1] - early < _GROWTH_BYTES_MAX, str([size >> 20 for size in resident])
    with serving("--data-dir", str(tmp_path)) as server:
        _check_data(server)


def _report(tally: Tally, waits: Waits, resident: list[int]) -> str:
    statuses = ", ".join(f"{count:,} x {status}" for status, count in sorted(tally.statuses.items()))
    return (
        f"\n{sum(tally.statuses.values()):,} requests: {statuses}. Another client's {waits.reads:,} GetItems: "
        f"longest {waits.longest_seconds * 1000:.0f} ms, all but one in a hundred within "
        f"{waits.hundredth_seconds * 1000:.0f} ms. Memory: {[size >> 20 for size in resident]} MiB."
    )


def _shots() -> Iterator[Shot]:
    """First the wrong type at every member of every operation, then requests spoilt at random, for ever."""
    numbers = count()
    random = Random(SEED)
    for operation in model.operations():
        whole = model.full_request(operation, random)
        for path in model.paths(whole):
            for value in random.sample(rubbish.WRONG, 6):
                data = rubbish.body(model.replaced(whole, path, value), random)
                yield Shot(next(numbers), operation, data)
    for number in numbers:
        random = Random(f"{SEED}-{number}")
        if number % _HEAVY_EVERY == 0:
            operation, request = heavy.make(random)
            yield Shot(number, operation, rubbish.body(request, random))
            continue
        operation, request = random.choice((random.choice(seeds.SEEDS), calls.make(random)))
        spoil = random.choice((rubbish.spoilt_tree, rubbish.spoilt_tree, rubbish.spoilt_language, _untouched))
        yield Shot(number, operation, rubbish.body(spoil(request, random), random))


def _untouched(request: seeds.Request, _: Random) -> seeds.Request:
    return request


def _prepare(server: Serving) -> None:
    """Make sure the tables are there: a spoilt request may well be a good DeleteTable."""
    with Line(server.port) as line:
        there = line.call("ListTables", {})["TableNames"]
        for definition in _TABLES:
            if definition["TableName"] not in there:
                line.call("CreateTable", definition)
                await_active(line, definition["TableName"])
        if seeds.CANARY not in there:
            for number in range(_CANARIES):
                line.call("PutItem", {"TableName": seeds.CANARY, "Item": _canary(number)})


def _canary(number: int) -> dict[str, Any]:
    return {**seeds.ITEM, "sk": {"N": str(number)}, "rank": {"N": str(-number)}}


def _check_data(server: Serving) -> None:
    """The canary table is as it was, and every table agrees with its indexes and counters."""
    with Line(server.port) as line:
        found = line.everything({"TableName": seeds.CANARY})
        assert {item["sk"]["N"]: item for item in found} == {str(n): _canary(n) for n in range(_CANARIES)}
        for definition in _TABLES:
            await_active(line, definition["TableName"])
            check_table(line, definition["TableName"])


def _every_kind_was_there(tally: Tally) -> bool:
    """Most of it must be refused, some of it carried out, else the rubbish is not what it claims to be."""
    expected = {"ValidationException", "SerializationException", "ResourceNotFoundException"}
    return tally.statuses[400] > tally.statuses[200] > 0 and expected <= tally.codes.keys()


def _resident_bytes(server: Serving) -> int:
    pages = Path(f"/proc/{server.process.pid}/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _explain(tally: Tally) -> str:
    lines = [f"{len(tally.wrong)} wrong answers; the first ones:"]
    for shot, reason in tally.wrong[:20]:
        lines.append(f"#{shot.number} {shot.operation} {shot.body[:600]!r}\n    -> {reason}")
    return "\n".join(lines)


def test_broken_http_does_no_harm(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--log-level", "error") as server:
        for number in range(2_000):
            random = Random(f"{SEED}-http-{number}")
            data = hostile.request(random)
            statuses = hostile.exchange(server.port, data)
            # As the service has it: a body that cannot be unpacked is a failure of its own. CONNECT is not implemented.
            allowed = {501, 500} if b"Content-Encoding" in data else {501}
            assert {status for status in statuses if status >= 500} <= allowed, (number, data[:500], statuses)
        with Line(server.port) as line:
            assert line.call("ListTables", {}) == {"TableNames": []}
        assert "Traceback" not in server.log_text(), server.log_text()[-5000:]
