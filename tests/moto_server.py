"""A real S3 API on a free port: moto's server, in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config

ACCESS_KEY, SECRET_KEY = "test-access-key", "test-secret-key"
LISTED_PER_PAGE = 5  # so that a listing of a few objects has several pages

# It ends when its standard input does: with the tests, however they end.
_SCRIPT = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@contextmanager
def moto_server() -> Iterator[str]:
    """Start the server; gives its URL."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": str(LISTED_PER_PAGE)},
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate(timeout=60)


def s3_client(endpoint: str) -> Any:
    """A client that makes buckets and looks behind the store's back."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        config=Config(s3={"addressing_style": "path"}),
    )
