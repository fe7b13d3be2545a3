"""examples/saas: an address is somebody's once, seats are counted, and the policy keeps tenants apart."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from hashrange.cli import main
from hashrange.patterns import TransactionCanceled
from house import ROOT

POLICY = ROOT / "examples" / "saas" / "policy.json"
TABLE = "arn:aws:dynamodb:us-east-1:000000000000:table/saas"
INDEX = f"{TABLE}/index/GSI1"


@pytest.fixture
def module(application: Callable[[str], Any]) -> Any:
    return application("saas")


@pytest.fixture
def accounts(module: Any, examples_client: Any) -> Any:
    return module.Accounts(examples_client)


def tenant(accounts: Any, *members: str, seats: int = 3) -> str:
    """A new tenant; a member's address is NAME@TENANT."""
    tenant_id = uuid4().hex
    accounts.sign_up(tenant_id, "tenant", seats)
    for member in members:
        accounts.add_member(tenant_id, member, f"{member}@{tenant_id}")
    return tenant_id


def test_an_address_belongs_to_one_tenant(module: Any, accounts: Any) -> None:
    red, blue = tenant(accounts, "ann"), tenant(accounts)
    with pytest.raises(module.NotAdded, match="address taken"):
        accounts.add_member(blue, "ann", f"Ann@{red}")
    assert accounts.who(f"ANN@{red}") == (red, "ann")
    assert accounts.remove_member(red, "ann", f"ann@{red}")
    accounts.add_member(blue, "ann", f"ann@{red}")
    assert accounts.who(f"ann@{red}") == (blue, "ann")
    assert not accounts.remove_member(red, "ann", f"ann@{red}")


def test_of_many_who_want_the_last_seat_one_gets_it(module: Any, accounts: Any, examples_client: Any) -> None:
    red = tenant(accounts, "ann", seats=2)

    def join(number: int) -> bool:
        try:
            accounts.add_member(red, f"member{number}", f"member{number}@{red}")
        except module.NotAdded:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        joined = list(pool.map(join, range(6)))
    assert joined.count(True) == 1
    assert len(module.Workspace(examples_client, red).members()) == 2


def test_to_add_a_member_again_takes_no_second_seat(module: Any, accounts: Any, examples_client: Any) -> None:
    red = tenant(accounts, "ann", seats=2)
    accounts.add_member(red, "ann", f"ann@{red}")
    accounts.add_member(red, "bob", f"bob@{red}")
    assert module.Workspace(examples_client, red).members() == [f"ann@{red}", f"bob@{red}"]


def test_a_tenant_sees_its_own_projects_and_tasks(module: Any, accounts: Any, examples_client: Any) -> None:
    spaces = [
        module.Workspace(examples_client, tenant_id)
        for tenant_id in (tenant(accounts, "ann"), tenant(accounts, "ann"))
    ]
    for space, title in zip(spaces, ("one", "two"), strict=True):
        space.open_project("01", title)
        space.assign("01", "02", f"{title}, later", "ann", "2026-06-02")
        space.assign("01", "01", f"{title}, now", "ann", "2026-06-01")
    red, blue = spaces
    assert [project["title"] for project in red.projects()] == ["one"]
    assert red.to_do("ann") == ["one, now", "one, later"]
    assert [red.done("01", "01") for _ in range(2)] == [True, False]
    assert red.to_do("ann") == ["one, later"]
    assert blue.to_do("ann") == ["two, now", "two, later"]
    with pytest.raises(TransactionCanceled):
        red.assign("01", "03", "for a member of nobody", "eve", "2026-06-03")


def decision(make_client: Callable[..., Any], action: str, resource: str, *keys: str) -> str:
    """Whether the policy allows the tenant red an action on partition keys."""
    entries = [("aws:PrincipalTag/tenant", ["red"], "string"), ("dynamodb:LeadingKeys", keys, "stringList")]
    (result,) = make_client("iam").simulate_custom_policy(
        PolicyInputList=[POLICY.read_text("utf-8")],
        ActionNames=[f"dynamodb:{action}"],
        ResourceArns=[resource],
        ContextEntries=[
            {"ContextKeyName": name, "ContextKeyValues": list(values), "ContextKeyType": kind}
            for name, values, kind in entries
            if values
        ],
    )["EvaluationResults"]
    return str(result["EvalDecision"])


@pytest.mark.parametrize(
    ("action", "resource", "keys"),
    [
        ("Query", TABLE, ["TENANT#red"]),
        ("PutItem", TABLE, ["TENANT#red#PROJECT#01"]),
        ("Query", INDEX, ["TENANT#red#USER#ann"]),
    ],
)
def test_the_policy_lets_a_tenant_reach_its_keys(
    make_client: Callable[..., Any], action: str, resource: str, keys: list[str]
) -> None:
    assert decision(make_client, action, resource, *keys) == "allowed"


@pytest.mark.parametrize(
    ("action", "resource", "keys"),
    [
        ("Query", TABLE, ["TENANT#blue"]),
        ("GetItem", TABLE, ["TENANT#reddish#PROJECT#01"]),
        ("UpdateItem", TABLE, ["SEATS#red"]),
        ("GetItem", TABLE, ["EMAIL#ann@example.com"]),
        ("PutItem", TABLE, ["TENANT#red", "TENANT#blue"]),
        ("Query", INDEX, ["TENANT#blue#USER#ann"]),
        ("Query", TABLE, []),
        ("Scan", TABLE, []),
        ("DeleteItem", TABLE, ["TENANT#red"]),
    ],
)
def test_the_policy_keeps_a_tenant_from_all_others(
    make_client: Callable[..., Any], action: str, resource: str, keys: list[str]
) -> None:
    assert decision(make_client, action, resource, *keys) == "implicitDeny"


def test_the_policy_has_nothing_suspicious_and_its_page_shows_its_condition() -> None:
    assert main(["iam", "check", str(POLICY)]) == 0
    page = (POLICY.parent / "README.md").read_text("utf-8")
    (block,) = (part.split("```")[0] for part in page.split("```json\n")[1:])
    assert "".join(block.split()) in "".join(POLICY.read_text("utf-8").split())
