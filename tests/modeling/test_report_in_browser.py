"""The page in a real browser: as wide as the window, legible in light and dark, and silent on the network."""

import html
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from hashrange.cli import main
from reviewed_models import HOT

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (400, 700, 1000, 1400)
CONTRAST_MIN = 4.5
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
# The page itself runs no script, so it is looked at from outside: in frames of a page that does.
PROBE = """<!doctype html><meta charset="utf-8"><body style="margin:0">{frames}<pre id="result"></pre><script>
function rgb(text) {{ const m = text.match(/[\\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m; }}
function light(c) {{
  const l = c.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
}}
function contrast(a, b) {{ const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); }}
function ground(e, view) {{
  for (; e; e = e.parentElement) {{ const c = rgb(view.getComputedStyle(e).backgroundColor); if (c) return c; }}
  return [255, 255, 255];
}}
function look(frame) {{
  const view = frame.contentWindow, root = view.document.documentElement;
  let least = [99, ""], small = 99;
  for (const e of root.querySelectorAll("body *:not(svg *)")) {{
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const style = view.getComputedStyle(e), ratio = contrast(rgb(style.color), ground(e, view));
    small = Math.min(small, parseFloat(style.fontSize));
    if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 120)];
  }}
  return {{
    width: frame.clientWidth, scrolls: root.scrollWidth, height: root.scrollHeight, contrast: least, small: small,
    loaded: view.performance.getEntriesByType("resource").length,
    dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
    pictures: [...root.querySelectorAll("svg")].map(s => s.getBoundingClientRect().width),
  }};
}}
addEventListener("load", () => {{
  result.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(look));
}});
</script>"""


class Look(msgspec.Struct):
    """The page at one width. `contrast` is the least of all texts, and the element that has it."""

    width: int
    scrolls: int
    height: int
    contrast: tuple[float, str]
    small: float
    loaded: int
    dark: bool
    pictures: list[float]


def looked_at(page: str, folder: Path, *, dark: bool) -> list[Look]:
    """What the browser says of the page, at each width."""
    source = html.escape(page)
    frames = "".join(
        f'<iframe style="width:{w}px;height:900px;border:0" srcdoc="{source}"></iframe>' for w in WIDTHS
    )
    probe = folder / f"probe-{dark}.html"
    probe.write_text(PROBE.format(frames=frames), "utf-8")
    command = [
        str(BROWSER),
        *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
        f"--user-data-dir={folder / f'profile-{dark}'}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        *("--virtual-time-budget=10000", "--dump-dom", probe.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    return msgspec.json.decode(html.unescape(found[1]), type=list[Look])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    model, written = folder / "feed.yaml", folder / "feed.html"
    model.write_text(HOT, "utf-8")
    assert (
        main(["model", "report", str(model), "--items", "150", "--months", "1", "--html", str(written)]) == 1
    )
    return written.read_text("utf-8")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_fits_every_window_and_is_legible(page: str, tmp_path: Path, *, dark: bool) -> None:
    """Tables and pictures scroll in their own boxes; the page never does, from telephones to wide screens."""
    looks = looked_at(page, tmp_path, dark=dark)
    assert [look.width for look in looks] == list(WIDTHS)
    assert {look.dark for look in looks} == {dark}
    for look in looks:
        assert look.scrolls == look.width
        assert look.loaded == 0
        ratio, where = look.contrast
        assert ratio >= CONTRAST_MIN, where
        assert look.small >= 11
        assert 2000 < look.height < 20_000
        assert min(look.pictures) >= 340
