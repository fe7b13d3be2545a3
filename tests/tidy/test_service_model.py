"""The comparison of structures with the service's model finds every kind of difference, and nothing else."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from botocore.model import ServiceModel

from service_model import differences, dynamodb, members, operations

Name = Annotated[str, msgspec.Meta(min_length=3, max_length=255, pattern="^[a-z]+$")]


class Key(msgspec.Struct):
    """A structure in a list."""

    name: str = msgspec.field(name="AttributeName")
    kind: Literal["HASH", "RANGE"] = msgspec.field(name="KeyType")


class Request(msgspec.Struct, rename="pascal"):
    """Right in every way."""

    table_name: Name
    keys: Annotated[list[Key], msgspec.Meta(min_length=1, max_length=2)]
    item: msgspec.Raw | None = None
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    consistent: bool | msgspec.UnsetType = msgspec.UNSET
    tags: dict[str, str] | None = None
    more: dict[str, list[Key]] | None = None


def shape(**members: str) -> dict[str, Any]:
    return {"type": "structure", "members": {name: {"shape": kind} for name, kind in members.items()}}


MODEL = ServiceModel(
    {
        "metadata": {"protocol": "json"},
        "operations": {"Ask": {"name": "Ask", "input": {"shape": "AskInput"}}, "Rest": {"name": "Rest"}},
        "shapes": {
            "AskInput": {
                **shape(
                    TableName="Name",
                    Keys="Keys",
                    Item="Item",
                    Limit="Limit",
                    Consistent="Boolean",
                    Tags="Tags",
                    More="More",
                ),
                "required": ["TableName", "Keys"],
            },
            "Name": {"type": "string", "min": 3, "max": 255, "pattern": "[a-z]+"},
            "Keys": {"type": "list", "member": {"shape": "Key"}, "min": 1, "max": 2},
            "KeyList": {"type": "list", "member": {"shape": "Key"}},
            "Key": {
                **shape(AttributeName="String", KeyType="KeyType"),
                "required": ["AttributeName", "KeyType"],
            },
            "KeyType": {"type": "string", "enum": ["HASH", "RANGE"]},
            "Item": {"type": "map", "key": {"shape": "String"}, "value": {"shape": "AttributeValue"}},
            "AttributeValue": shape(S="String", L="Values"),
            "Values": {"type": "list", "member": {"shape": "AttributeValue"}},
            "Limit": {"type": "integer", "min": 1},
            "Tags": {"type": "map", "key": {"shape": "String"}, "value": {"shape": "String"}},
            "More": {"type": "map", "key": {"shape": "String"}, "value": {"shape": "KeyList"}},
            "Boolean": {"type": "boolean"},
            "String": {"type": "string"},
        },
    },
    "made-up",
)


def changed(**fields: Any) -> list[str]:
    """The differences of a structure like `Request`, but for some fields; None leaves one out."""
    own = dict(Request.__annotations__) | fields
    optional = [name for name in own if name not in ("table_name", "keys")]
    definitions: list[Any] = [(name, own[name]) for name in ("table_name", "keys") if own[name] is not None]
    definitions += [(name, own[name], None) for name in optional if own[name] is not None]
    return differences("Ask", msgspec.defstruct("Changed", definitions, rename="pascal"), model=MODEL)


def test_no_difference() -> None:
    assert differences("Ask", Request, model=MODEL) == []
    assert changed() == []
    assert differences("Rest", msgspec.defstruct("Nothing", []), model=MODEL) == []


@pytest.mark.parametrize(
    ("fields", "difference"),
    [
        ({"tags": None}, "Ask.Tags: the structure does not have it"),
        ({"other": str}, "Ask.Other: the model does not have it"),
        ({"limit": str}, "Ask.Limit: the model has integer, the structure str"),
        ({"limit": bool}, "Ask.Limit: the model has integer, the structure bool"),
        ({"consistent": int}, "Ask.Consistent: the model has boolean, the structure int"),
        ({"tags": dict[str, int]}, "Ask.Tags{}: the model has string, the structure int"),
        ({"tags": dict[int, str]}, "Ask.Tags key: the model has string, the structure int"),
        ({"tags": list[str]}, "Ask.Tags: the model has map, the structure list"),
        ({"tags": msgspec.Raw}, "Ask.Tags: the model has map, the structure raw"),
        ({"item": str}, "Ask.Item: the model has Item, the structure str"),
        ({"limit": int}, "Ask.Limit: least: the model has 1, the structure None"),
        (
            {"limit": Annotated[int, msgspec.Meta(gt=0, lt=11)]},
            "Ask.Limit: most: the model has None, the structure 10",
        ),
        ({"more": dict[str, list[str]]}, "Ask.More{}[]: the model has structure, the structure str"),
        (
            {"table_name": Annotated[str, msgspec.Meta(min_length=3, max_length=254, pattern="^[a-z]+$")]},
            "Ask.TableName: most: the model has 255, the structure 254",
        ),
        (
            {"table_name": Annotated[str, msgspec.Meta(min_length=3, max_length=255, pattern="[a-z]+")]},
            "Ask.TableName: pattern: the model has [a-z]+, the structure [a-z]+",
        ),
    ],
)
def test_one_difference(fields: dict[str, Any], difference: str) -> None:
    assert changed(**fields) == [difference]


@pytest.mark.parametrize(
    "kept", [dict[str, Any], dict[str, dict[str, Any]], Any, msgspec.Raw, msgspec.Raw | None]
)
def test_attribute_values_may_be_kept_in_any_way(kept: Any) -> None:
    assert changed(item=kept) == []


def test_what_may_be_left_out() -> None:
    definitions: list[Any] = [("Limit", int), ("TableName", Name | None, None)]
    assert differences("Ask", msgspec.defstruct("Wrong", definitions), model=MODEL) == [
        "Ask.TableName: the model requires it, the structure does not",
        "Ask.Keys: the structure does not have it",
        "Ask.Item: the structure does not have it",
        "Ask.Limit: the model lets it be left out, the structure does not",
        "Ask.Limit: least: the model has 1, the structure None",
        "Ask.Consistent: the structure does not have it",
        "Ask.Tags: the structure does not have it",
        "Ask.More: the structure does not have it",
    ]


@pytest.mark.parametrize(
    ("kind", "values"),
    [(Literal["HASH"], "['HASH']"), (Literal["HASH", "RANGE", "X"], "['HASH', 'RANGE', 'X']"), (str, "[]")],
)
def test_values(kind: Any, values: str) -> None:
    key = msgspec.defstruct("Key", [("AttributeName", str), ("KeyType", kind)])
    assert changed(more=dict[str, list[key]]) == [  # type: ignore[valid-type]
        f"Ask.More{{}}[].KeyType: the model has the values ['HASH', 'RANGE'], the structure {values}"
    ]


def test_structures_that_refuse_what_they_do_not_know() -> None:
    strict = msgspec.defstruct("Strict", [], forbid_unknown_fields=True)
    assert differences("Rest", strict, model=MODEL) == [
        "Rest: the structure refuses members it does not know"
    ]


def test_members_are_listed_with_what_the_model_says_of_them() -> None:
    listed = members("Ask", MODEL)
    assert list(listed) == [
        "TableName",
        "Keys",
        "Keys[]",
        "Keys[].AttributeName",
        "Keys[].KeyType",
        "Item",
        "Limit",
        "Consistent",
        "Tags",
        "Tags{}",
        "More",
        "More{}",
        "More{}[]",
        "More{}[].AttributeName",
        "More{}[].KeyType",
    ]
    name, kind = listed["TableName"], listed["Keys[].KeyType"]
    assert (name.type_name, name.required, name.least, name.most, name.pattern) == (
        "string",
        True,
        3,
        255,
        "[a-z]+",
    )
    assert (kind.required, kind.enum) == (True, ("HASH", "RANGE"))
    assert not listed["Limit"].required


@pytest.mark.parametrize("operation", operations())
def test_every_operation_of_the_service_can_be_listed(operation: str) -> None:
    for path, member in members(operation).items():
        assert member.path == path
        assert ".AttributeValue." not in path
    assert operation in dynamodb().operation_names
    assert all(" does not have it" in line for line in differences(operation, msgspec.defstruct("Empty", [])))


class DescribeTable(msgspec.Struct):
    """A real request."""

    TableName: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


def test_a_real_request() -> None:
    assert differences("DescribeTable", DescribeTable) == []
