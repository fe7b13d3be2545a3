"""What goes into the distributions: a wheel with the server and nothing else, a source archive that explains itself."""

import re
import tomllib
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from hashrange import __version__
from house import ROOT


def files(builder: type[WheelBuilder | SdistBuilder], folder: Path) -> set[str]:
    """The paths that a build of this folder would have, without building it."""
    return {file.distribution_path for file in builder(str(folder)).recurse_included_files()}


def test_the_wheel_has_the_server_and_no_load_client() -> None:
    paths = files(WheelBuilder, ROOT)
    assert {"hashrange/cli.py", "hashrange/py.typed"} <= paths
    assert {path.partition("/")[0] for path in paths} == {"hashrange"}
    assert [path for path in paths if "bench" in path.replace("workbench", "")] == []


def test_the_load_client_has_its_own_wheel() -> None:
    paths = files(WheelBuilder, ROOT / "bench")
    assert {"hashrange_bench/command.py", "hashrange_bench/wrk.lua"} <= paths
    assert {path.partition("/")[0] for path in paths} == {"hashrange_bench"}


def test_the_source_archive_explains_itself() -> None:
    paths = files(SdistBuilder, ROOT)
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/style.md"} <= paths


def test_the_changelog_knows_this_version_and_what_comes_next() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert versions[:2] == ["Unreleased", __version__]


@pytest.mark.parametrize("path", ["pyproject.toml", "bench/pyproject.toml"])
def test_a_distribution_says_where_it_comes_from(path: str) -> None:
    project = tomllib.loads((ROOT / path).read_text("utf-8"))["project"]
    assert {"Homepage", "Documentation"} <= project["urls"].keys()
