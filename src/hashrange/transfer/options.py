"""What was typed, checked and typed."""

import argparse

import msgspec

from hashrange.formats.csv_rows import CsvOptions
from hashrange.transfer.errors import BadArguments
from hashrange.transfer.reading import FileFormat
from hashrange.transfer.sources import FileOptions

PARALLEL_MAX = 64


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The flags of either command; those that a command does not have are as if nobody had used them."""

    source: str
    target: str
    region: str | None
    from_profile: str | None
    to_profile: str | None
    s3: str | None
    root_key: str | None
    state: str | None
    parallel: int
    rate: float | None
    rate_units: float | None
    verify: bool
    follow: bool
    once: bool
    enable_stream: bool
    key: str | None
    schema: str | None
    form: FileFormat | None
    json_plain: bool
    files: FileOptions


def checked(parsed: argparse.Namespace) -> Options:
    """The options of either command."""
    for name, number in (("--rate", parsed.rate), ("--rate-units", parsed.rate_units)):
        if number is not None and not 0 < number < float("inf"):
            raise BadArguments(f"{name} is a number above zero")
    if not 1 <= parsed.parallel <= PARALLEL_MAX:
        raise BadArguments(f"--parallel is a number from 1 to {PARALLEL_MAX}")
    if (parsed.once or parsed.enable_stream) and not parsed.follow:
        raise BadArguments("--once and --enable-stream go with --follow")
    json_plain = getattr(parsed, "json_plain", False)
    return Options(
        source=parsed.source,
        target=parsed.target,
        region=parsed.region,
        from_profile=parsed.from_profile,
        to_profile=parsed.to_profile,
        s3=parsed.s3,
        root_key=getattr(parsed, "root_key", None),
        state=parsed.state,
        parallel=parsed.parallel,
        rate=parsed.rate,
        rate_units=parsed.rate_units,
        verify=parsed.verify,
        follow=parsed.follow,
        once=parsed.once,
        enable_stream=parsed.enable_stream,
        key=getattr(parsed, "key", None),
        schema=getattr(parsed, "schema", None),
        form=parsed.form,
        json_plain=json_plain,
        files=FileOptions(form=parsed.form, json_plain=json_plain, csv=_csv(parsed)),
    )


def _csv(parsed: argparse.Namespace) -> CsvOptions:
    delimiter = getattr(parsed, "delimiter", ",").replace("\\t", "\t")
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise BadArguments("--delimiter is one character, and no quote or end of line")
    header = getattr(parsed, "header", None)
    if header is None:
        return CsvOptions(delimiter)
    names = tuple(header.split(","))
    if "" in names or len(set(names)) != len(names):
        raise BadArguments("--header: the names must be different and not empty")
    return CsvOptions(delimiter, names)
