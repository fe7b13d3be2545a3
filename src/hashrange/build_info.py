"""What this installation is: its version, and whether its helpers are compiled."""

from functools import cache
from importlib import import_module

from hashrange import __version__
from hashrange.metrics import Metric, Sample

# Each does in C what Python does without it. `hatch_build.py` compiles them one by one: any of them may be missing.
HELPERS = (
    "api.items._sent_puts",
    "core._keys",
    "core._plain",
    "core.expressions._cut",
    "core.expressions._needles",
    "storage._postgres_results",
    "storage.sqlite._background_sync",
    "storage.sqlite._log_writes",
    "storage.sqlite._rows",
    "wire._head",
)


def metric() -> Metric:
    """The version and the helpers, as labels."""
    labels = {"version": __version__, "helper": _helpers()}
    about = "The version, and whether the helpers are compiled: all, some or none of them."
    return Metric("hashrange_build_info", "gauge", about, [Sample(labels, 1)])


@cache
def _helpers() -> str:
    compiled = sum(_is_compiled(name) for name in HELPERS)
    if not compiled:
        return "python"
    return "compiled" if compiled == len(HELPERS) else "partly"


def _is_compiled(name: str) -> bool:
    try:
        import_module(f"hashrange.{name}")
    except ImportError:
        return False
    return True
