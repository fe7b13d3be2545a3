"""Forms of the query protocol, read as JSON would have been; botocore writes them, and reads the XML."""

from functools import cache
from typing import Annotated, Any
from urllib.parse import quote_plus

import pytest
from botocore.model import ServiceModel
from botocore.parsers import create_parser
from botocore.serialize import create_serializer
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from hashrange.api.errors import ApiError
from hashrange.api.protocol import kinds
from hashrange.api.protocol.operation import QueryProtocol
from hashrange.api.protocol.shapes import members_of
from hashrange.api.protocol.structures import Request
from hashrange.wire import cbor, query_form, xml_answers

QUERY = QueryProtocol(
    "2010-08-01", "http://example.com/doc/", {"InvalidParameterValueException": "InvalidParameterValue"}
)


class Inner(Request, kw_only=True):
    """A structure in a list."""

    name: str
    values: list[float] | None = None


class Everything(Request, kw_only=True):
    """A member of every type."""

    text: str | None = None
    number: int | None = None
    ratio: float | None = None
    flag: bool | None = None
    moment: Annotated[float, kinds.Timestamp()] | None = None
    texts: Annotated[list[str], Meta(max_length=99)] | None = None
    inners: list[Inner] | None = None
    labels: dict[str, str] | None = None


MEMBERS = members_of(Everything)


def _structure(**members: str) -> dict[str, Any]:
    return {"type": "structure", "members": {name: {"shape": shape} for name, shape in members.items()}}


@cache
def model(protocol: str) -> ServiceModel:
    shapes = {
        "Everything": _structure(
            Text="Text",
            Number="Number",
            Ratio="Ratio",
            Flag="Flag",
            Moment="Moment",
            Texts="Texts",
            Inners="Inners",
            Labels="Labels",
        ),
        "Inner": _structure(Name="Text", Values="Ratios"),
        "Inners": {"type": "list", "member": {"shape": "Inner"}},
        "Ratios": {"type": "list", "member": {"shape": "Ratio"}},
        "Texts": {"type": "list", "member": {"shape": "Text"}},
        "Labels": {"type": "map", "key": {"shape": "Text"}, "value": {"shape": "Text"}},
        "Text": {"type": "string"},
        "Number": {"type": "integer"},
        "Ratio": {"type": "double"},
        "Flag": {"type": "boolean"},
        "Moment": {"type": "timestamp"},
    }
    output = {"shape": "Everything"} | ({"resultWrapper": "DoResult"} if protocol == "query" else {})
    operation = {
        "name": "Do",
        "http": {"method": "POST", "requestUri": "/"},
        "input": {"shape": "Everything"},
        "output": output,
    }
    metadata = {"protocol": protocol, "apiVersion": "2010-08-01", "targetPrefix": "Service", "serviceId": "x"}
    return ServiceModel({"metadata": metadata, "operations": {"Do": operation}, "shapes": shapes}, "made-up")


# What XML can have, for both ways: no control characters.
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"),
    max_size=8,
)
ratios = st.floats(allow_nan=False, allow_infinity=False)
requests = st.fixed_dictionaries(
    {},
    optional={
        "Text": words,
        "Number": st.integers(-(2**31), 2**31 - 1),
        "Ratio": ratios,
        "Flag": st.booleans(),
        "Moment": st.integers(0, 2**32).map(float),
        "Texts": st.lists(words, max_size=12),
        "Inners": st.lists(
            st.fixed_dictionaries(
                {"Name": words}, optional={"Values": st.lists(ratios, min_size=1, max_size=3)}
            ),
            max_size=3,
        ),
        "Labels": st.dictionaries(words, words, max_size=3),
    },
)


@given(requests)
def test_what_botocore_sends_as_a_form_is_read_as_it_was_meant(sent: dict[str, Any]) -> None:
    serialized = create_serializer("query", include_validation=False).serialize_to_request(
        sent, model("query").operation_model("Do")
    )
    body = "&".join(
        f"{quote_plus(name)}={quote_plus(str(value))}" for name, value in serialized["body"].items()
    )
    fields = query_form.fields(body.encode())
    assert (fields["Action"], query_form.version(body.encode())) == ("Do", "2010-08-01")
    # A form has no way to say that a map is empty, nor that a list in a structure is.
    meant = {name: value for name, value in sent.items() if value != {}}
    read = {name: value for name, value in query_form.request(fields, MEMBERS).items() if value != {}}
    assert read == meant


@given(requests)
def test_botocore_reads_the_xml_as_it_was_meant(content: dict[str, Any]) -> None:
    body = xml_answers.answered("Do", QUERY, content, MEMBERS, "id-1")
    parsed = parse("query", body)
    assert parsed.pop("ResponseMetadata")["RequestId"] == "id-1"
    assert moments(parsed) == content


@given(requests)
def test_botocore_reads_the_cbor_as_it_was_meant(content: dict[str, Any]) -> None:
    parsed = parse("smithy-rpc-v2-cbor", cbor.dumps(content, MEMBERS))
    del parsed["ResponseMetadata"]
    assert moments(parsed) == content


