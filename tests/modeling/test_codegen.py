"""`hashrange model codegen`: the code makes the same requests as the builders that `prove` runs."""

import builtins
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hashrange.cli import main
from hashrange.modeling.codegen.generation import LANGUAGES, generate
from hashrange.modeling.codegen.nodes import Names, text_literal
from hashrange.modeling.data.generation import Data, make_data
from hashrange.modeling.loading import loads
from hashrange.modeling.model import Model, WriteStep
from hashrange.modeling.planning import plan_read
from hashrange.modeling.prove.parameters import parameter_sets
from hashrange.modeling.read_requests import request_for
from hashrange.modeling.table_requests import create_table
from hashrange.modeling.write_requests import requests_for
from hashrange.patterns.values import shard_of
from item_tables import unique
from proved_model import TEXT, proved_model

NOW = 1_790_000_000


def _imported(model: Model) -> Any:
    """The generated module, run."""
    members: dict[str, Any] = {"__name__": "generated", "__builtins__": builtins}
    exec(compile(generate(model, "python").text, "generated.py", "exec"), members)
    return SimpleNamespace(**members)


def _arguments(function: Any, parameters: dict[str, object], shard: int) -> dict[str, object]:
    extra = {"now": NOW, "shard": shard}
    names = function.__kwdefaults__ or function.__code__.co_varnames[: function.__code__.co_kwonlyargcount]
    return parameters | {name: extra[name] for name in names if name in extra}


def test_every_read_makes_the_request_that_is_proved() -> None:
    model = proved_model()
    module = _imported(model)
    data = make_data(model, items=100, seed=1)
    compared = 0
    for pattern in model.reads:
        function = getattr(module, pattern.id.lower(), None)
        plan = plan_read(model, pattern)
        for parameters in parameter_sets(model, pattern, data) if function else ():
            for shard in range(plan.shards):
                request = function(**_arguments(function, parameters, shard))
                expected = request_for(plan, parameters, model, now=NOW, shard=shard)
                assert (request.operation, request.members) == (expected.operation, expected.members())
                compared += 1
    assert compared > 50


def _write_parameters(data: Data) -> dict[str, object]:
    return {"n": 3, "text": "gone", "bio": data.samples["User"][0].values["email"]}


def test_every_write_makes_the_request_that_is_proved() -> None:
    model = proved_model()
    module = _imported(model)
    data = make_data(model, items=100, seed=1)
    compared: list[str] = []
    for pattern in model.writes:
        function = getattr(module, pattern.id.lower(), None)
        if function is None:
            continue
        items = [data.samples[step.entity][at].values for at, step in enumerate(pattern.steps)]
        arguments = {
            name: value
            for step, item in zip(pattern.steps, items, strict=True)
            for name, value in _item_arguments(model, module, step, item)
        }
        given = {"token": "t", **_write_parameters(data), **arguments}
        names = function.__code__.co_varnames[: function.__code__.co_kwonlyargcount]
        request = function(**{name: given[name] for name in names})
        (expected,) = requests_for(pattern, items, _write_parameters(data), model, now=NOW, token="t")
        assert (request.operation, request.members) == (expected.operation, expected.members())
        compared.append(pattern.id)
    assert {"W1", "W2", "W5", "W6", "W7", "W8"} <= set(compared)


def _item_arguments(
    model: Model, module: Any, step: WriteStep, item: Mapping[str, object]
) -> Iterator[tuple[str, object]]:
    name = step.entity.lower()
    if step.action == "put":
        yield f"new_{name}", item
        return
    make = getattr(module, f"{name}_key")
    names = make.__code__.co_varnames[: make.__code__.co_kwonlyargcount]
    yield f"key_of_{name}", make(**{attribute: item[attribute] for attribute in names})


def test_items_and_answers_go_to_a_server_and_back(client: Any) -> None:
    name = unique("desk")
    model = loads(TEXT.replace("tables:\n  desk:", f"tables:\n  {name}:"))
    module = _imported(model)
    client.create_table(**create_table(model.tables[name], model).members())
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    ticket = {
        "user_id": "u1",
        "ticket_id": "t1",
        "opened_at": "2026-01-02T00:00:00Z",
        "status": "OPEN",
        "level": 7,
        "score": -3,
        "title": "Printer",
        "labels": {"a", "b"},
    }
    other = {**ticket, "ticket_id": "t2", "status": "DONE", "opened_at": "2026-01-03T00:00:00Z"}
    for item in (ticket, other):
        client.put_item(TableName=name, Item=module.ticket_item(item))
    latest = client.query(**module.a3(user="u1", since="2026-01-01T00:00:00Z").members)["Items"]
    assert [item["ticket_id"]["S"] for item in latest] == ["t2", "t1"]
    is_open = [item for shard in range(4) for item in client.query(**module.a5(shard=shard).members)["Items"]]
    assert [item["ticket_id"]["S"] for item in is_open] == ["t1"]
    key = module.ticket_key(user_id="u1", opened_at="2026-01-02T00:00:00Z", ticket_id="t1")
    assert client.get_item(TableName=name, Key=key)["Item"]["LSI1SK"] == {"S": "000007"}


