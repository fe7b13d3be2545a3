"""Who may ask: `--auth` put into practice."""

from collections.abc import Callable, Mapping

from hashrange.addresses import binds_loopback
from hashrange.api.context import Context
from hashrange.auth.signature.verifier import Directory
from hashrange.chain.audit import Audit
from hashrange.clock import SystemClock
from hashrange.config import Settings
from hashrange.wire import (
    bill_endpoint,
    cbor_endpoint,
    chaos_endpoint,
    clock_endpoint,
    health,
    heat_endpoint,
    insights_endpoint,
    metrics_endpoint,
)
from hashrange.wire.browsers import BrowserRules
from hashrange.wire.failed_signatures import FailedSignatures
from hashrange.wire.guarded import Guarded, Page
from hashrange.wire.identity import Callers, ClaimedCallers, Identity
from hashrange.wire.noted_pages import NotedPage
from hashrange.wire.open_pages import OpenPage
from hashrange.wire.router import Endpoint
from hashrange.wire.verified_callers import NoteUse, VerifiedCallers

# What policies call the server's own pages.
_ACTIONS = {
    bill_endpoint.PATH: "hashrange:GetBill",
    chaos_endpoint.PATH: "hashrange:InjectFaults",
    clock_endpoint.PATH: "hashrange:MoveClock",
    heat_endpoint.PATH: "hashrange:GetHeat",
    insights_endpoint.PATH: "hashrange:GetInsights",
    metrics_endpoint.PATH: "hashrange:GetMetrics",
}
_UNKNOWN = "hashrange:Unknown"
_FOR_ALL = frozenset({health.PATH, cbor_endpoint.PATH})  # nothing to see; an API, which has rules of its own
_CHANGING = (chaos_endpoint.PATH, clock_endpoint.PATH)


def callers(
    settings: Settings,
    directory: Directory,
    context_for: Callable[[Identity], Context],
    note_use: NoteUse | None = None,
) -> Callers:
    """What finds out who asks."""
    if settings.auth == "off":
        return ClaimedCallers(context_for)
    # By the true time, as clients have it; --test-clock moves the time of tables only.
    return VerifiedCallers(
        directory,
        context_for,
        SystemClock(),
        FailedSignatures(settings.failed_signatures),
        note_use=note_use,
        shows_canonical=settings.auth_debug,
    )


def guarded(
    paths: Mapping[bytes, Endpoint],
    known: Callers,
    settings: Settings,
    audit: Audit | None,
    rules: BrowserRules,
) -> Mapping[bytes, Endpoint]:
    """The paths, with a signature before those that are not for everybody and do not look at it themselves.

    Where no signature is asked for, the name that the server is asked by must be a safe one.
    """
    if settings.auth == "off":
        noted = paths if audit is None else {**paths, **_noted(paths, known, audit)}
        return {
            path: endpoint if path in _FOR_ALL else OpenPage(endpoint, rules)
            for path, endpoint in noted.items()
        }
    asks = settings.auth == "iam"
    pages = {
        path: endpoint
        if path in _FOR_ALL
        else Guarded(endpoint, known, Page(_ACTIONS.get(path, _UNKNOWN), asks and path in _ACTIONS), audit)
        for path, endpoint in paths.items()
    }
    if settings.public_metrics:
        pages[metrics_endpoint.PATH] = OpenPage(paths[metrics_endpoint.PATH], rules)
    return pages


def _noted(paths: Mapping[bytes, Endpoint], known: Callers, audit: Audit) -> dict[bytes, Endpoint]:
    """The pages that change something, noted in the audit log."""
    return {path: NotedPage(paths[path], known, audit, _ACTIONS[path]) for path in _CHANGING if path in paths}


def browser_rules(settings: Settings) -> BrowserRules:
    """Which web pages may use the server, and under which names it answers."""
    return BrowserRules(
        settings.cors_origin, settings.allowed_host, only_loopback=binds_loopback(settings.host)
    )
