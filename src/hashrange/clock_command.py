"""`hashrange clock`: show or move the time of a running server that was started with --test-clock."""

import argparse
import json
from datetime import UTC, datetime

from hashrange import admin, terminal
from hashrange.admin import AdminFailed
from hashrange.durations import parse_duration, shown_duration

DESCRIPTION = (
    "Show or move the time of a running server that was started with --test-clock, so that items expire and retention "
    "ends in a second and not in a day. The clock is only ever moved ahead, for all workers and servers on the same "
    "data, and stays so after a restart."
)
_PATH = "/_hashrange/clock"


def _duration(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _moment(text: str) -> float:
    try:
        return float(text) if text.replace(".", "", 1).isdecimal() else _epoch_seconds(text)
    except (ValueError, OverflowError):
        rule = "must be a time such as 2027-01-31T12:00:00Z, or seconds since 1970"
        raise argparse.ArgumentTypeError(rule) from None


def _epoch_seconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    endpoint = argparse.ArgumentParser(add_help=False)
    endpoint.add_argument(
        "--endpoint", default=admin.DEFAULT_ENDPOINT, metavar="URL", help="the server (default: %(default)s)"
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    show = actions.add_parser("show", parents=[endpoint], help="show the time")
    show.set_defaults(method="GET", move=lambda _: {})
    advance = actions.add_parser("advance", parents=[endpoint], help="move the time ahead by a span of time")
    advance.add_argument(
        "duration", type=_duration, metavar="DURATION", help="such as 90s, 15m, 36h or 1d12h"
    )
    advance.set_defaults(method="POST", move=lambda options: {"advance_seconds": options.duration})
    setting = actions.add_parser("set", parents=[endpoint], help="move the time ahead to a moment")
    setting.add_argument(
        "moment", type=_moment, metavar="TIME", help="such as 2027-01-31T12:00:00Z, or seconds since 1970"
    )
    setting.set_defaults(method="POST", move=lambda options: {"set_epoch_seconds": options.moment})


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    try:
        answer = admin.ask(options.endpoint, options.method, _PATH, json.dumps(options.move(options)))
    except AdminFailed as failure:
        terminal.complain(str(failure))
        return 1
    shown = json.loads(answer)
    time = datetime.fromtimestamp(shown["epoch_seconds"], UTC).isoformat(timespec="seconds")
    terminal.show(
        f"{time.replace('+00:00', 'Z')}, moved ahead by {shown_duration(round(shown['ahead_seconds']))}"
    )
    return 0
