"""Every setting is documented, with its flag and its environment variable."""

from dataclasses import fields

import pytest

from hashrange.config import Settings, environment_variable
from house import ROOT


@pytest.mark.parametrize("setting", [setting.name for setting in fields(Settings)])
def test_is_documented(setting: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    flag = "--" + setting.replace("_", "-")
    assert f"`{flag}" in text, f"{flag} is not in README.md or docs/"
    assert environment_variable(setting) in text, (
        f"{environment_variable(setting)} is not in README.md or docs/"
    )
