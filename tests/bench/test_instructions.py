"""The gate on instructions: what is counted, what is held against what, and what fails."""

import platform
from pathlib import Path

import msgspec
import pytest


def test_the_file_has_every_hot_path() -> None:
    import instructions

    kept = msgspec.json.decode(instructions.KEPT.read_bytes(), type=instructions.Counts)
    assert list(kept.instructions) == [path.name for path in instructions.PATHS]
    assert all(count > 10_000 for count in kept.instructions.values())


@pytest.mark.parametrize(("count", "names"), [(95, []), (105, []), (94, ["get"]), (106, ["get"])], ids=str)
def test_a_change_of_more_than_five_percent_either_way_is_told(count: int, names: list[str]) -> None:
    import instructions

    assert instructions.changed({"get": 100, "scan": 7}, {"get": count}) == names


def test_a_path_that_was_never_counted_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    import instructions

    assert instructions.judge({"get": 100}, {"get": 100, "scan": 7}) == 1
    assert "More than 5% away: scan." in capsys.readouterr().out
    assert instructions.judge({"get": 100}, {"get": 101}) == 0


def test_the_smallest_batch_counts_and_what_is_before_it_does_not() -> None:
    import instructions

    get, scan = (path for path in instructions.PATHS if path.name in {"get", "scan"})
    totals = [1, *(count * get.batch for count in (300, 200, 400, 300, 300))]
    totals += [9, *(count * scan.batch for count in (8, 7, 9, 9, 9))]
    assert instructions.per_request(["scan", "get"], totals) == {"get": 200, "scan": 7}


def test_marks_that_were_not_heard_are_no_count() -> None:
    import instructions
    from callgrind import Uncountable

    with pytest.raises(Uncountable, match="0 marks for 1 paths"):
        instructions.per_request(["get"], [])


def test_a_dump_tells_its_total() -> None:
    import callgrind

    assert callgrind.total("version: 1\nevents: Ir\n\nfn=(1) f\n0 5\ntotals: 12345\n") == 12_345
    with pytest.raises(callgrind.Uncountable):
        callgrind.total("events: Ir\n")


def test_an_update_of_some_paths_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import instructions
    from instructions import Counts

    monkeypatch.setattr(instructions, "KEPT", tmp_path / "kept.json")
    before = Counts(builds="these", instructions={"get": 1, "scan": 2})
    instructions.keep(before, Counts(builds="these", instructions={"scan": 3}))
    assert msgspec.json.decode(instructions.KEPT.read_bytes(), type=Counts).instructions == {
        "get": 1,
        "scan": 3,
    }
    instructions.keep(before, Counts(builds="others", instructions={"scan": 3}))
    assert msgspec.json.decode(instructions.KEPT.read_bytes(), type=Counts).instructions == {"scan": 3}


def test_valgrind_is_told_without_harm_where_there_is_none() -> None:
    import callgrind

    if platform.machine() != callgrind.ARCHITECTURE:
        pytest.skip("written for another processor")
    speaking = callgrind.Callgrind()
    speaking.begin()
    speaking.mark()
