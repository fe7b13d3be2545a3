"""`hashrange-bench`: the workloads against any endpoint that speaks DynamoDB."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import orjson

from hashrange_bench import report, workloads
from hashrange_bench.endpoint import CallFailed, Endpoint, EndpointInvalid
from hashrange_bench.load import best_generator
from hashrange_bench.process import Meter
from hashrange_bench.run import Options, Run
from hashrange_bench.sigv4 import Credentials

QUICK = {"seconds": 1.0, "warmup_seconds": 0.0, "large_items": 10_000, "growth_to": 4, "run_seconds": 120}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; give the exit status."""
    chosen = parser().parse_args(arguments)
    try:
        endpoint = Endpoint.parse(
            chosen.endpoint, region=chosen.region, credentials=Credentials.of(os.environ)
        )
        endpoint.call("ListTables", "{}", timeout_seconds=10)
    except EndpointInvalid as problem:
        return _fail(str(problem), 2)
    except (CallFailed, OSError) as problem:
        return _fail(f"no DynamoDB at {chosen.endpoint}: {problem}", 1)
    return _run(endpoint, chosen)


def parser() -> argparse.ArgumentParser:
    """Give the command's flags."""
    flags = argparse.ArgumentParser(
        prog="hashrange-bench",
        description="Measure an endpoint that speaks DynamoDB. Makes tables named hashrange-bench-* there, "
        "and deletes them at the end.",
    )
    flags.add_argument("--endpoint", required=True, metavar="URL", help="for example http://127.0.0.1:8000")
    flags.add_argument("--region", default="us-east-1", metavar="NAME", help="region to sign for")
    flags.add_argument(
        "--server-pid", type=int, metavar="PID", help="a local server's process, to count its CPU and memory"
    )
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    add_shared_flags(flags)
    return flags


def add_shared_flags(flags: argparse.ArgumentParser) -> None:
    """Add what every way to run the benchmark has: which workloads, how long, how large."""
    flags.add_argument(
        "--workload",
        action="append",
        choices=workloads.NAMES,
        default=[],
        metavar="NAME",
        help=f"run only this one; may be given more than once: {', '.join(workloads.NAMES)}",
    )
    flags.add_argument("--seconds", type=_positive, metavar="N", help="seconds per workload (default: 3)")
    flags.add_argument(
        "--warmup-seconds",
        type=float,
        metavar="N",
        help="and before that, again and again until three in a row differ by less than 5 %% (default: 1)",
    )
    flags.add_argument(
        "--warmup-class-seconds",
        type=_positive,
        metavar="N",
        help="but so long at most for one class of workloads (default: 60)",
    )
    flags.add_argument("--connections", type=_count, default=16, metavar="N", help="(default: 16)")
    flags.add_argument(
        "--large-items", type=_count, metavar="N", help="items for the mixed load (default: 1000000)"
    )
    flags.add_argument(
        "--load-seconds",
        type=_positive,
        metavar="N",
        help="stop loading large items after this (default: 60)",
    )
    flags.add_argument(
        "--growth-to", type=_count, metavar="POWER", help="let the table grow to 10^POWER items (default: 6)"
    )
    flags.add_argument(
        "--run-seconds", type=_positive, metavar="N", help="let a slow server off after this (default: 240)"
    )
    flags.add_argument("--quick", action="store_true", help="a second each, few items: does everything run?")


def _positive(text: str) -> float:
    if not 0 < (number := float(text)) < 1e6:
        raise argparse.ArgumentTypeError("must be more than 0")
    return number


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def options(chosen: argparse.Namespace, folder: Path) -> Options:
    """Give the options of a run; a flag wins over --quick."""
    quick = QUICK if chosen.quick else {}
    names = (
        "seconds",
        "warmup_seconds",
        "warmup_class_seconds",
        "large_items",
        "load_seconds",
        "growth_to",
        "run_seconds",
    )
    flags = {name: value for name in names if (value := getattr(chosen, name)) is not None}
    return Options(folder=folder, connections=chosen.connections, **{**quick, **flags})


def _run(endpoint: Endpoint, chosen: argparse.Namespace) -> int:
    generator = best_generator()
    if generator.name != "wrk":
        _say("wrk is not installed: load comes from Python, which may hold back a fast server")
    with tempfile.TemporaryDirectory(prefix="hashrange-bench-") as folder:
        run = Run(
            endpoint,
            options(chosen, Path(folder)),
            generator=generator,
            meter=Meter(chosen.server_pid),
            say=_say,
        )
        started = time.monotonic()
        try:
            run.everything(
                workloads.chosen(chosen.workload), growth=not chosen.workload or "growth" in chosen.workload
            )
        except KeyboardInterrupt:
            _say("stopped")
        finally:
            run.close()
    _say(f"done in {time.monotonic() - started:.0f} s\n")
    sys.stdout.write(report.workloads(run.report))
    if run.report.growth:
        sys.stdout.write("\n" + report.growth(run.report))
    if chosen.json is not None:
        chosen.json.write_bytes(orjson.dumps(run.report.as_json(), option=orjson.OPT_INDENT_2))
    return 0


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"hashrange-bench: {message}\n")
    return status
