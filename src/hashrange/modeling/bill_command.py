"""`hashrange bill`: what the traffic that a server has metered would have cost."""

import argparse
import json
import os
import time
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urlencode

import msgspec

from hashrange import admin, terminal
from hashrange.admin import AdminFailed, Message
from hashrange.modeling.columns import amount, columns, printable
from hashrange.modeling.price.bill import Bill, BillRow, Metered, bill
from hashrange.modeling.price.money import MONTH_HOURS, shown
from hashrange.modeling.price.price_list import price_list
from hashrange.modeling.problems import ModelErrors

DESCRIPTION = (
    "Compute what the traffic of a server's tables would have cost, by table and index: on demand, and with "
    "provisioned capacity that had followed the same minutes. The last day, or up to 15 days, as far as it is kept."
)
HOURS_MAX = 360
_PATH = "/_hashrange/bill"
_TABLES_MAX = 1000  # a request each


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
        "--endpoint", default=admin.DEFAULT_ENDPOINT, metavar="URL", help="the server (default: %(default)s)"
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
        result = bill(_metered(options), prices, options.prices_of or options.region)
    except ModelErrors as errors:
        terminal.complain(printable(str(errors.problems[0])))
        return 2
    except AdminFailed as failure:
        terminal.complain(printable(str(failure)))
        return 1
    terminal.show(json.dumps(msgspec.to_builtins(result), indent=2) if options.json else render(result))
    return 0


def _metered(options: argparse.Namespace) -> Iterator[Metered]:
    names = options.tables or _table_names(options.endpoint, options.region)
    for name in list(dict.fromkeys(names))[:_TABLES_MAX]:
        query = urlencode({"table": name, "region": options.region, "hours": options.hours})
        text = admin.ask(options.endpoint, "GET", f"{_PATH}?{query}")
        try:
            yield msgspec.json.decode(text, type=Metered)
        except msgspec.MsgspecError as error:
            raise AdminFailed(f"{options.endpoint} answered what is no consumption: {error}") from None


def _table_names(endpoint: str, region: str) -> list[str]:
    names: list[str] = []
    following: str | None = ""
    while following is not None and len(names) < _TABLES_MAX:
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
    rows = [["table", "index", "read units", "write units", "on-demand", "auto-scaled", "storage"]]
    rows += [_row(row) for row in result.rows]
    totals = (result.on_demand, result.auto_scaled, result.storage)
    rows.append(["together", "", "", "", *map(shown, totals)])
    lines = [printable(f"{start} to {end} UTC, {result.hours:.1f} hours; {prices}"), *columns(rows)]
    if result.hours:
        month = [shown(total * MONTH_HOURS / result.hours) for total in totals]
        lines.append(
            f"  a month of {MONTH_HOURS} hours like these: {month[0]} on demand or {month[1]} auto-scaled, "
            f"and {month[2]} for storage"
        )
    return "\n".join(lines)


def _row(row: BillRow) -> list[str]:
    return [
        row.table,
        row.index or "",
        amount(float(row.read_units)),
        amount(float(row.write_units)),
        shown(row.on_demand),
        shown(row.auto_scaled),
        shown(row.storage),
    ]
