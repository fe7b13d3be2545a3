"""`hashrange testing`: a server for a test suite, on a free port, which ends when the suite does."""

import argparse
import json
import os
import signal
import stat
import sys
import threading

from hashrange import config, logs, running, terminal
from hashrange.config import SettingInvalid, add_flags
from hashrange.storage.errors import StorageError

__all__ = ["DESCRIPTION", "add_flags", "run"]

DESCRIPTION = (
    "Start a server for a test suite: in memory, on a free port, with --test-kit, --test-clock and --chaos. The first "
    "line of its output is a JSON object with its endpoint_url. It ends when its standard input is closed, if that is "
    "a pipe, and so when the process that has started it ends. All flags of `hashrange serve` are understood."
)
_DEFAULTS = {
    "port": "0",
    "in_memory": "true",
    "test_kit": "true",
    "test_clock": "true",
    "chaos": "true",
    "transition_ms": "0",
    "log_level": "warning",
}


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    try:
        settings = config.load({**_DEFAULTS, **vars(options)}, os.environ)
    except SettingInvalid as error:
        terminal.complain(str(error))
        return 2
    logs.configure(level=settings.log_level, form=settings.log_format)

    def started(_engine: str, port: int) -> None:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        terminal.show(json.dumps({"endpoint_url": f"http://{host}:{port}", "pid": os.getpid()}))
        _end_with_parent()

    try:
        return running.run(settings, started)
    except (StorageError, SettingInvalid, OSError, OverflowError) as error:
        terminal.complain(str(error))
        return 1


def _end_with_parent() -> None:
    """Stop when nobody can write to standard input any more; a terminal or /dev/null says nothing about that."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # there is none
        return
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        threading.Thread(target=_stop_at_end_of_input, name="hashrange-parent", daemon=True).start()


def _stop_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
