"""`hashrange bill`: what the traffic that a server has metered would have cost."""

import argparse
import json
import os
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

import msgspec

from hashrange import admin, terminal
from hashrange.admin import AdminFailed, Message
from hashrange.modeling.columns import amount, columns, printable
from hashrange.modeling.price.bill import AMOUNTS, Bill, BillRow, Metered, bill
from hashrange.modeling.price.money import MONTH_HOURS, shown
from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.problems import ModelErrors
from hashrange.storage.errors import StorageError

DESCRIPTION = (
    "Compute what the traffic of a server's tables would have cost, by table and index: on demand, and with "
    "provisioned capacity that had followed the same minutes. The last day, or up to 15 days, as far as it is kept."
)
HOURS_MAX = 360
_PATH = "/_hashrange/bill"
_ALWAYS = ("on_demand", "auto_scaled", "storage")
_WORDS = {"recovery": "point-in-time recovery", "stream": "reading streams"}
TABLES_MAX = 10_000  # a request each


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("tables", metavar="TABLE", nargs="*", help="names of tables (default: all)")
    parser.add_argument("--hours", type=_hours, default=24, metavar="N", help="how far back (default: 24)")
    parser.add_argument(
        "--region", default="us-east-1", metavar="REGION", help="of the tables (default: %(default)s)"
    )
    parser.add_argument("--prices-of", metavar="REGION", help="at the prices of another region")
    parser.add_argument("--prices", metavar="FILE", help="a JSON file of prices that replace those built in")
    parser.add_argument(
        "--replicas", nargs="+", default=[], metavar="REGION", help="as if the tables had replicas there"
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--endpoint", default=admin.DEFAULT_ENDPOINT, metavar="URL", help="the server (default: %(default)s)"
    )
    source.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="a data directory that no server has open, instead of a server",
    )
    parser.add_argument(
        "--root-key", default="", metavar="FILE", help="where the root key of an encrypted data directory is"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _hours(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 3 or not 1 <= int(text) <= HOURS_MAX:
        raise argparse.ArgumentTypeError(f"write a number from 1 to {HOURS_MAX}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Ask the server, add up; give the exit status."""
    try:
        prices = price_list(options.prices)
        region = options.prices_of or options.region
        result = bill(_metered(options), prices, region, tuple(dict.fromkeys(options.replicas)))
    except ModelErrors as errors:
        terminal.complain(printable(str(errors.problems[0])))
        return 2
    except (AdminFailed, StorageError) as failure:
        terminal.complain(printable(str(failure)))
        return 1
    terminal.show(json.dumps(msgspec.to_builtins(result), indent=2) if options.json else render(result))
    return 0


def _metered(options: argparse.Namespace) -> Iterator[Metered]:
    if options.data_dir is not None:
        from hashrange.modeling.price.stored_consumption import (  # noqa: PLC0415 - a bill from a server needs no storage engine
            stored_consumption,
        )

        yield from stored_consumption(
            options.data_dir,
            root_key=options.root_key,
            region=options.region,
            names=options.tables,
            hours=options.hours,
        )
        return
    names = list(dict.fromkeys(options.tables or _table_names(options.endpoint, options.region)))
    if len(names) > TABLES_MAX:
        terminal.complain(
            f"there are more than {TABLES_MAX:,} tables: the bill is of the first ones; name others"
        )
    for name in names[:TABLES_MAX]:
        query = urlencode({"table": name, "region": options.region, "hours": options.hours})
        text = admin.ask(options.endpoint, "GET", f"{_PATH}?{query}")
        try:
            yield msgspec.json.decode(text, type=Metered)
        except msgspec.MsgspecError as error:
            raise AdminFailed(f"{options.endpoint} answered what is no consumption: {error}") from None


def _table_names(endpoint: str, region: str) -> list[str]:
    names: list[str] = []
    following: str | None = ""
    while following is not None and len(names) <= TABLES_MAX:
        page = _page(endpoint, region, following)
        names += page.names
        following = page.last
    return names


class _Page(msgspec.Struct):
    names: list[str] = msgspec.field(name="TableNames")
    last: str | None = msgspec.field(name="LastEvaluatedTableName", default=None)


def _page(endpoint: str, region: str, after: str) -> _Page:
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    if not os.environ.get("AWS_ACCESS_KEY_ID") or not os.environ.get("AWS_SECRET_ACCESS_KEY"):
        # A server that checks no signatures still reads the region from one.
        credential = f"nobody/20260101/{region}/dynamodb/aws4_request"
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=00"
        )
        headers["X-Amz-Date"] = "20260101T000000Z"
    body = json.dumps({"ExclusiveStartTableName": after} if after else {})
    reply = admin.sent(endpoint, Message("POST", "/", body, "dynamodb", headers, region))
    try:
        if reply.status == HTTPStatus.OK:
            return msgspec.json.decode(reply.text, type=_Page)
    except msgspec.MsgspecError:
        pass
    raise AdminFailed(f"{endpoint} does not list its tables: {reply.text.strip()[:500] or reply.status}")


def render(result: Bill) -> str:
    """The bill as text."""
    if not result.rows:
        return f"there are no tables in {printable(result.region)}"
    start, end = (
        time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment)) for moment in (result.start, result.end)
    )
    prices = f"prices of {result.prices_of} for {result.region} in {result.currency}"
    # What nobody has is no column.
    kinds = [name for name in AMOUNTS if name in _ALWAYS or getattr(result, name)]
    rows = [["table", "index", "read units", "write units", *(name.replace("_", "-") for name in kinds)]]
    rows += [_row(row, kinds) for row in result.rows]
    rows.append(["together", "", "", "", *(shown(getattr(result, name)) for name in kinds)])
    lines = [printable(f"{start} to {end} UTC, {result.hours:.1f} hours; {prices}"), *columns(rows)]
    if result.hours:
        month = {name: shown(getattr(result, name) * MONTH_HOURS / result.hours) for name in kinds}
        others = "".join(f", {month[name]} for {_WORDS.get(name, name)}" for name in kinds[3:])
        lines.append(
            f"  a month of {MONTH_HOURS} hours like these: {month['on_demand']} on demand or "
            f"{month['auto_scaled']} auto-scaled, and {month['storage']} for storage{others}"
        )
    return "\n".join(lines)


def _row(row: BillRow, kinds: list[str]) -> list[str]:
    return [
        row.table,
        row.index or "",
        amount(float(row.read_units)),
        amount(float(row.write_units)),
        *(shown(getattr(row, name)) for name in kinds),
    ]
