"""The server's process: `hashrange testing` as a child, which ends when this process does."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

from hashrange.testing.control import TestingFailed

_START_SECONDS = 60.0  # on a machine that is busy with other tests
_STOP_SECONDS = 30.0
_OWN_VARIABLES = "HASHRANGE_"  # are about another server


class ServerProcess:
    """A running `hashrange testing`."""

    def __init__(self, flags: Sequence[str]) -> None:
        """Begin to start it; it has started when `endpoint_url` was asked for."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is open for as long as the process runs
        self._last_words = ""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(_OWN_VARIABLES)
        }
        # The pipe to its standard input is what ends it, also if this process is killed.
        self._process = subprocess.Popen(  # noqa: S603 - this very Python, and flags of the test suite
            [sys.executable, "-P", "-m", "hashrange", "testing", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def endpoint_url(self) -> str:
        """Wait until it has started; give its address."""
        watchdog = threading.Timer(_START_SECONDS, self._process.kill)
        watchdog.start()
        try:
            assert self._process.stdout is not None  # noqa: S101 - for the type checker
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        if not line:
            self.stop()
            raise TestingFailed(f"the server did not start: {self.log_text().strip()}")
        return str(json.loads(line)["endpoint_url"])

    def log_text(self) -> str:
        """What it has logged so far: warnings and errors."""
        if self._errors.closed:
            return self._last_words
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def stop(self) -> None:
        """Have it end, and wait for that."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._last_words = self.log_text()
        self._errors.close()