def test_generated_code_has_the_shards_and_all_digits_of_numbers() -> None:
    module = _imported(proved_model())
    digits = Decimal("1234567890123456789012345678901234.5600")
    assert module._number(digits) == "1234567890123456789012345678901234.56"
    assert [module._number(number) for number in (Decimal("-0.0"), Decimal("1E+3"), 1e-7)] == [
        "0",
        "1000",
        "0.0000001",
    ]
    for value in (digits, Decimal("1.50"), 7, 2.0, 0.25, "text", b"\xff", True):
        assert module._shard(value, 997) == str(shard_of(value, 997))


def test_who_looks_for_an_item_says_which_shard_was_drawn() -> None:
    module = _imported(proved_model(('SK: "NOTE#{note_id}"', 'SK: "NOTE#{shard(random, 5)}#{note_id}"')))
    assert module.note_key(user_id="u", note_id="n", shard=3)["SK"] == {"S": "NOTE#3#n"}
    stored = module.note_item({"user_id": "u", "note_id": "n", "text": "x"})["SK"]["S"]
    assert stored in {f"NOTE#{shard}#n" for shard in range(5)}


def test_an_update_that_needs_the_stored_item_is_named_and_left_out() -> None:
    omissions = {
        omission.pattern: omission.reason for omission in generate(proved_model(), "python").omissions
    }
    assert omissions.keys() == {"A10", "W3", "W4"}
    assert "LSI1SK" in omissions["W3"]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_same_model_gives_the_same_code(language: str) -> None:
    assert generate(proved_model(), language) == generate(proved_model(), language)


def test_the_command_writes_a_file_and_names_what_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "desk.yaml").write_text(TEXT, "utf-8")
    out = tmp_path / "desk.py"
    words = ("model", "codegen", str(tmp_path / "desk.yaml"), "--language", "python", "--out", str(out))
    assert main(words) == 0
    assert "A10 is left out: BatchGetItem" in capsys.readouterr().err
    assert "def a1(*, user: str) -> Request:" in out.read_text("utf-8")


def test_names_are_identifiers_and_none_is_taken_twice() -> None:
    names = Names()
    assert [names.take(text) for text in ("a-b", "a b", "class", "1st", "", "len")] == [
        "a_b",
        "a_b_",
        "class_",
        "n1st",
        "value",
        "len_",
    ]


@pytest.mark.parametrize("text", ['"""', "a\nb", "\\", "\u2028", "\U0001f600", "\x7f", "{x}", "*/"])
def test_a_text_is_read_back_as_it_was(text: str) -> None:
    assert eval(text_literal(text)) == text


def test_words_of_a_model_stay_words_in_the_code() -> None:
    model = proved_model(
        ("id: A1,", 'id: import, name: "x\\n\\"\\"\\" + os.abort()",'),
        ("title:", '"ti\\"tle\\n":'),
        ("[title, ", "["),
    )
    assert _imported(model).import_(user="u").members["Key"]["PK"] == {"S": "USER#u"}


def test_typescript_is_read_by_node_and_makes_the_same_requests(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the TypeScript is not run")
    stripping = subprocess.run(
        [node, "--experimental-strip-types", "-e", ""], capture_output=True, check=False, timeout=60
    )
    if stripping.returncode:
        pytest.skip("this node reads no TypeScript: it is as of 22.6 that it strips types")
    model = proved_model()
    path = tmp_path / "desk.mts"
    path.write_text(generate(model, "typescript").text, "utf-8")
    script = (
        f"import({text_literal(path.as_uri())}).then((made) => console.log(JSON.stringify("
        'made.a3({user: "u1", since: "2026-01-01"}).members)))'
    )
    ran = subprocess.run(
        [node, "--experimental-strip-types", "-e", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    pattern = next(pattern for pattern in model.reads if pattern.id == "A3")
    expected = request_for(plan_read(model, pattern), {"user": "u1", "since": "2026-01-01"}, model)
    assert json.loads(ran.stdout) == expected.members()
