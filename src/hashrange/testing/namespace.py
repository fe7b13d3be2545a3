"""A namespace: an account of the server's that one test has for itself."""

from collections.abc import Mapping
from typing import Any, Self

from hashrange.testing import sdk, tables
from hashrange.testing.control import Control
from hashrange.testing.faults import Fault, Faults, Which
from hashrange.testing.request_log import RequestLog
from hashrange.testing.spans import Span, seconds
from hashrange.testing.tables import TableSource

_PATH = "/_hashrange/testing"


class Namespace:
    """An account and a region. Whoever signs with its access key sees its tables and no others."""

    def __init__(self, control: Control, endpoint_url: str, account_id: str, region: str) -> None:
        self._control = control
        self.endpoint_url = endpoint_url
        self.account_id = account_id
        self.region = region
        self.faults = Faults(control, account_id)
        self.requests = RequestLog(control, account_id)

    @property
    def access_key(self) -> str:
        """The access key to sign with; any secret will do."""
        return self.account_id

    def client(self, service: str = "dynamodb", **options: Any) -> Any:
        """A boto3 client, such as of "dynamodb" or "dynamodbstreams"; `options` are those of boto3."""
        return sdk.client(self, service, options)

    def resource(self, service: str = "dynamodb", **options: Any) -> Any:
        """A boto3 resource."""
        return sdk.resource(self, service, options)

    def environment(self) -> dict[str, str]:
        """The environment variables by which every AWS SDK and the AWS CLI use this namespace."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_SESSION_TOKEN": "",
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_ENDPOINT_URL_DYNAMODB": self.endpoint_url,
            "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": self.endpoint_url,
        }

    def create_tables(self, *sources: TableSource) -> list[str]:
        """Create the tables of these sources; give their names. They are ready at once."""
        definitions = tables.definitions(*sources)
        for definition in definitions:
            for operation, request in definition.requests():
                self.call(operation, request)
        return [definition.name for definition in definitions]

    def call(self, operation: str, request: Mapping[str, Any]) -> Any:
        """Call an operation of DynamoDB without an SDK."""
        return self._control.call(operation, dict(request), account_id=self.account_id, region=self.region)

    def throttle(self, table: str, *, times: int | None = None, rate: float = 1.0) -> Fault:
        """Throttle requests to a table; `faults.throttle` has more to choose from."""
        which: Which = {"table": table, "rate": rate}
        if times is not None:
            which["times"] = times
        return self.faults.throttle(**which)

    def lag(self, span: Span) -> None:
        """Have eventually consistent reads, and those of global indexes, see what was written so long ago.

        What was written before this call is seen at once. With 0 reads do not lag any more.
        """
        wanted = {"account_id": self.account_id, "lag_ms": round(seconds(span) * 1000)}
        self._control.ask("POST", f"{_PATH}/lag", wanted)

    def clear(self) -> None:
        """Remove all tables, faults and the lag of the namespace."""
        self._control.ask("DELETE", f"{_PATH}/namespaces/{self.account_id}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
