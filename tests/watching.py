"""CloudWatch in this process, with a clock that stands still; and SDKs' clients that speak each of its protocols."""

import gzip
import json
from pathlib import Path
from typing import Any

import boto3
import botocore
import orjson
from botocore.config import Config

from clocked import Clocked
from hashrange.api.errors import ApiError, as_api_error
from hashrange.chain.executor import Call
from hashrange.core.errors import Refused
from hashrange.jobs.custom_metrics import CompactCustomMetrics, ForgetAlarmHistory
from hashrange.jobs.evaluate_alarms import EvaluateAlarms
from hashrange.services.cloudwatch.registry import CLOUDWATCH
from hashrange.storage.setting_rows import Place
from hashrange.wire.answers import described
from run_now import run_now

TARGET = "GraniteServiceVersion20100801"
PROTOCOLS = ("query", "json", "smithy-rpc-v2-cbor")


class Watched(Clocked):
    """The whole service, with CloudWatch and its jobs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.evaluating = EvaluateAlarms(self.engine, self.clock.now)
        self.compacting = CompactCustomMetrics(self.engine)
        self.forgetting = ForgetAlarmHistory(self.engine)

    @property
    def place(self) -> Place:
        """Where its alarms and metrics are."""
        return Place(self.context.account_id, self.context.region)

    def ask(self, name: str, /, **request: Any) -> Any:
        """Ask CloudWatch."""
        call = Call(CLOUDWATCH.operations[name], self.context, None, orjson.dumps(request))
        call.decode()
        result: Any = run_now(self.executor, call)
        body = described(call.request, result)
        return orjson.loads(body) if body else None

    def fails(self, name: str, /, **request: Any) -> tuple[str, str | None]:
        """Code and message of the error that CloudWatch must answer with."""
        try:
            answer = self.ask(name, **request)
        except (ApiError, Refused) as error:
            told = as_api_error(error)
            return told.code, told.message
        raise AssertionError(answer)

    def put(self, metric: str, *values: float, at: float | None = None, **more: Any) -> None:
        """Put samples of a metric, now or at another time."""
        moment = self.clock.now() if at is None else at
        data = [{"MetricName": metric, "Value": value, "Timestamp": moment, **more} for value in values]
        self.ask("PutMetricData", Namespace="Test", MetricData=data)

    def tick(self, seconds: float = 60) -> None:
        """Let time pass, and alarms be evaluated."""
        self.clock.advance(seconds)
        while self.evaluating.step(self.clock.now()) == 0:
            pass

    def state(self, name: str) -> tuple[str, str]:
        (alarm,) = self.ask("DescribeAlarms", AlarmNames=[name])["MetricAlarms"]
        return alarm["StateValue"], alarm["StateReason"]


def speaking(protocol: str, endpoint: str, folder: Path) -> Any:
    """A client of boto3 that speaks this protocol; which one SDKs speak by themselves depends on their version."""
    model = Path(botocore.__file__).parent / "data" / "cloudwatch" / "2010-08-01"
    target = folder / protocol / "cloudwatch" / "2010-08-01"
    if not target.exists():
        target.mkdir(parents=True)
        content = json.loads(gzip.decompress((model / "service-2.json.gz").read_bytes()))
        content["metadata"] |= {
            "protocol": protocol,
            "protocols": [protocol],
            "jsonVersion": "1.0",
            "targetPrefix": TARGET,
        }
        if protocol != "query":
            content["metadata"]["awsQueryCompatible"] = {}
        (target / "service-2.json").write_text(json.dumps(content))
    core = botocore.session.get_session()
    core.get_component("data_loader").search_paths.insert(0, str(folder / protocol))
    session = boto3.session.Session(
        aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1", botocore_session=core
    )
    config = Config(parameter_validation=False, retries={"total_max_attempts": 1}, read_timeout=60)
    return session.client("cloudwatch", endpoint_url=endpoint, config=config)
