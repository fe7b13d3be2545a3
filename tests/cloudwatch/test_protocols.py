"""CloudWatch over each protocol that SDKs speak: JSON, the query protocol, and Smithy's RPC with CBOR."""

import gzip
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from botocore.exceptions import ClientError

from item_tables import unique
from serving import AUTHORIZATION, Answer, Serving

XMLNS = "{http://monitoring.amazonaws.com/doc/2010-08-01/}"
SIGNED = {"X-Amz-Date": "20260101T000000Z", "Authorization": AUTHORIZATION}
FORM = {**SIGNED, "Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
CBOR = {**SIGNED, "Content-Type": "application/cbor", "Smithy-Protocol": "rpc-v2-cbor"}
CBOR_PATH = "/service/GraniteServiceVersion20100801/operation/"


def now() -> datetime:
    return datetime.now(UTC)


def refused(call: Callable[[], Any]) -> tuple[str, str, int]:
    with pytest.raises(ClientError) as caught:
        call()
    error = caught.value.response["Error"]
    return (
        error["Code"],
        error.get("Message") or "",
        caught.value.response["ResponseMetadata"]["HTTPStatusCode"],
    )


def test_a_tour_of_metrics(cloudwatch: Any) -> None:
    namespace, dimensions = unique("Shop"), [{"Name": "Shop", "Value": "Ulm & <Söhne>"}]
    data = [
        {"MetricName": "Sales", "Dimensions": dimensions, "Value": value, "Unit": "Count"}
        for value in (1.5, 2.5)
    ]
    data.append({"MetricName": "Sales", "Dimensions": dimensions, "Values": [4.0, 5.0], "Counts": [2.0, 1.0]})
    cloudwatch.put_metric_data(Namespace=namespace, MetricData=data)
    times = {"StartTime": now() - timedelta(minutes=30), "EndTime": now() + timedelta(minutes=2)}
    answer = cloudwatch.get_metric_statistics(
        Namespace=namespace,
        MetricName="Sales",
        Dimensions=dimensions,
        Period=86_400,
        Statistics=["SampleCount", "Average", "Sum", "Minimum", "Maximum"],
        ExtendedStatistics=["p100"],
        **times,
    )
    assert answer["Label"] == "Sales"
    total = sum(point["Sum"] for point in answer["Datapoints"])  # a day may have begun meanwhile
    assert total == 17.0
    assert all(type(point["Timestamp"]) is datetime for point in answer["Datapoints"])
    assert max(point["ExtendedStatistics"]["p100"] for point in answer["Datapoints"]) == 5.0
    listed = cloudwatch.list_metrics(Namespace=namespace)
    assert listed["Metrics"] == [{"Namespace": namespace, "MetricName": "Sales", "Dimensions": dimensions}]
    metric = {"Namespace": namespace, "MetricName": "Sales", "Dimensions": dimensions}
    queries = [
        {"Id": "m1", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}, "ReturnData": False},
        {"Id": "e1", "Expression": "m1 * 2", "Label": "double"},
    ]
    (result,) = cloudwatch.get_metric_data(MetricDataQueries=queries, **times)["MetricDataResults"]
    assert (result["Id"], result["Label"], result["StatusCode"]) == ("e1", "double", "Complete")
    assert sum(result["Values"]) == 34.0
    assert all(type(time) is datetime for time in result["Timestamps"])


def test_a_tour_of_alarms(cloudwatch: Any) -> None:
    name = unique("alarm") + " ä/\"<&>'"
    settings = {
        "AlarmName": name,
        "Namespace": "Shop",
        "MetricName": "Sales",
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": 1e-7,
        "ComparisonOperator": "LessThanThreshold",
    }
    cloudwatch.put_metric_alarm(**settings, Tags=[{"Key": "team", "Value": ""}])
    (alarm,) = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    assert settings.items() <= alarm.items()
    assert (alarm["StateValue"], alarm["ActionsEnabled"]) == ("INSUFFICIENT_DATA", True)
    assert (alarm["Dimensions"], alarm["OKActions"], alarm["AlarmActions"]) == ([], [], [])
    assert "Unit" not in alarm
    arn = alarm["AlarmArn"]
    assert cloudwatch.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "team", "Value": ""}]
    cloudwatch.tag_resource(ResourceARN=arn, Tags=[{"Key": "a", "Value": "b"}])
    cloudwatch.untag_resource(ResourceARN=arn, TagKeys=["team"])
    assert cloudwatch.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
    cloudwatch.disable_alarm_actions(AlarmNames=[name])
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a test")
    (alarm,) = cloudwatch.describe_alarms_for_metric(Namespace="Shop", MetricName="Sales")["MetricAlarms"][
        -1:
    ]
    assert type(alarm["StateUpdatedTimestamp"]) is datetime
    history = cloudwatch.describe_alarm_history(AlarmName=name)["AlarmHistoryItems"]
    assert "Alarm updated from INSUFFICIENT_DATA to ALARM" in [item["HistorySummary"] for item in history]
    cloudwatch.delete_alarms(AlarmNames=[name])
    assert cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"] == []


