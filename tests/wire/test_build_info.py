"""The page of metrics tells which version runs, and whether it runs with its compiled helpers."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hashrange import __version__, build_info

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    build_info._helpers.cache_clear()
    yield
    build_info._helpers.cache_clear()


@pytest.mark.parametrize("missing", [0, 1, len(build_info.HELPERS)])
def test_helpers_are_compiled_if_all_are(monkeypatch: pytest.MonkeyPatch, missing: int) -> None:
    for number, name in enumerate(build_info.HELPERS):
        # With None for a module, importing it fails.
        monkeypatch.setitem(sys.modules, f"hashrange.{name}", None if number < missing else build_info)
    (sample,) = build_info.metric().samples
    told = {0: "compiled", 1: "partly"}.get(missing, "python")
    assert sample.labels == {"version": __version__, "helper": told}


def test_all_helpers_that_are_built_are_looked_at() -> None:
    sources = sorted((REPOSITORY / "src/hashrange").rglob("_*.c"))
    names = [
        ".".join(path.relative_to(REPOSITORY / "src/hashrange").with_suffix("").parts) for path in sources
    ]
    assert names == list(build_info.HELPERS)
    built = (REPOSITORY / "hatch_build.py").read_text()
    assert [name for name in names if f'"{name.replace(".", "/")}.c"' not in built] == []
