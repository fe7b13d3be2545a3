"""The writer: nothing is lost that has room, what has none is counted, and files can be put aside at any time."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from hashrange.audit.files import LogFile, LogInvalid, all_files, hashing_secret, of_worker, rotated
from hashrange.audit.verification import PlacedLine, Report, check
from hashrange.audit.writer import Writer


def opened(path: Path, *, bytes_max: int = 10**9, seconds_max: float = 10**9, now: float = 0.0) -> LogFile:
    return LogFile(path, bytes_max=bytes_max, seconds_max=seconds_max, now=now)


def lines(*paths: Path) -> list[bytes]:
    return [line for path in paths for line in path.read_bytes().splitlines(keepends=True)]


def checked(path: Path) -> Report:
    return checked_lines(lines(*all_files(path)))


def checked_lines(written: list[bytes]) -> Report:
    return check(PlacedLine(str(number), line) for number, line in enumerate(written))


def run(target: LogFile, events: list[dict[str, Any]], **options: Any) -> Writer:
    writer = Writer(target, now=lambda: 0.0, **options)
    for event in events:
        writer.append(event)
    writer.start()
    writer.stop()
    return writer


def names(path: Path) -> list[str]:
    return [json.loads(line)["eventName"] for line in lines(*all_files(path))]


def test_events_are_written_in_order_and_the_chain_goes_on_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "log" / "audit.jsonl"
    run(opened(path), [{"eventName": "A"}, {"eventName": "B"}])
    run(opened(path), [{"eventName": "C"}])
    report = checked(path)
    assert (names(path), report.problems, len(report.chains)) == (["A", "B", "C"], [], 1)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_large_file_is_put_aside_and_the_chain_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for number in range(5):
        run(opened(path, bytes_max=300), [{"eventName": f"{number}{letter}"} for letter in "abc"])
    assert len(rotated(path)) == 5
    report = checked(path)
    assert (report.lines, report.problems, len(report.chains)) == (15, [], 1)


def test_an_old_file_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    run(opened(path, seconds_max=60.0, now=-61.0), [{"eventName": "A"}])
    assert len(rotated(path)) == 1


def test_what_finds_no_room_is_counted_and_the_count_is_written(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writer = run(opened(path), [{"eventName": "A"}] * 10, weight_max=4 * 1024)
    assert writer.dropped == 6
    last = json.loads(lines(path)[-1])
    assert names(path) == ["A"] * 4 + ["AuditEventsDropped"]
    assert last["additionalEventData"] == {"events": 6}
    assert checked(path).problems == []


class FullDisk(LogFile):
    """A file that takes nothing for a while."""

    is_full = True

    def write(self, lines: bytes) -> None:
        if self.is_full:
            raise OSError(28, "No space left on device")
        super().write(lines)


def test_a_full_disk_loses_nothing_that_has_room(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    target = FullDisk(path, bytes_max=10**9, seconds_max=10**9, now=0.0)
    writer = Writer(target, now=lambda: 0.0)
    for number in range(3):
        writer.append({"eventName": str(number)})
    assert not writer._turn()
    assert path.read_bytes() == b""
    target.is_full = False
    assert writer._turn()
    assert (names(path), checked(path).problems) == (["0", "1", "2"], [])


def test_a_line_that_was_cut_off_is_taken_away_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    run(opened(path), [{"eventName": "A"}])
    with path.open("ab") as file:
        file.write(b'{"eventName":"B"')
    target = opened(path)
    assert target.removed_bytes == 16
    run(target, [{"eventName": "C"}])
    assert (names(path), checked(path).problems) == (["A", "C"], [])


def test_a_forged_end_begins_another_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    run(opened(path), [{"eventName": "A"}])
    path.write_bytes(path.read_bytes().replace(b'"A"', b'"B"'))
    run(opened(path), [{"eventName": "C"}])
    report = checked(path)
    assert report.problems == ["0: it was changed: its hash is another one"]


def test_two_servers_cannot_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    first = opened(path)
    with pytest.raises(LogInvalid, match="is written by another server"):
        opened(path)
    first.close()
    opened(path).close()


def test_a_file_that_was_moved_away_is_followed_by_another(tmp_path: Path) -> None:
    path, moved = tmp_path / "audit.jsonl", tmp_path / "moved"
    target = opened(path)
    writer = Writer(target, now=lambda: 0.0)
    writer.append({"eventName": "A"})
    assert writer._turn()
    path.rename(moved)
    writer.append({"eventName": "B"})
    assert writer._turn()
    writer.reopen()
    assert writer._turn()
    writer.append({"eventName": "C"})
    assert writer._turn()
    assert (names(moved), names(path)) == (["A"], ["B", "C"])
    assert checked_lines(lines(moved, path)).problems == []


def test_a_file_that_is_removed_is_noticed_at_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writer = Writer(opened(path), now=lambda: 0.0)
    writer.append({"eventName": "A"})
    assert writer._turn()
    end = checked(path).chains.popitem()[1].head
    path.unlink()
    writer.append({"eventName": "B"})
    assert writer._turn()
    assert names(path) == ["AuditLogBegunAnew", "B"]
    assert json.loads(lines(path)[0])["additionalEventData"] == {
        "reason": "it was removed",
        "lost": {"chain": end.chain, "lines": 1, "hash": end.hash},
    }
    assert checked(path).problems == [
        f"0: the log begins anew here: the file before it, up to hash {end.hash}, was lost"
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_replaced_is_noticed_without_an_event(tmp_path: Path) -> None:
    path, other = tmp_path / "audit.jsonl", tmp_path / "other"
    writer = Writer(opened(path), now=lambda: 0.0)
    writer.append({"eventName": "A"})
    assert writer._turn()
    other.write_bytes(b"something else\nand half a li")
    other.rename(path)
    assert writer._turn()
    assert lines(path)[0] == b"something else\n"
    assert json.loads(lines(path)[1])["eventName"] == "AuditLogBegunAnew"
    assert len(checked(path).problems) == 2


def test_a_file_that_is_cut_begins_another_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writer = Writer(opened(path), now=lambda: 0.0)
    for name in "AB":
        writer.append({"eventName": name})
    assert writer._turn()
    os.truncate(path, path.stat().st_size - 32)
    writer.append({"eventName": "C"})
    assert writer._turn()
    assert names(path) == ["A", "AuditLogBegunAnew", "C"]
    assert "was lost" in checked(path).problems[0]


def test_a_chain_that_began_anew_goes_on_after_a_rotation_and_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    run(opened(path, bytes_max=1), [{"eventName": str(number)} for number in range(5)])
    writer = Writer(opened(path), now=lambda: 0.0)
    writer.append({"eventName": "A"})
    assert writer._turn()
    path.unlink()
    assert writer._turn()
    writer._target.close()
    run(opened(path, bytes_max=1), [{"eventName": "B"}])  # puts it aside, with a number that is smaller
    run(opened(path), [{"eventName": "C"}])
    report = checked(path)
    assert (len(report.chains), len(report.problems)) == (2, 1)
    assert "was lost" in report.problems[0]


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LogInvalid):
        opened(tmp_path / "audit.jsonl")


def test_events_of_many_threads_are_all_written(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writer = Writer(opened(path), now=lambda: 0.0)
    writer.start()

    def append() -> None:
        for _ in range(500):
            writer.append({"eventName": "A"})

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.stop()
    assert (checked(path).lines, checked(path).problems) == (2000, [])


def test_workers_have_files_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for number in range(3):
        run(opened(of_worker(path, number)), [{"eventName": str(number)}])
    report = checked(path)
    assert (names(path), report.problems, len(report.chains)) == (["0", "1", "2"], [], 3)


def test_the_secret_of_hashes_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    secret = hashing_secret(path)
    assert (len(secret), hashing_secret(path)) == (32, secret)
    assert {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {
        "audit.jsonl.key": 0o600
    }
