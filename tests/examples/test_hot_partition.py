"""examples/hot-partition: one key a day is throttled, ten are not, and the picture shows it."""

import importlib.util
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from hashrange.cli import main
from house import ROOT
from still_server import StillServer, still_server

FOLDER = ROOT / "examples" / "hot-partition"
TITLE = "{http://www.w3.org/2000/svg}title"
OFFERED = (1000, 2000, 400)


@pytest.fixture(scope="module")
def server() -> Iterator[StillServer]:
    with still_server() as running:
        yield running


@pytest.fixture(scope="module")
def laboratory(runner: ModuleType) -> Any:
    return runner.application("hot-partition")


@pytest.fixture(scope="module")
def results(
    runner: ModuleType, laboratory: Any, server: StillServer, make_client: Callable[..., Any]
) -> dict[str, list[Any]]:
    """A short evening, on a clock that moves only when a second is to pass."""
    client = make_client(endpoint=server.serving.endpoint)
    runner.make_tables(client, "hot-partition")
    seconds: dict[str, list[Any]] = laboratory.evening(client, lambda: server.clock.advance(1), OFFERED)
    return seconds


def units(seconds: list[Any]) -> list[tuple[int, int]]:
    return [(second.accepted.total(), second.throttled.total()) for second in seconds]


def test_a_day_as_the_key_takes_what_one_partition_takes(results: dict[str, list[Any]]) -> None:
    assert units(results["log_by_day"]) == [(1000, 0), (1000, 1000), (400, 0)]
    assert {key for second in results["log_by_day"] for key in second.accepted} == {"DAY#2026-05-01"}


def test_ten_keys_take_it_all(results: dict[str, list[Any]]) -> None:
    assert units(results["log_sharded"]) == [(offered, 0) for offered in OFFERED]
    assert len({key for second in results["log_sharded"] for key in second.accepted}) == 10


def test_what_is_no_throttle_is_an_error(
    laboratory: Any, make_client: Callable[..., Any], server: StillServer
) -> None:
    client = make_client(endpoint=server.serving.endpoint, region="nowhere-1")
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        laboratory.Log(client, "log_by_day").write(0, 40)


@pytest.mark.slow
def test_the_model_says_how_many_shards_carry_the_peak(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "load", str(FOLDER / "model.yaml")]) == 1
    before, after = capsys.readouterr().out.split("table log_sharded")
    assert "ROLLING HOT PARTITION" in before
    assert "The smallest number of shards that carries the peak: 2" in before
    assert after.count("nothing is throttled") == 2


def heat() -> ModuleType:
    spec = importlib.util.spec_from_file_location("heat", FOLDER / "heat.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_has_what_was_accepted_and_throttled(results: dict[str, list[Any]]) -> None:
    drawn = ET.fromstring(heat().picture(results))
    titles = [str(title.text) for title in drawn.iter(TITLE)]
    wanted = [text for seconds in results.values() for accepted, throttled in units(seconds)
              for text in (f"{accepted} accepted", *([f"{throttled} throttled"] if throttled else []))]  # fmt: skip
    assert [title for title in titles if not title.endswith("units")] == wanted
    assert len(titles) == len(wanted) + (1 + 10) * len(OFFERED)


def test_the_kept_picture_shows_throttles_before_and_none_after() -> None:
    drawn = ET.parse(FOLDER / "heat.svg")
    texts = [str(text.text) for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    before, after = (text for text in texts if text.startswith("throttled: "))
    assert int(before.removeprefix("throttled: ")) > 1000
    assert after == "throttled: 0"
    assert "(heat.svg)" in (FOLDER / "README.md").read_text("utf-8")
