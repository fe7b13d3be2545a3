"""Two versions of a model: what changes, what becomes of stored items, what it costs, and the order of the steps."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from hashrange.cli import main
from hashrange.modeling.commands.diff import render, status
from hashrange.modeling.commands.new import starter
from hashrange.modeling.diff.comparison import Comparison, compare
from hashrange.modeling.loading import loads
from hashrange.modeling.price.price_list import price_list

# An item has 2 + 36 bytes of PK, 2 + 36 of id, 5 + 24 of email, and 4 + 400 of body: 509 bytes, and one unit.
OLD = """
hashrange: 1
name: notes
tables:
  notes: {partition_key: PK@table}
entities:
  Note:
    count: 1 million
    keys: {PK: "{id}"@keys}
    attributes: {id: uuid, email: email, body: {type: S, size: 400}@attributes}
patterns:
  - {id: R1, entity: Note, where: id = ?id, rate: 10/s}
  - {id: R2, entity: Note, where: email = ?email, rate: 1/s}
  - {id: W1, write: {put: Note}, rate: 1/s}
"""
GSI = ", indexes: {GSI1: {partition_key: GSI1PK}}"
GSI_KEY = ', GSI1PK: "E#{email}"'


def text(table: str = "", keys: str = "", attributes: str = "") -> str:
    return OLD.replace("@table", table).replace("@keys", keys).replace("@attributes", attributes)


def compared(old: str, new: str) -> Comparison:
    return compare(loads(old), loads(new), price_list(), 1000)


def steps(comparison: Comparison) -> list[tuple[str, str]]:
    return [(step.phase, step.text) for step in comparison.steps]


def test_a_version_does_not_differ_from_itself_on_other_lines() -> None:
    comparison = compared(text(), "# a comment\n\n" + text())
    assert [*comparison.changes, *comparison.steps, *comparison.costs] == []
    assert comparison.total == 0
    assert render(comparison).endswith("no difference")


def test_an_index_with_a_new_key_is_added_first_and_then_filled() -> None:
    comparison = compared(text(), text(GSI, GSI_KEY))
    assert [change.effect for change in comparison.patterns] == ["begins"]
    (part,) = comparison.backfills
    assert (part.entity, part.kind, part.items) == ("Note", "update", 1_000_000)
    assert part.reasons == ("key GSI1PK: none -> E#{email}",)
    assert (part.write_units, part.index_units, part.delete_units) == (1_000_000, {"GSI1": 1_000_000}, 0)
    (build,) = comparison.builds
    assert build.entries == 0
    assert [phase for phase, _ in steps(comparison)] == [
        *("index", "dual write", "backfill", "verify", "flip", "stop"),
    ]
    assert "W1" in steps(comparison)[1][1]


def test_the_cost_is_units_times_their_price() -> None:
    comparison = compared(text(), text(GSI, GSI_KEY))
    costs = {cost.what: cost for cost in comparison.costs}
    # Two strongly consistent scans of a million items of 2 + 36, 2 + 36, 5 + 24 and 4 + 400 bytes.
    assert costs["scan, twice"].read_units == 2 * -(-1_000_000 * 509 // 4096)
    assert costs["backfill Note"].cost == Decimal("1.25")  # two million units at 0.625 a million
    assert comparison.total == costs["scan, twice"].cost + Decimal("1.25")
    assert comparison.hours == pytest.approx(1_000_000 / 1000 / 3600)


def test_an_index_on_an_attribute_that_items_have_is_filled_by_dynamodb_itself() -> None:
    comparison = compared(text(), text(", indexes: {by_email: {partition_key: email}}"))
    assert comparison.backfills == ()
    (build,) = comparison.builds
    assert (build.index, build.entries, build.write_units) == ("by_email", 1_000_000, 1_000_000)
    assert comparison.total == Decimal("0.625")
    assert [phase for phase, _ in steps(comparison)] == ["index", "flip"]


def test_a_key_that_only_some_items_have_is_written_to_these_alone() -> None:
    status_attribute = ", status: {values: [OPEN, DONE]}"
    sparse = ', GSI1PK: {template: "OPEN#{id}", if: status = "OPEN"}'
    comparison = compared(text("", "", status_attribute), text(GSI, sparse, status_attribute))
    (part,) = comparison.backfills
    assert (part.items, part.index_units) == (500_000, {"GSI1": 500_000})


def test_an_index_that_is_dropped_breaks_its_pattern_and_the_command() -> None:
    comparison = compared(text(GSI, GSI_KEY), text())
    assert [(change.id, change.effect) for change in comparison.broken] == [("R2", "breaks")]
    assert comparison.broken[0].problems
    assert status(comparison) == 1
    assert comparison.backfills == ()
    assert steps(comparison) == [
        ("flip", "R2: no key serves it; decide what becomes of it"),
        ("drop", "delete the index GSI1 of notes, once no read of it is left"),
    ]


def test_another_projection_takes_an_index_of_another_name() -> None:
    comparison = compared(
        text(GSI, GSI_KEY), text(GSI.replace("GSI1PK", "GSI1PK, projection: [body, id]"), GSI_KEY)
    )
    (change,) = comparison.changes
    assert (change.kind, change.name, change.in_place) == ("index", "notes/GSI1", False)
    assert "under another name" in steps(comparison)[0][1]
    assert steps(comparison)[-1][0] == "drop"


def test_another_key_template_copies_every_item_and_deletes_the_old_one() -> None:
    comparison = compared(text(GSI, GSI_KEY), text(GSI, GSI_KEY).replace('"{id}"', '"NOTE#{id}"'))
    (part,) = comparison.backfills
    assert part.kind == "rekey"
    # A transaction pays twice: for the copy, and for the check that the old item is there still.
    assert (part.write_units, part.check_units, part.index_units) == (2e6, 2e6, {"GSI1": 1e6})
    assert part.delete_units == 2e6  # the item, and its row in the index
    assert [change.effect for change in comparison.patterns] == ["flips", "flips"]
    assert all(step.tool == "" for step in comparison.steps)  # Migration goes from one table to another


@pytest.mark.parametrize(
    ("table", "keys", "reason"),
    [
        (", sort_key: SK", ", SK: NOTE", "the key of a table cannot be changed"),
        (", sort_key: SK, indexes: {LSI1: {local: true, sort_key: email}}", ", SK: NOTE", "local indexes are made"),
    ],
)  # fmt: skip
def test_what_a_table_cannot_change_takes_a_new_table_and_a_migration(
    table: str, keys: str, reason: str
) -> None:
    local = "local" in table
    before = text(", sort_key: SK", ", SK: NOTE") if local else text()
    comparison = compared(before, text(table, keys))
    (part,) = comparison.backfills
    assert (part.kind, part.delete_units) == ("move", 0)
    # A read of the copy and one of the original, and the scan of the new table.
    assert part.verify_units == pytest.approx(part.items * 2 + part.bytes / 4096)
    assert reason in part.reasons[0]
    assert reason in steps(comparison)[0][1]
    assert [step.tool.split(",")[0] for step in comparison.steps if step.tool][:4] == [
        *("Migration.begin", "Backfill.run", "Verification.run", "Migration.flip")
    ]
    assert steps(comparison)[-1] == ("drop", "back up and delete the old notes")
    assert not next(change for change in comparison.changes if change.kind == "table").in_place


def test_an_entity_moves_to_a_table_of_another_name() -> None:
    new = text().replace("  notes: {", "  papers: {")
    comparison = compared(text(), new)
    assert comparison.backfills[0].reasons == ("from notes to papers",)
    assert [(change.action, change.name) for change in comparison.changes if change.kind == "table"] == [
        ("removed", "notes"),
        ("added", "papers"),
    ]
    assert steps(comparison)[-1] == ("drop", "back up and delete the table notes")


def test_attributes_that_every_item_has_are_filled_and_optional_ones_are_not() -> None:
    assert compared(text(), text("", "", ", note: {type: S, optional: 10%}")).backfills == ()
    (part,) = compared(text(), text("", "", ", note: {type: S}")).backfills
    assert (part.kind, part.reasons) == ("update", ("attribute note is new",))


def test_values_of_another_form_change_the_keys_that_are_made_of_them() -> None:
    old = text("", "", ", at: timestamp").replace('"{id}"', '"{at}#{id}"')
    (part,) = compared(old, old.replace("at: timestamp", "at: date")).backfills
    assert part.kind == "rekey"
    assert "attribute at: timestamp -> date" in part.reasons


def test_settings_are_changed_in_place() -> None:
    comparison = compared(text(), text(", stream: NEW_IMAGE, point_in_time_recovery: true"))
    assert steps(comparison) == [
        ("settings", "change notes in place: stream, point in time recovery")
    ]  # fmt: skip
    assert comparison.total == 0


def test_provisioned_tables_and_replicas_pay_their_own_prices() -> None:
    def cost(table: str) -> Decimal:
        indexed = text(", indexes: {by_email: {partition_key: email}}" + table)
        return compared(text(table), indexed).total

    assert cost(", billing: provisioned") == (1_000_000 * Decimal("0.00065") / 3600).quantize(
        Decimal("0.0001")
    )
    assert cost(", replicas: [us-west-2]") == 2 * cost("")


def test_the_command_shows_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(text(), "utf-8")
    new.write_text(text(GSI, GSI_KEY), "utf-8")
    assert main(["model", "diff", str(old), str(new)]) == 0
    shown = capsys.readouterr().out
    assert "+ index notes/GSI1" in shown
    assert "1. index: add GSI1 to notes; wait until it is ACTIVE" in shown
    assert main(["model", "diff", str(old), str(new), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["backfills"][0]["items"] == 1_000_000
    assert main(["model", "diff", str(new), str(old)]) == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(starter(), "utf-8")
    assert main(["model", "diff", str(path), str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["model", "diff", str(path), str(path), "--items-per-second", "0"])
