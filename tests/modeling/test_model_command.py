"""`hashrange model`: its commands from the outside."""

from pathlib import Path

import pytest

from hashrange.cli import main
from hashrange.modeling.loading import load


def test_new_writes_a_file_that_loads_and_leaves_one_alone_that_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.yaml"
    assert main(["model", "new", str(path)]) == 0
    assert load(path).name == "shop"
    path.write_text("mine", "utf-8")
    assert main(["model", "new", str(path)]) == 1
    assert path.read_text("utf-8") == "mine"
    assert f"{path} is there already; name another" in capsys.readouterr().err


def test_new_says_where_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "new", str(tmp_path / "no" / "shop.yaml")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model"]) == 0
    assert "write a model file to begin with" in capsys.readouterr().out


def test_a_command_has_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["model", "new", "--help"])
    assert "[FILE]" in capsys.readouterr().out
