"""Who may ask: `--auth` put into practice."""

from collections.abc import Callable, Mapping

from hashrange.api.context import Context
from hashrange.auth.signature.verifier import Directory
from hashrange.clock import SystemClock
from hashrange.config import Settings
from hashrange.wire import (
    cbor_endpoint,
    chaos_endpoint,
    clock_endpoint,
    health,
    heat_endpoint,
    insights_endpoint,
    metrics_endpoint,
)
from hashrange.wire.failed_signatures import FailedSignatures
from hashrange.wire.guarded import Guarded
from hashrange.wire.identity import Callers, ClaimedCallers, Identity
from hashrange.wire.router import Endpoint
from hashrange.wire.verified_callers import VerifiedCallers

# What policies call the server's own pages.
_ACTIONS = {
    chaos_endpoint.PATH: "hashrange:InjectFaults",
    clock_endpoint.PATH: "hashrange:MoveClock",
    heat_endpoint.PATH: "hashrange:GetHeat",
    insights_endpoint.PATH: "hashrange:GetInsights",
    metrics_endpoint.PATH: "hashrange:GetMetrics",
}


def callers(settings: Settings, directory: Directory, context_for: Callable[[Identity], Context]) -> Callers:
    """What finds out who asks."""
    if settings.auth == "off":
        return ClaimedCallers(context_for)
    # By the true time, as clients have it; --test-clock moves the time of tables only.
    return VerifiedCallers(
        directory,
        context_for,
        SystemClock(),
        FailedSignatures(settings.failed_signatures),
        shows_canonical=settings.auth_debug,
    )


def guarded(paths: Mapping[bytes, Endpoint], known: Callers, settings: Settings) -> Mapping[bytes, Endpoint]:
    """The paths, with a signature before those that are not for everybody and do not look at it themselves."""
    if settings.auth == "off":
        return paths
    unguarded = {health.PATH, cbor_endpoint.PATH}
    if settings.public_metrics:
        unguarded.add(metrics_endpoint.PATH)
    actions = _ACTIONS if settings.auth == "iam" else {}
    return {
        path: endpoint if path in unguarded else Guarded(endpoint, known, actions.get(path))
        for path, endpoint in paths.items()
    }
