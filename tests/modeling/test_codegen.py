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
from hashrange.modeling.read_requests import requests_for as read_requests_for
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
        # Batches take keys: see below.
        for parameters in parameter_sets(model, pattern, data) if function and pattern.batch == 1 else ():
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
        if function is None or pattern.id == "W4":
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


@pytest.mark.parametrize("operation", ["BatchGetItem", "TransactGetItems"])
def test_several_keys_make_the_request_that_is_proved(operation: str) -> None:
    model = proved_model(("operation: BatchGetItem, batch: 5", f"operation: {operation}, batch: 5"))
    module = _imported(model)
    pattern = next(pattern for pattern in model.reads if pattern.id == "A10")
    sets = [{"user": f"u{number % 2}", "note": "n"} for number in range(3)]
    keys = [module.note_key(user_id=values["user"], note_id=values["note"]) for values in sets]
    request = module.a10(keys=keys)
    (expected,) = read_requests_for(plan_read(model, pattern), sets, model)
    assert (request.operation, request.members) == (expected.operation, expected.members())


def test_a_batch_of_writes_makes_the_request_that_is_proved() -> None:
    model = proved_model(("count: 30", "count: 20"))
    module = _imported(model)
    data = make_data(model, items=100, seed=1)
    pattern = next(pattern for pattern in model.writes if pattern.id == "W4")
    notes = [sample.values for sample in data.samples["Note"][:20]]
    user = data.samples["User"][0].values
    request = module.w4(
        items=[module.note_item(note) for note in notes], keys=[module.user_key(user_id=user["user_id"])]
    )
    (expected,) = requests_for(pattern, [*notes, user], {}, model, now=NOW)
    assert (request.operation, request.members) == (expected.operation, expected.members())
    with pytest.raises(ValueError, match="at most 25"):
        module.w4(items=[{}] * 25, keys=[{}])


def test_an_update_that_needs_the_stored_item_is_named_and_left_out() -> None:
    omissions = {
        omission.pattern: omission.reason for omission in generate(proved_model(), "python").omissions
    }
    assert omissions.keys() == {"W3"}
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
    assert "W3 is left out: the update changes" in capsys.readouterr().err
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


# Gives the JavaScript of a TypeScript file, by the compiler where one is installed (NODE_PATH says where).
_TRANSPILED = """
const fs = require("fs");
const typescript = require("typescript");
const options = { compilerOptions: { module: "esnext", target: "es2022" } };
process.stdout.write(typescript.transpileModule(fs.readFileSync(process.argv[1], "utf8"), options).outputText);
"""


def _javascript(node: str, path: Path) -> tuple[Path, list[str]]:
    """A file that this node runs, and the flags that it needs for that."""
    flag = "--experimental-strip-types"
    if not subprocess.run([node, flag, "-e", ""], capture_output=True, check=False, timeout=60).returncode:
        return path, [flag]
    made = subprocess.run(
        [node, "-e", _TRANSPILED, str(path)], capture_output=True, text=True, check=False, timeout=60
    )
    if made.returncode:
        pytest.skip("node strips types as of 22.6, and this older one has no package typescript (NODE_PATH)")
    script = path.with_suffix(".mjs")
    script.write_text(made.stdout, "utf-8")
    return script, []


def test_typescript_is_read_by_node_and_makes_the_same_requests(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the TypeScript is not run")
    model = proved_model()
    written = tmp_path / "desk.mts"
    written.write_text(generate(model, "typescript").text, "utf-8")
    path, flags = _javascript(node, written)
    script = f"""
    import({text_literal(path.as_uri())}).then((made) => {{
        const key = made.note_key({{ user_id: "u", note_id: "n" }});
        console.log(JSON.stringify([
            made.a3({{ user: "u1", since: "2026-01-01" }}).members,
            made.a10({{ keys: [key, key] }}).members,
            made.w4({{ items: [], keys: [key] }}).members,
        ]));
    }});
    """
    ran = subprocess.run([node, *flags, "-e", script], capture_output=True, text=True, check=True, timeout=60)
    patterns = {pattern.id: pattern for pattern in model.reads}
    one = request_for(plan_read(model, patterns["A3"]), {"user": "u1", "since": "2026-01-01"}, model)
    several = request_for(plan_read(model, patterns["A10"]), {"user": "u", "note": "n"}, model)
    table = next(iter(model.tables))
    key = _imported(model).note_key(user_id="u", note_id="n")
    deletes = {"RequestItems": {table: [{"DeleteRequest": {"Key": key}}]}}
    assert json.loads(ran.stdout) == [one.members(), several.members(), deletes]
