"""`hashrange-bench` on the command line."""

import json
from pathlib import Path

import pytest

from hashrange_bench import command
from serving import Serving


def test_a_flag_wins_over_quick(tmp_path: Path) -> None:
    chosen = command.parser().parse_args(["--endpoint", "http://x", "--quick", "--seconds", "2"])
    found = command.options(chosen, tmp_path)
    assert found.seconds == 2
    assert found.large_items == command.QUICK["large_items"]


def test_an_endpoint_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--endpoint", "http://127.0.0.1:1"]) == 1
    assert "no DynamoDB at http://127.0.0.1:1" in capsys.readouterr().err


def test_what_is_no_endpoint_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--endpoint", "localhost"]) == 2
    assert "'localhost' is not an endpoint" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [["--seconds", "0"], ["--connections", "0"], ["--workload", "none"]])
def test_nonsense_is_refused(flags: list[str]) -> None:
    with pytest.raises(SystemExit):
        command.parser().parse_args(["--endpoint", "http://x", *flags])


@pytest.mark.slow
def test_a_run_prints_a_table_and_leaves_nothing_behind(
    server: Serving, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--endpoint", server.endpoint, "--quick", "--workload", "put-new"]
    assert command.main([*arguments, "--json", str(tmp_path / "out.json")]) == 0
    assert "| PutItem, new |" in capsys.readouterr().out
    found = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [result["name"] for result in found["results"]] == ["put-new"]
    assert found["results"][0]["requests"] > 0