def test_errors_have_the_codes_of_the_query_protocol(cloudwatch: Any) -> None:
    set_state = cloudwatch.set_alarm_state
    assert refused(lambda: set_state(AlarmName="x", StateValue="INVALID", StateReason="y")) == (
        "ValidationError",
        (
            "1 validation error detected: Value 'INVALID' at 'stateValue' failed to satisfy constraint: "
            "Member must satisfy enum value set: [INSUFFICIENT_DATA, ALARM, OK]"
        ),
        400,
    )
    missing = refused(lambda: set_state(AlarmName=unique("none"), StateValue="OK", StateReason="y"))
    assert missing == ("ResourceNotFound", "", 404)
    both = [{"MetricName": "m", "Value": 1.0, "Values": [1.0]}]
    assert refused(lambda: cloudwatch.put_metric_data(Namespace="n", MetricData=both)) == (
        "InvalidParameterCombination",
        (
            "The parameters MetricData.member.1.Value and MetricData.member.1.Values are mutually exclusive and you "
            "have specified both."
        ),
        400,
    )


def test_a_large_body_that_comes_compressed(cloudwatch: Any) -> None:
    """SDKs compress PutMetricData beyond 10 KB."""
    namespace = unique("Large")
    data = [
        {"MetricName": "m", "Value": 1.0, "Dimensions": [{"Name": "n", "Value": str(at)}]}
        for at in range(600)
    ]
    cloudwatch.put_metric_data(Namespace=namespace, MetricData=data)
    first = cloudwatch.list_metrics(Namespace=namespace)
    assert len(first["Metrics"]) == 500
    second = cloudwatch.list_metrics(Namespace=namespace, NextToken=first["NextToken"])
    assert len(second["Metrics"]) == 100
    assert "NextToken" not in second


def test_numbers_that_are_none(cloudwatch: Any) -> None:
    for value in (float("nan"), float("inf")):
        data = [{"MetricName": "m", "Value": value}]
        code, _, status = refused(
            lambda data=data: cloudwatch.put_metric_data(Namespace="n", MetricData=data)
        )
        assert (code, status) == ("InvalidParameterValue", 400)


