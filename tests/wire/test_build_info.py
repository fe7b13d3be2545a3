"""The page of metrics tells which version runs, and whether it runs with its compiled helpers."""

import pytest

from hashrange import __version__, build_info
from hashrange.core import plain_items
from hashrange.wire import usual_requests


@pytest.mark.parametrize("missing", [[], [plain_items], [usual_requests], [plain_items, usual_requests]])
def test_helpers_are_compiled_if_both_are(monkeypatch: pytest.MonkeyPatch, missing: list[object]) -> None:
    for module in (plain_items, usual_requests):
        monkeypatch.setattr(module, "helper", None if module in missing else dict.get)
    (sample,) = build_info.metric().samples
    assert sample.labels == {"version": __version__, "helper": "python" if missing else "compiled"}
