"""Requests to a DynamoDB endpoint, by botocore: retried while that makes sense, and errors that people can read."""

import os
import random
import threading
import time
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any

from hashrange.client_tls import ClientTlsInvalid, client_certificate
from hashrange.transfer.errors import EndpointError, TransferError
from hashrange.transfer.places import TablePlace
from hashrange.transfer.stopping import Stop

_NO_LIBRARY = "this needs AWS's client library: pip install 'hashrange[transfer]'"
_CONNECT_SECONDS = 10
_READ_SECONDS = 60
_FIRST_PATIENCE_SECONDS = 3.0  # of an endpoint that has never answered: it is most likely a wrong address
_PATIENCE_SECONDS = 300.0  # of one that has
_BACKOFF_SECONDS = (0.05, 10.0)
_THROTTLED = frozenset(
    {
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
    }
)


def backoff_seconds(attempt: int) -> float:
    """How long to wait before the next attempt: longer each time, and not in step with others."""
    least, most = _BACKOFF_SECONDS
    seconds: float = min(most, least * 2**attempt)
    return random.uniform(0.5, 1.0) * seconds  # noqa: S311 - spreads retries


class Endpoint:
    """One table's endpoint; may be used by several threads."""

    def __init__(self, place: TablePlace, stop: Stop, connections: int = 10) -> None:
        self.place = place
        self.stop = stop
        self.clock: datetime | None = None  # what the endpoint's own clock said last
        self._connections = connections
        self._has_answered = False
        self._lock = threading.Lock()

    @property
    def table(self) -> str:
        return self.place.table

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Send a request of DynamoDB, such as `describe_table`; gives its answer."""
        return self._call(self._dynamodb, operation, parameters)

    def call_streams(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Send a request of DynamoDB Streams."""
        return self._call(self._streams, operation, parameters)

    def _call(self, client: Any, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
        exceptions = _library().exceptions
        began = time.monotonic()
        attempt = 0
        while True:
            self.stop.check()
            try:
                answer: dict[str, Any] = getattr(client, operation)(**parameters)
            except exceptions.ClientError as error:
                failure = self._refused(error)
            except (exceptions.ConnectionError, exceptions.HTTPClientError) as error:
                failure = TransferError(f"{self.place.endpoint} does not answer: {error}")
            except exceptions.BotoCoreError as error:
                raise self._unusable(error) from None
            else:
                self._note(answer)
                return answer
            patience = _PATIENCE_SECONDS if self._has_answered else _FIRST_PATIENCE_SECONDS
            if time.monotonic() - began > patience:
                raise failure
            self.stop.sleep(backoff_seconds(attempt))
            attempt += 1

    def _note(self, answer: dict[str, Any]) -> None:
        self._has_answered = True
        date = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
        if date:
            try:
                self.clock = parsedate_to_datetime(date)
            except ValueError:
                self.clock = None

    def _refused(self, error: Any) -> TransferError:
        """The failure that is worth another attempt; any other is raised."""
        details = error.response.get("Error", {})
        failure = EndpointError(str(details.get("Code", "Unknown")), str(details.get("Message", "")))
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if failure.code in _THROTTLED or status >= 500:
            return failure
        raise failure from None

    def _unusable(self, error: Exception) -> TransferError:
        exceptions = _library().exceptions
        if isinstance(error, exceptions.NoCredentialsError | exceptions.PartialCredentialsError):
            return TransferError(
                f"no credentials for {self.place.endpoint}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                "or name a profile with --from-profile or --to-profile"
            )
        return TransferError(f"{self.place.endpoint}: {error}")

    @cached_property
    def _dynamodb(self) -> Any:
        return self._client("dynamodb", self.place.endpoint)

    @cached_property
    def _streams(self) -> Any:
        return self._client("dynamodbstreams", self.place.streams_endpoint)

    def _client(self, service: str, endpoint: str) -> Any:
        library = _library()
        config = library.config.Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"total_max_attempts": 1},
            max_pool_connections=self._connections,
            parameter_validation=False,
            client_cert=_client_certificate(),
        )
        place = self.place
        try:
            with self._lock:
                session = library.session.Session(profile=place.profile)
                keys = (place.access_key_id, place.secret_access_key)
                if keys == (None, None) and place.is_loopback and session.get_credentials() is None:
                    keys = ("local", "local")
                return session.create_client(
                    service,
                    endpoint_url=endpoint,
                    region_name=place.region,
                    aws_access_key_id=keys[0],
                    aws_secret_access_key=keys[1],
                    config=config,
                )
        except (library.exceptions.BotoCoreError, ValueError) as error:
            raise self._unusable(error) from None


def _client_certificate() -> tuple[str, str] | None:
    try:
        return client_certificate(os.environ)
    except ClientTlsInvalid as problem:
        raise TransferError(str(problem)) from None


def _library() -> Any:
    """Import botocore, which is an extra and takes half a second."""
    try:
        import botocore.config  # noqa: PLC0415
        import botocore.exceptions  # noqa: PLC0415
        import botocore.session  # noqa: PLC0415
    except ImportError:
        raise TransferError(_NO_LIBRARY) from None
    return botocore
