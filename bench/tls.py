"""What do TLS and the audit log cost a request? Servers with and without take turns under wrk, in one run.

    python bench/tls.py [--rounds 6] [--seconds 2] [--connections 16]

All servers are there for the whole run; in every round each of them answers GetItem for some seconds, one after the
other. The median over the rounds counts, as a share of the plain server's. With TLS 60 % or more are to be kept.
The rate by processor second is that of the server's process alone, which a busy machine disturbs less.
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import boto3

from hashrange.certificates import Authority

KEPT_MIN = 0.60
_TABLE = "measured"
_SCRIPT = """
wrk.method = "POST"
wrk.body = '{"TableName":"measured","Key":{"pk":{"S":"1"}}}'
wrk.headers["Content-Type"] = "application/x-amz-json-1.0"
wrk.headers["X-Amz-Target"] = "DynamoDB_20120810.GetItem"
wrk.headers["X-Amz-Date"] = "20260101T000000Z"
wrk.headers["Authorization"] = "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, " ..
    "SignedHeaders=host, Signature=0"
done = function(summary) io.write(string.format("REQUESTS %d %d %d\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout)) end
"""


class Measured(NamedTuple):
    """One server's part of a round."""

    rate: float
    rate_by_processor: float


class Side:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], endpoint: str) -> None:
        self._process = process
        self.endpoint = endpoint

    def prepare(self, authority: Path) -> None:
        """Make the table, and the item that is read."""
        client = boto3.client(
            "dynamodb",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            verify=str(authority),
        )
        client.create_table(
            TableName=_TABLE,
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        client.get_waiter("table_exists").wait(TableName=_TABLE)
        client.put_item(TableName=_TABLE, Item={"pk": {"S": "1"}, "v": {"S": "something to read" * 20}})

    def measure(self, script: Path, seconds: int, connections: int) -> Measured:
        """Have wrk ask for a while."""
        before = self._processor_seconds()
        command = [
            *_pinned(1),
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{seconds}s",
            "-s",
            str(script),
            self.endpoint,
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        spent = self._processor_seconds() - before
        found = re.search(r"REQUESTS (\d+) (\d+) (\d+)", run.stdout)
        if found is None or int(found[3]):
            raise SystemExit(f"requests failed:\n{run.stdout}")
        requests = int(found[1])
        return Measured(requests / (int(found[2]) / 1e6), requests / spent)

    def _processor_seconds(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Measure, print, and give 1 if TLS keeps too little."""
    options = _options()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed (apt-get install wrk)")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        tls = _certificate(folder)
        flags = {"plain": [], "tls": tls, "audit": ["--audit-log", str(folder / "audit.jsonl")]}
        sides = {kind: stack.enter_context(_serving(extra)) for kind, extra in flags.items()}
        for side in sides.values():
            side.prepare(folder / "ca.pem")
        script = folder / "get_item.lua"
        script.write_text(_SCRIPT)
        measured: dict[str, list[Measured]] = {kind: [] for kind in sides}
        for _ in range(options.rounds + 1):
            for kind, side in sides.items():
                measured[kind].append(side.measure(script, options.seconds, options.connections))
    return _tell({kind: rounds[1:] for kind, rounds in measured.items()})  # the first one warms up


def _tell(measured: dict[str, list[Measured]]) -> int:
    medians = {
        kind: Measured(*(statistics.median(column) for column in zip(*rounds, strict=True)))
        for kind, rounds in measured.items()
    }
    plain = medians["plain"]
    print(f"{'':8}{'requests/s':>12}{'kept':>8}{'by processor second':>22}{'kept':>8}")
    for kind, median in medians.items():
        shares = median.rate / plain.rate, median.rate_by_processor / plain.rate_by_processor
        print(f"{kind:8}{median.rate:12.0f}{shares[0]:8.0%}{median.rate_by_processor:22.0f}{shares[1]:8.0%}")
    return 0 if medians["tls"].rate >= KEPT_MIN * plain.rate else 1


def _certificate(folder: Path) -> list[str]:
    authority = Authority(days=1)
    issued = authority.issue(["localhost", "127.0.0.1"])
    contents = {"ca.pem": authority.certificate, "server.pem": issued.certificate, "server.key": issued.key}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o600)
    return ["--tls-cert", str(folder / "server.pem"), "--tls-key", str(folder / "server.key")]


@contextlib.contextmanager
def _serving(flags: list[str]) -> Iterator[Side]:
    command = [*_pinned(0), sys.executable, "-m", "hashrange", "serve", "--port", "0", "--in-memory", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            endpoint = next(line.split()[1] for line in process.stdout if line.strip().startswith("endpoint"))
            yield Side(process, endpoint)
        finally:
            process.terminate()


def _pinned(number: int) -> list[str]:
    """Keep servers and load apart, where there are processors enough."""
    processors = sorted(os.sched_getaffinity(0))
    is_possible = len(processors) > 1 and shutil.which("taskset") is not None
    return ["taskset", "-c", str(processors[number])] if is_possible else []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--connections", type=int, default=16)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
