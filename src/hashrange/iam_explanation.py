"""`hashrange iam explain`: why a request was denied, by what the audit log says of it."""

import argparse
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from hashrange import config, terminal
from hashrange.audit.files import all_files
from hashrange.audit_command import add_data_dir
from hashrange.auth.policy import wording
from hashrange.auth.policy.reasons import Reasons
from hashrange.config import AUDIT_FILE_NAME

DESCRIPTION = (
    "say why a request was denied: which policy denied it or lacks what, which condition did not hold for which value, "
    "and what to change. The audit log of a server with --auth iam has all denials"
)
LAST = "last"
_HINTS = {
    "ExpiredTokenException": "The session has ended: begin another one.",
    "IncompleteSignatureException": "The Authorization header is not complete.",
    "InvalidSignatureException": "The secret is wrong, the request was changed on its way, or the clocks differ.",
    "MissingAuthenticationTokenException": "The request was not signed.",
    "UnrecognizedClientException": "There is no such access key, or it is switched off, or its session was ended.",
}

Event = dict[str, Any]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the action's flags."""
    parser.add_argument(
        "which",
        nargs="?",
        default=LAST,
        metavar="REQUEST-ID",
        help="of the request (default: the last denial)",
    )
    variable = config.environment_variable("audit_log")
    parser.add_argument(
        "--audit-log",
        type=Path,
        metavar="FILE",
        default=Path(os.environ[variable]) if os.environ.get(variable) else None,
        help=f"the log (default: {AUDIT_FILE_NAME} in the data directory; {variable})",
    )
    add_data_dir(parser)
    parser.add_argument("--json", action="store_true", help="print the event as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    path = options.audit_log or options.data_dir / AUDIT_FILE_NAME
    files = list(all_files(path))
    if not files:
        return _fail(f"there is no {path}: --audit-log names the log of a server that was started with it")
    try:
        event = _latest(_events(files), options.which)
    except OSError as error:
        return _fail(f"cannot read {error.filename}: {error.strerror}")
    if event is None:
        what = "no denial" if options.which == LAST else f"no request {options.which}"
        return _fail(f"{path} has {what}")
    terminal.show(json.dumps(event) if options.json else "\n".join(map(terminal.printable, _lines(event))))
    return 0


def _fail(message: str) -> int:
    terminal.complain(message)
    return 1


def _events(files: Iterable[Path]) -> Iterator[Event]:
    for path in files:
        with path.open("rb") as file:
            for line in file:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue  # cut off: `hashrange audit verify` says so
                if isinstance(event, dict):
                    yield event


def _latest(events: Iterable[Event], which: str) -> Event | None:
    """The event that is meant; of several, and of several workers' files, the last one."""
    latest: Event | None = None
    for event in events:
        meant = _is_denial(event) if which == LAST else event.get("requestID") == which
        if meant and (latest is None or str(event.get("eventTime")) >= str(latest.get("eventTime"))):
            latest = event
    return latest


def _is_denial(event: Event) -> bool:
    return str(event.get("errorCode", "")).startswith("AccessDenied") or any(_decisions(event))


def _decisions(event: Event) -> Iterator[tuple[str, Any]]:
    data = event.get("additionalEventData") or {}
    if "decision" in data:
        yield "", data["decision"]
    for number, decision in data.get("deniedStatements", {}).items():
        yield f"Statement {number} of the batch: ", decision


def _lines(event: Event) -> Iterator[str]:
    identity = event.get("userIdentity") or {}
    who = identity.get("arn") or identity.get("accessKeyId") or "somebody without a name"
    yield (
        f"{event.get('eventTime')} {event.get('eventName')} of {who} from {event.get('sourceIPAddress')}, "
        f"request {event.get('requestID')}"
    )
    decisions = list(_decisions(event))
    for prefix, decision in decisions:
        try:
            reasons = msgspec.convert(decision, Reasons)
        except msgspec.ValidationError:
            yield f"{prefix}the log does not say why in a form that this version knows"
        else:
            first, *others = wording.lines(reasons)
            yield prefix + first
            yield from others
    if not decisions:
        yield from _otherwise(event)


def _otherwise(event: Event) -> Iterator[str]:
    code = event.get("errorCode")
    if code is None:
        yield "It was not denied."
        return
    yield f"No policy denied it: it ended with {code}: {event.get('errorMessage') or 'without a message'}"
    if code in _HINTS:
        yield _HINTS[code]