class TestForms:
    """The query protocol without an SDK."""

    @staticmethod
    def post(server: Serving, body: bytes, **headers: str) -> Answer:
        return server.request("POST", "/", body, {**FORM, **headers})

    def test_an_answer(self, server: Serving) -> None:
        answer = self.post(server, b"Action=ListMetrics&Version=2010-08-01&Namespace=" + unique("n").encode())
        assert (answer.status, answer.headers["content-type"]) == (200, "text/xml")
        root = ET.fromstring(answer.body)
        assert root.tag == f"{XMLNS}ListMetricsResponse"
        assert [child.tag for child in root] == [f"{XMLNS}ListMetricsResult", f"{XMLNS}ResponseMetadata"]
        assert (
            root.findtext(f"{XMLNS}ResponseMetadata/{XMLNS}RequestId") == answer.headers["x-amzn-requestid"]
        )

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            (b"Action=Nothing&Version=2010-08-01", 400, "InvalidAction"),
            (b"Version=2010-08-01", 400, "InvalidAction"),
            (b"Action=PutMetricData&Version=2010-08-01", 400, "ValidationError"),
            (b"Action=PutMetricAlarm&Version=2010-08-01&AlarmName=%ff", 400, "MalformedInput"),
            (b"Action=PutMetricAlarm&Version=2010-08-01&EvaluationPeriods=many", 400, "MalformedInput"),
            (b"Action=ListMetrics&Version=2010-08-01" + b"&a" * 50_000, 413, "RequestEntityTooLarge"),
            (
                b"Action=ListMetrics&Version=2010-08-01&Dimensions" + b".member.1" * 30 + b"=1",
                400,
                "MalformedInput",
            ),
        ],
    )
    def test_errors(self, server: Serving, body: bytes, status: int, code: str) -> None:
        answer = self.post(server, body)
        root = ET.fromstring(answer.body)
        assert (answer.status, root.findtext(f"{XMLNS}Error/{XMLNS}Code")) == (status, code)
        assert root.tag == f"{XMLNS}ErrorResponse"

    def test_who_asks_must_be_known(self, server: Serving) -> None:
        answer = self.post(server, b"Action=ListMetrics&Version=2010-08-01", Authorization="")
        assert answer.status == 403
        assert b"<Code>MissingAuthenticationToken</Code>" in answer.body

    def test_compressed_forms(self, server: Serving) -> None:
        form = b"Action=ListMetrics&Version=2010-08-01&MetricName=none"
        good = self.post(server, gzip.compress(form), **{"Content-Encoding": "gzip"})
        assert good.status == 200
        bomb = gzip.compress(form + b"&a" * 20_000_000)
        assert self.post(server, bomb, **{"Content-Encoding": "gzip"}).status == 413
        for rubbish in (b"\x1f\x8b\x08rubbish", b"rubbish"):
            assert self.post(server, rubbish, **{"Content-Encoding": "gzip"}).status == 404
        # As the service answers JSON that cannot be unpacked.
        half = self.post(server, gzip.compress(form)[:-20], **{"Content-Encoding": "gzip"})
        assert (half.status, b"<Code>InternalFailure</Code>" in half.body) == (500, True)

    def test_a_web_page_cannot_have_a_browser_send_one(self, server: Serving) -> None:
        """A picture's address is fetched with GET and without an Origin; a form is posted with one."""
        query = "Action=DeleteAlarms&Version=2010-08-01&AlarmNames.member.1=x"
        signed = (
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a/20260101/us-east-1/monitoring/aws4_request"
            "&X-Amz-Signature=0&X-Amz-SignedHeaders=host&X-Amz-Date=20260101T000000Z"
        )
        fetched = server.request("GET", f"/?{query}&{signed}", headers={"Content-Type": FORM["Content-Type"]})
        assert (fetched.status, b"healthy" in fetched.body) == (200, True)
        posted = self.post(server, query.encode(), Origin="https://example.com")
        assert posted.status == 403


class TestCbor:
    """Smithy's protocol without an SDK."""

    @staticmethod
    def post(server: Serving, operation: str, body: bytes, **headers: str) -> Answer:
        return server.request("POST", CBOR_PATH + operation, body, {**CBOR, **headers})

    def test_answers(self, server: Serving) -> None:
        answer = self.post(server, "ListMetrics", bytes.fromhex("a16a4d65747269634e616d65646e6f6e65"))
        assert (answer.status, answer.headers["smithy-protocol"]) == (200, "rpc-v2-cbor")
        assert answer.headers["content-type"] == "application/cbor"
        assert answer.body == bytes.fromhex("a1674d65747269637380")
        nothing = self.post(server, "DisableAlarmActions", bytes.fromhex("a16a416c61726d4e616d657380"))
        assert (nothing.status, nothing.body, "content-type" in nothing.headers) == (200, b"", False)

    @pytest.mark.parametrize(
        ("operation", "body", "status", "code"),
        [
            ("Nothing", b"\xa0", 400, "InvalidAction;Sender"),
            ("ListMetrics", b"\x9f" * 100_000, 400, "MalformedInput;Sender"),
            (
                "ListMetrics",
                b"\xbf\x61a" + b"\x9f" + b"\xf6" * 200_000 + b"\xff\xff",
                413,
                "RequestEntityTooLarge;Sender",
            ),
            ("ListMetrics", b"\xa1\x61a\x9b" + b"\x7f" * 8, 400, "MalformedInput;Sender"),
            ("SetAlarmState", b"\xa0", 400, "ValidationError;Sender"),
        ],
    )
    def test_errors(self, server: Serving, operation: str, body: bytes, status: int, code: str) -> None:
        answer = self.post(server, operation, body)
        assert (answer.status, answer.headers["x-amzn-query-error"]) == (status, code)
        assert answer.headers["smithy-protocol"] == "rpc-v2-cbor"
        assert b"__type" in answer.body

    def test_other_paths_are_not_found(self, server: Serving) -> None:
        for path in ("/service/", "/service/x/operation/ListMetrics", CBOR_PATH, CBOR_PATH + "ListMetrics/x"):
            assert server.request("POST", path, b"\xa0", CBOR).status == 404
        assert self.post(server, "ListMetrics", b"\xa0", **{"Smithy-Protocol": "rpc-v1"}).status == 404
