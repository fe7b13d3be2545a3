"""`hashrange chaos`: add, list and clear the faults of a running server that was started with --chaos."""

import argparse
import json
from datetime import UTC, datetime
from urllib.parse import urlencode

from hashrange import admin, terminal
from hashrange.admin import AdminFailed
from hashrange.durations import parse_duration

DESCRIPTION = (
    "Make requests fail on purpose, so that retries can be tested: throttles, latency, transaction conflicts and "
    "internal errors. The server must have been started with --chaos. Without --operation a rule is for all "
    "operations that read or write items, and for no others."
)
_PATH = "/_hashrange/chaos"
_FAULTS = ("throttle", "latency", "conflict", "error")


def _duration(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _rate(text: str) -> float:
    try:
        rate = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1:
        raise argparse.ArgumentTypeError("must be a share such as 0.1 or 10%")
    return rate


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    endpoint = argparse.ArgumentParser(add_help=False)
    endpoint.add_argument(
        "--endpoint", default=admin.DEFAULT_ENDPOINT, metavar="URL", help="the server (default: %(default)s)"
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    add = actions.add_parser("add", parents=[endpoint], help="let requests fail")
    add.add_argument(
        "fault", choices=_FAULTS, help="throttle, latency, conflict (of transactions) or error (500)"
    )
    add.add_argument(
        "--rate", type=_rate, default=1.0, metavar="SHARE", help="of requests or items, such as 10%%"
    )
    add.add_argument(
        "--operation", action="append", default=[], metavar="NAME", help="such as PutItem; may be repeated"
    )
    add.add_argument("--table", action="append", default=[], metavar="NAME", help="may be repeated")
    add.add_argument(
        "--for",
        dest="duration",
        type=_duration,
        default=600,
        metavar="DURATION",
        help="such as 90s (default: 10m)",
    )
    add.add_argument("--ms", type=int, default=0, metavar="N", help="how long a latency is, in milliseconds")
    add.add_argument(
        "--after", action="store_true", help="carry the request out, and answer with an error all the same"
    )
    add.add_argument("--times", type=int, metavar="N", help="stop after so many faults")
    add.add_argument("--seed", type=int, metavar="N", help="have the same requests fail in every run")
    add.set_defaults(ask=_add)
    listing = actions.add_parser("list", parents=[endpoint], help="list what is in force")
    listing.set_defaults(ask=lambda _: ("GET", _PATH, ""))
    clear = actions.add_parser("clear", parents=[endpoint], help="let nothing fail any more")
    clear.add_argument("id", nargs="?", help="clear only this rule")
    clear.set_defaults(ask=_clear)


def _add(options: argparse.Namespace) -> tuple[str, str, str]:
    rule = {
        "fault": options.fault,
        "rate": options.rate,
        "operations": options.operation,
        "tables": options.table,
        "duration_seconds": options.duration,
        "latency_ms": options.ms,
        "after": options.after,
        "seed": options.seed,
        "times": options.times,
    }
    return "POST", _PATH, json.dumps(rule)


def _clear(options: argparse.Namespace) -> tuple[str, str, str]:
    query = "" if options.id is None else "?" + urlencode({"id": options.id})
    return "DELETE", _PATH + query, ""


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    try:
        answer = admin.ask(options.endpoint, *options.ask(options))
    except AdminFailed as failure:
        terminal.complain(str(failure))
        return 1
    rules = json.loads(answer)["rules"]
    terminal.show("\n".join(map(_line, rules)) if rules else "no faults")
    return 0


def _line(rule: dict[str, object]) -> str:
    expires = datetime.fromtimestamp(float(str(rule["expires_epoch_seconds"])), UTC)
    words = [str(rule["id"]), f"{rule['fault']:<8}", f"{float(str(rule['rate'])):.4g}"]
    if "latency_ms" in rule:
        words.append(f"{rule['latency_ms']} ms")
    if rule.get("after"):
        words.append("after the request")
    for member in ("operations", "tables"):
        names = rule.get(member)
        if isinstance(names, list) and names:
            words.append(f"{member}: {', '.join(names)}")
    if "times" in rule:
        words.append(f"{rule['times']} times")
    if "seed" in rule:
        words.append(f"seed {rule['seed']}")
    return "  ".join([*words, f"until {expires.isoformat(timespec='seconds').replace('+00:00', 'Z')}"])
