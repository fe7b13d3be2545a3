"""The guide for test suites, executed as it is printed, by pytest with two workers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from house import ROOT

pytestmark = pytest.mark.slow


def blocks(kind: str) -> list[str]:
    guide = (ROOT / "docs" / "testing-your-app.md").read_text("utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", guide, re.DOTALL)


def pytest_run(folder: Path, *flags: str) -> str:
    """What pytest prints about a folder of tests."""
    # The settings of this repository and of whoever runs its tests are not those of a user's suite.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "AWS"))
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *flags, str(folder)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    return done.stdout + done.stderr


def test_every_block_of_the_guide_runs(tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text(blocks("yaml")[0])
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers --strict-config\n")
    files = blocks("python")
    for number, block in enumerate(files):
        (tmp_path / f"test_block_{number}.py").write_text(block)
    told = pytest_run(tmp_path, "-n", "2")
    tests = sum(len(re.findall(r"def test_", block)) for block in files)
    assert f"{tests} passed" in told, told
    assert tests >= 13


def test_a_setting_names_the_tables_and_the_flags_of_all_tests(tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text(blocks("yaml")[0])
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ndynamodb_tables = template.yaml\ndynamodb_flags = --region eu-west-3\n"
    )
    (tmp_path / "test_setting.py").write_text(
        "def test_the_table(dynamodb_table):\n"
        "    assert dynamodb_table.name == 'sessions'\n"
        "def test_the_flag(dynamodb_server):\n"
        "    assert dynamodb_server.own.requests is not None\n"
    )
    told = pytest_run(tmp_path)
    assert "2 passed" in told, told


def test_a_suite_without_the_fixtures_imports_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "test_a_plain.py").write_text(
        "import sys\n"
        "def test_what_is_imported():\n"
        "    ours = {name for name in sys.modules if name.startswith('hashrange')}\n"
        "    assert ours == {'hashrange', 'hashrange.pytest_plugin'}\n"
        "    assert 'boto3' not in sys.modules\n"
    )
    # One that has none is told how to name its tables.
    (tmp_path / "test_tables.py").write_text("def test_none(dynamodb_table):\n    pass\n")
    told = pytest_run(tmp_path)
    assert "1 passed, 1 error" in told, told
    assert "no tables: say which with @pytest.mark.dynamodb_tables" in told
