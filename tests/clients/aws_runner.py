"""The AWS CLI for many commands: it is imported once, and every command runs in a process forked from there.

A command is a line of JSON, its environment and the words after `aws`; so is what came of it. The import is
most of what a command takes.
"""

import json
import os
import sys
import tempfile
from typing import Any

from awscli import clidriver


def run(environment: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Give the exit status of a command and what it wrote."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as problems:
        child = os.fork()
        if not child:
            status = 1
            try:
                os.dup2(output.fileno(), 1)
                os.dup2(problems.fileno(), 2)
                os.environ.update(environment)
                sys.argv = ["aws", *words]
                status = clidriver.main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        output.seek(0)
        problems.seek(0)
        status = os.waitstatus_to_exitcode(ended)
        return {"returncode": status, "stdout": output.read(), "stderr": problems.read()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)
