"""How every tour in this environment reaches the server under test: its address is the first argument."""

import os
import sys
from uuid import uuid4

ENDPOINT = sys.argv[1]
PORT = int(ENDPOINT.rpartition(":")[2])
REGION = "us-east-1"
KEY, SECRET = "test", "test"
os.environ |= {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": REGION}
os.environ |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}


def unique(name: str) -> str:
    return f"{name}-{uuid4().hex}"


def refused(kind: type[BaseException], problem: BaseException | None) -> None:
    """Insist on an exception of this type."""
    assert isinstance(problem, kind), f"not {kind.__name__}: {problem!r}"
