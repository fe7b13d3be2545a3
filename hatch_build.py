"""Builds the compiled helpers if there is a C compiler; without them the wheel is pure Python."""

import os
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCES = tuple(
    Path("src/hashrange") / name
    for name in (
        "api/items/_sent_puts.c",
        "core/_keys.c",
        "core/_plain.c",
        "core/expressions/_cut.c",
        "core/expressions/_needles.c",
        "storage/_postgres_results.c",
        "storage/sqlite/_background_sync.c",
        "storage/sqlite/_log_writes.c",
        "storage/sqlite/_rows.c",
        "wire/_head.c",
    )
)
_PURE = "HASHRANGE_PURE_PYTHON"  # leaves the helpers out
_FLAGS = ("-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-pthread")


class CompiledHelpers(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the helpers beside their sources, and into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of a wheel are collected; an editable one finds the helpers in the tree."""
        if self.target_name != "wheel" or os.environ.get(_PURE):
            return
        for source in _SOURCES:
            if _is_compiled(Path(self.root) / source):
                build_data["pure_python"] = False
                build_data["infer_tag"] = True
                build_data["artifacts"].append(f"{source.with_suffix('')}.*.so")


def _is_compiled(source: Path) -> bool:
    """Whether the compiler of this Python, or the system's, makes the helper."""
    target = source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
    include = sysconfig.get_path("include")
    configured = shlex.split(sysconfig.get_config_var("CC") or "")[:1]
    for compiler in (*configured, "cc"):
        command = [compiler, *_FLAGS, f"-I{include}", str(source), "-o", str(target), "-lm"]
        try:
            subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        except (OSError, subprocess.CalledProcessError):
            target.unlink(missing_ok=True)
        else:
            return True
    return False
