"""Forms that are none: whatever is wrong with them is told in the XML of the service that was meant."""

import http.client
import xml.etree.ElementTree as ET

import pytest

from serving import Serving

IAM, STS = "Version=2010-05-08", "Version=2011-06-15"
WHO = f"Action=GetCallerIdentity&{STS}"
BROKEN = [
    ("iam", f"Action=%ff&{IAM}", "MalformedInput"),
    ("iam", f"Action=ListUsers&{IAM}&PathPrefix=%ed%a0%80", "MalformedInput"),
    ("iam", f"Action=CreateUser&{IAM}&UserName=x&Tags{'.a' * 50}=b", "MalformedInput"),
    ("iam", f"Action=CreateUser&{IAM}&UserName=x&UserName=y", "MalformedInput"),
    ("iam", f"Action=ListUsers&Action=DeleteUser&{IAM}&UserName=x", "MalformedInput"),
    ("iam", IAM, "InvalidAction"),
    ("iam", f"Action=ListUsers%00&{IAM}", "InvalidAction"),
    ("iam", f"Action={'x' * 5000}&{IAM}", "InvalidAction"),
    ("iam", "Action=ListUsers", "InvalidAction"),
    ("iam", "Action=ListUsers&Version=2000-01-01", "InvalidAction"),
    ("iam", "Action=ListUsers&Version=iam", "InvalidAction"),
    ("iam", "", "InvalidAction"),
    ("iam", "&&=&=x&%3D", "InvalidAction"),
    ("iam", f"Action=ListUsers&{IAM}&MaxItems=many", None),
    ("iam", f"Action=CreateUser&{IAM}&UserName.member.1=x", None),
    ("iam", f"Action=CreateUser&{IAM}&Tags.member.1=x&Tags.member.1.Key=k", None),
    ("sts", f"{WHO}&{IAM}", "MalformedInput"),
    ("sts", STS, "InvalidAction"),
    ("sts", "Action=GetCallerIdentity", "InvalidAction"),
    ("sts", f"{WHO}&X=%ff", "MalformedInput"),
    ("sts", WHO + "&a=b" * 41_000, "RequestEntityTooLarge"),
]


def answered(server: Serving, service: str, form: str) -> tuple[int, str, str]:
    """Status, root element and code of the error; whatever is not XML fails."""
    scope = f"AKID/20260101/us-east-1/{service}/aws4_request"
    headers = {
        "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0",
        "X-Amz-Date": "20260101T000000Z",
    }
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("POST", "/", form, headers)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    assert response.headers["Content-Type"] == "text/xml"
    root = ET.fromstring(body.decode())
    space = root.tag.partition("}")[0] + "}"
    assert f"{service}.amazonaws.com" in space
    return response.status, root.tag.removeprefix(space), root.findtext(f"{space}Error/{space}Code") or ""


@pytest.mark.parametrize(("service", "form", "code"), BROKEN)
def test_what_is_wrong_is_told_in_xml(server: Serving, service: str, form: str, code: str | None) -> None:
    status, root, told = answered(server, service, form)
    assert (400 <= status < 500, root) == (True, "ErrorResponse")
    assert told if code is None else told == code


def test_a_form_that_is_whole_is_answered(server: Serving) -> None:
    assert answered(server, "sts", WHO) == (200, "GetCallerIdentityResponse", "")
    assert answered(server, "sts", WHO.replace("-", "%2D")) == (200, "GetCallerIdentityResponse", "")
