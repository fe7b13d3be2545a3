"""`hashrange heat TABLE`: partitions, throttles, hottest keys and a verdict, from a running server."""

import argparse
import json
import sys
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from hashrange import admin, terminal
from hashrange.admin import AdminFailed

DESCRIPTION = (
    "Show where the traffic of a table falls: its partitions and their share, what is throttled, the hottest keys, and "
    "in plain words what is wrong with them and what to do. The figures are averages of the last minutes."
)
_PATH = "/_hashrange/heat"
_BAR_CHARS = 30
_PARTITIONS_SHOWN = 20
_KEYS_SHOWN = 5
_KEY_CHARS_MAX = 60
_WATCH_SECONDS = 2.0
_CLEAR = "\x1b[H\x1b[2J"
_BAR, _PLAIN_BAR = "█·", "#."  # full and empty; on terminals that have no more than ASCII

Report = Mapping[str, Any]  # as docs/capacity.md has it


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("table", metavar="TABLE", help="name of the table")
    parser.add_argument("--index", metavar="NAME", help="one of its global indexes")
    parser.add_argument("--region", metavar="REGION", help="where the table is, if not in the server's own")
    parser.add_argument(
        "--endpoint", default=admin.DEFAULT_ENDPOINT, metavar="URL", help="the server (default: %(default)s)"
    )
    parser.add_argument("--watch", action="store_true", help="show it again every two seconds, until Ctrl-C")
    parser.add_argument("--json", action="store_true", help="print JSON, one line each time")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    names = {"table": options.table, "index": options.index, "region": options.region}
    path = f"{_PATH}?{urlencode({name: value for name, value in names.items() if value is not None})}"
    try:
        while True:
            text = admin.ask(options.endpoint, "GET", path)
            report = json.loads(text)
            # Without any character that a terminal or a file in another encoding may not have.
            picture = json.dumps(report) if options.json else drawn(report, _bar_chars())
            is_live = options.watch and not options.json and sys.stdout.isatty()
            terminal.show(_CLEAR + picture if is_live else picture)
            if not options.watch:
                return 0
            time.sleep(_WATCH_SECONDS)
    except AdminFailed as failure:
        terminal.complain(str(failure))
        return 1
    except KeyboardInterrupt:
        return 0


def _bar_chars() -> str:
    try:
        _BAR.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return _PLAIN_BAR
    return _BAR


def drawn(report: Report, bar: str = _BAR) -> str:
    """The picture of a report."""
    name = report["table"] if report["index"] is None else f"{report['table']}/{report['index']}"
    lines = [f"{name}, the last {report['seconds']:.0f} s", ""]
    for word in ("reads", "writes"):
        side = report[word]
        lines.append(
            f"  {word:<7}{side['units_per_second']:>10,.1f} units/s of {side['limit_per_second']:,.0f}"
            f"   throttled {side['throttled_per_second']:,.1f}/s"
        )
    lines += ["", *_partition_lines(report["partitions"], bar)]
    if report["hottest_keys"]:
        lines += ["", "  hottest keys"]
        lines += [_key_line(row) for row in report["hottest_keys"][:_KEYS_SHOWN]]
    verdict = report["verdict"]
    lines += ["", f"  {verdict['kind'].upper()}: {_printable(verdict['text'])}"]
    if verdict["remedy"]:
        lines.append(f"  What to do: {_printable(verdict['remedy'])}")
    return "\n".join(lines)


def _partition_lines(rows: list[Report], bar: str) -> list[str]:
    """The hottest partitions, in their order: a table may have hundreds."""
    hottest = sorted(rows, key=lambda row: -row["use"])[:_PARTITIONS_SHOWN]
    lines = [
        f"  {row['number']:>4} {_bar(row['use'], bar)} {row['use'] * 100:>4.0f} % of its ceiling, "
        f"{row['share'] * 100:>3.0f} % of the traffic, throttled {row['throttled_per_second']:,.1f}/s"
        for row in sorted(hottest, key=lambda row: row["number"])
    ]
    if len(rows) > len(hottest):
        lines.append(f"       and {len(rows) - len(hottest)} cooler ones")
    return [f"  partitions ({len(rows)})", *lines]


def _bar(use: float, chars: str) -> str:
    filled = min(_BAR_CHARS, round(use * _BAR_CHARS))
    full, empty = chars[0], chars[1]
    return full * filled + empty * (_BAR_CHARS - filled)


def _key_line(row: Report) -> str:
    kind = "writes" if row["write"] else "reads"
    return (
        f"  {row['units_per_second']:>10,.1f} units/s {row['share'] * 100:>3.0f} % of {kind:<6}  "
        f"{_shown_key(row['key'])}"
    )


def _shown_key(key: Mapping[str, Mapping[str, str]] | None) -> str:
    if key is None:
        return "(too long to be kept)"
    text = ", ".join(f"{name} = {content}" for name, value in key.items() for content in value.values())
    return _printable(text if len(text) <= _KEY_CHARS_MAX else text[:_KEY_CHARS_MAX] + "…")


def _printable(text: str) -> str:
    """Keys are whatever clients wrote: none of it may be an order to the terminal."""
    return "".join(char if char.isprintable() else "�" for char in text)
