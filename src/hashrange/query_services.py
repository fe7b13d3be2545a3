"""The services that speak AWS's query protocol; IAM is imported when it is first asked for."""

from hashrange.api.protocol.operation import Service
from hashrange.config import Settings
from hashrange.services.cloudwatch.registry import CLOUDWATCH
from hashrange.services.sts.registry import STS
from hashrange.wire.query_endpoint import LateQueryEndpoint, query_endpoints
from hashrange.wire.router import Endpoint
from hashrange.wire.rpc_call import RpcRunner

_IAM_VERSION = "2010-05-08"
_IAM_SIGNING_NAME = "iam"


def endpoints(settings: Settings, runner: RpcRunner) -> dict[str, Endpoint]:
    """The endpoints by the versions in their forms, and by the names that signatures are made for."""
    if settings.auth != "off":
        _iam()  # now, for somebody is going to ask
    iam = LateQueryEndpoint(_iam, runner)
    late: dict[str, Endpoint] = {_IAM_VERSION: iam, _IAM_SIGNING_NAME: iam}
    return late | query_endpoints((CLOUDWATCH, STS), runner)


def _iam() -> Service:
    """IAM's hundred modules take a tenth of the time in which a server starts; without identities nobody asks."""
    from hashrange.services.iam.registry import IAM  # noqa: PLC0415 - see above

    return IAM