@given(requests)
def test_what_botocore_sends_as_cbor_is_read_as_it_was_meant(sent: dict[str, Any]) -> None:
    serializer = create_serializer("smithy-rpc-v2-cbor", include_validation=False)
    serialized = serializer.serialize_to_request(sent, model("smithy-rpc-v2-cbor").operation_model("Do"))
    assert cbor.loads(serialized["body"]) == sent


def parse(protocol: str, body: bytes) -> dict[str, Any]:
    shape = model(protocol).operation_model("Do").output_shape
    headers = {"smithy-protocol": "rpc-v2-cbor"}
    parsed: dict[str, Any] = create_parser(protocol).parse(
        {"status_code": 200, "headers": headers, "body": body}, shape
    )
    return parsed


def moments(parsed: dict[str, Any]) -> dict[str, Any]:
    return {name: value.timestamp() if name == "Moment" else value for name, value in parsed.items()}


def test_an_error_names_its_code_and_whose_fault_it_is() -> None:
    error = ApiError("InvalidParameterValueException", "a < b & c\x00")
    assert xml_answers.failed(error, QUERY, "id-1") == (
        b'<ErrorResponse xmlns="http://example.com/doc/"><Error><Type>Sender</Type><Code>InvalidParameterValue</Code>'
        b"<Message>a &lt; b &amp; c\xef\xbf\xbd</Message></Error><RequestId>id-1</RequestId></ErrorResponse>\n"
    )
    broken = xml_answers.failed(ApiError("InternalServerError", None, status=500), QUERY, "id-1")
    assert b"<Type>Receiver</Type><Code>InternalFailure</Code><Message></Message>" in broken


@pytest.mark.parametrize(
    ("form", "request_"),
    [
        ("Texts.member.10=b&Texts.member.9=a", {"Texts": ["a", "b"]}),
        ("Texts.1=a&Texts.2=b", {"Texts": ["a", "b"]}),  # as flattened lists are
        ("Texts=", {"Texts": []}),
        ("Texts.member.x=a&Texts.member.-1=b", {"Texts": []}),
        ("Inners.member.1.Name=a+b%26", {"Inners": [{"Name": "a b&"}]}),
        ("Moment=2023-11-14T00:00:00Z", {"Moment": 1_699_920_000.0}),
        ("Moment=2023-11-14T00:00:00", {"Moment": 1_699_920_000.0}),
        ("Moment=1699920000.5", {"Moment": 1_699_920_000.5}),
        ("Moment=yesterday", {"Moment": "yesterday"}),  # the shape refuses it
        ("Moment=1e999", {"Moment": "1e999"}),
        ("Number=12x", {"Number": "12x"}),
        ("Number=99999999999999999999999", {"Number": "99999999999999999999999"}),
        ("Ratio=NaN", {"Ratio": "NaN"}),
        ("Ratio=1e400", {"Ratio": "1e400"}),
        ("Flag=TRUE", {"Flag": True}),
        ("Flag=maybe", {"Flag": "maybe"}),
        ("Unknown=1&Also.member.1=2&&=&=x", {}),
        ("Text.Deep.er=1", {"Text": ""}),
        ("Number.=1&Text..x=2&Texts.member.1.=3&.=4", {}),
        ("Text=a&Text.=b&Labels.entry.1.key.=c", {"Text": "a"}),
    ],
)
def test_unusual_forms(form: str, request_: dict[str, Any]) -> None:
    assert query_form.request(query_form.fields(form.encode()), MEMBERS) == request_


@pytest.mark.parametrize("form", [b"Text=%ff", b"Texts" + b".member" * 20 + b"=1"])
def test_forms_that_nobody_can_read(form: bytes) -> None:
    with pytest.raises(ApiError, match="SerializationException"):
        query_form.request(query_form.fields(form), MEMBERS)


def test_the_number_of_members_is_bounded() -> None:
    assert (
        len(query_form.fields(b"&".join(b"T%d=1" % at for at in range(query_form.MEMBERS_MAX))))
        == query_form.MEMBERS_MAX
    )
    with pytest.raises(ApiError, match="RequestEntityTooLargeException"):
        query_form.fields(b"&" * (query_form.MEMBERS_MAX + 1))


@pytest.mark.parametrize("member", ["ratio", "moment"])
@pytest.mark.parametrize("end", ["", "!", ".", "e", "e+"])
def test_a_long_number_is_read_in_one_go(member: str, end: str) -> None:
    """Forms are read before their signature is verified: nobody may keep the server busy with one."""
    text = "0" * 500_000 + end
    assert query_form.request({member.title(): text}, MEMBERS)[member.title()] in {0, text}


@pytest.mark.parametrize("form", ["Text=a&Text=b", "Text=a&Te%78t=a"])
def test_a_name_that_is_sent_twice_is_refused(form: str) -> None:
    with pytest.raises(ApiError) as refused:
        query_form.fields(form.encode())
    assert refused.value.code == "SerializationException"
