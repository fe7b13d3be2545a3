"""STS on the same endpoint: who the owner of a key is, which tools ask before anything else."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from botocore.exceptions import ClientError

from serving import AUTHORIZATION, Answer, Serving

XMLNS = "{https://sts.amazonaws.com/doc/2011-06-15/}"
ACCOUNT = "000000000000"
FORM = {
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": AUTHORIZATION,
    "Content-Type": "application/x-www-form-urlencoded",
}


def post(server: Serving, action: str, headers: dict[str, str]) -> Answer:
    return server.request("POST", "/", f"Action={action}&Version=2011-06-15".encode(), headers)


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-3"])
def test_a_caller_is_the_root_user_of_the_account(make_client: Callable[..., Any], region: str) -> None:
    answer = make_client("sts", region=region).get_caller_identity()
    answer.pop("ResponseMetadata")
    assert answer == {"UserId": ACCOUNT, "Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:root"}


def test_the_answer_is_the_document_that_sdks_parse(server: Serving) -> None:
    status, headers, body = post(server, "GetCallerIdentity", FORM)
    assert (status, headers["content-type"]) == (200, "text/xml")
    root = ET.fromstring(body)
    assert root.tag == f"{XMLNS}GetCallerIdentityResponse"
    assert root.findtext(f"{XMLNS}GetCallerIdentityResult/{XMLNS}Account") == ACCOUNT
    assert root.findtext(f"{XMLNS}ResponseMetadata/{XMLNS}RequestId") == headers["x-amzn-requestid"]


def test_what_sts_cannot_do_here_is_refused_as_an_action_that_it_does_not_know(
    make_client: Callable[..., Any],
) -> None:
    with pytest.raises(ClientError) as caught:
        make_client("sts").decode_authorization_message(EncodedMessage="somebody")
    assert caught.value.response["Error"]["Code"] == "InvalidAction"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_a_request_without_a_signature_is_refused(server: Serving) -> None:
    unsigned = {"Content-Type": FORM["Content-Type"]}
    status, _, body = post(server, "GetCallerIdentity", unsigned)
    assert status == 403
    assert ET.fromstring(body).findtext(f"{XMLNS}Error/{XMLNS}Code") == "MissingAuthenticationToken"
