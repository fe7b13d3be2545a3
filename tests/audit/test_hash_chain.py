"""The hash chain: whatever is done to a log afterwards is found."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.audit import hash_chain
from hashrange.audit.verification import Known, PlacedLine, Report, check


def written(events: int) -> tuple[list[bytes], hash_chain.Head]:
    head = hash_chain.new_chain()
    lines = []
    for number in range(events):
        line, head = hash_chain.sealed({"eventName": f"Event{number}"}, head)
        lines.append(line)
    return lines, head


def checked(lines: list[bytes], *heads: str, before: str = "") -> Report:
    placed = (
        PlacedLine(str(number), line, is_last=number == len(lines) - 1) for number, line in enumerate(lines)
    )
    return check(placed, Known(heads=heads, before=[before]))


def problems(lines: list[bytes], *heads: str, before: str = "") -> list[str]:
    return checked(lines, *heads, before=before).problems


def test_what_was_written_is_well() -> None:
    lines, head = written(20)
    assert problems(lines, head.hash) == []


def test_every_changed_byte_is_found() -> None:
    lines, _ = written(3)
    generator = random.Random(5)
    for place in range(len(lines[1]) - 1):
        changed = bytearray(lines[1])
        changed[place] ^= 1 << generator.randrange(7)
        assert problems([lines[0], bytes(changed), lines[2]]) != [], place


def test_a_line_with_a_hash_of_its_own_breaks_the_chain() -> None:
    lines, head = written(3)
    start = hash_chain.read(lines[0]).head
    forged, _ = hash_chain.sealed({"eventName": "Forged"}, start)
    assert problems([lines[0], forged, lines[2]]) == ["2: it follows another line than number 2"]
    assert problems([lines[0], forged], head.hash) == [
        f"the end: the line with the hash {head.hash} is missing"
    ]


@pytest.mark.parametrize("order", [[0, 2, 3], [0, 2, 1, 3], [0, 1, 1, 2, 3], [1, 0, 2, 3]])
def test_missing_moved_and_repeated_lines_are_found(order: list[int]) -> None:
    lines, _ = written(4)
    assert problems([lines[number] for number in order]) != []


def test_the_end_is_missed_by_whoever_knows_its_hash() -> None:
    lines, head = written(4)
    assert problems(lines[:3]) == []
    assert problems(lines[:3], head.hash) != []


def test_a_chain_without_its_beginning_is_found_unless_its_end_was_noted() -> None:
    lines, _ = written(6)
    put_away = hash_chain.read(lines[2]).head.hash
    missing = f"0: the beginning of its chain is missing: lines 1 to 3, up to hash {put_away}"
    assert problems(lines[3:]) == [missing]
    assert problems(lines[3:], before="f" * 64) == [missing]
    assert problems(lines[3:], before=put_away) == []


def test_a_chain_that_takes_the_place_of_another_names_its_end() -> None:
    lost, end = written(3)
    first, head = hash_chain.sealed({"eventName": "Anew"}, hash_chain.new_chain(follows=end.hash))
    second, _ = hash_chain.sealed({"eventName": "Next"}, head)
    problem = f"0: the log begins anew here: the file before it, up to hash {end.hash}, was lost"
    assert problems([first, second]) == [problem]
    assert problems([first, second], before=end.hash) == []
    assert problems([*lost, first, second]) == []
    assert problems([*lost[:2], first, second]) == [problem.replace("0:", "2:", 1)]


def test_chains_of_several_processes_may_share_a_stream() -> None:
    first, _ = written(5)
    second, _ = written(5)
    assert problems([line for pair in zip(first, second, strict=True) for line in pair]) == []


@pytest.mark.parametrize("left", [1, 32, 100, -1])
def test_half_a_line_at_the_end_is_no_problem_but_is_said(left: int) -> None:
    lines, _ = written(2)
    report = checked([lines[0], lines[1][:left]])
    assert (report.problems, report.lines) == ([], 1)
    assert report.notes[0].startswith("1: the last line is incomplete: the server was killed")


def test_half_a_line_in_the_middle_is_found() -> None:
    lines, _ = written(3)
    assert problems([lines[0], lines[1][:-1], lines[2]])[0] == "1: it is cut off"


@given(st.text())
def test_whatever_a_client_sends_stays_on_one_line_of_printable_characters(text: str) -> None:
    line, _ = hash_chain.sealed({"userAgent": text, text: 1}, hash_chain.new_chain())
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert all(0x20 <= byte < 0x7F for byte in line[:-1])
    assert json.loads(line)["userAgent"] in {text, 1}
