"""`hashrange verify` beside a server under load: what changes meanwhile is no problem."""

import json
from pathlib import Path

import pytest

from faults.line import Line
from faults.load import under_load, writers
from faults.tables import create
from hashrange import cli
from serving import serving

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_store_that_changes_all_the_time_has_no_problems(
    tmp_path: Path, workers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    working = writers(11)
    with serving("--data-dir", str(tmp_path), "--workers", workers) as server:
        with Line(server.port) as line:
            create(line)
        with under_load(server.port, working):
            while sum(writer.version for writer in working) < 1500:
                capsys.readouterr()
                status = cli.main(["verify", "--json", str(tmp_path)])
                report = json.loads(capsys.readouterr().out)
                assert (status, report["problems"]) == (0, [])
    assert report["rows"] > 100
