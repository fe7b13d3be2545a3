"""Hashrange on a private PostgreSQL that syncs its commits, as one process to be started and stopped.

Called with a port; with --program it only says where the PostgreSQL is.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from postgres_server import postgres_server, program


def main(port: str) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with postgres_server(fsync="on", full_page_writes="on") as database:
        serve = [sys.executable, "-m", "hashrange", "serve", "--port", port, "--log-level", "error"]
        with subprocess.Popen(serve, env={**os.environ, "HASHRANGE_ENGINE": database.url()}) as server:
            try:
                return server.wait()
            finally:
                server.terminate()


if __name__ == "__main__":
    if sys.argv[1] == "--program":
        print(program("postgres"))
    else:
        sys.exit(main(sys.argv[1]))
