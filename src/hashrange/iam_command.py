"""`hashrange iam`: users, access keys, roles and policies, of a running server or of data that no server has open.

A running server is asked through its IAM, as the AWS CLI asks it. Before there is a first key nobody can ask a server,
and after the last one is lost neither: that is what the command on the data itself is for.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime

from hashrange import config, iam_check, iam_explanation, iam_simulation, terminal
from hashrange.admin import AdminFailed
from hashrange.api.errors import ApiError
from hashrange.config import SettingInvalid, Settings
from hashrange.iam_operations import Content, Operations, Unreadable, text_of
from hashrange.iam_server import IamServer
from hashrange.iam_store import IamStore
from hashrange.kms.root_key import FILE_NAME
from hashrange.passwords import masked
from hashrange.storage.errors import Locked, StorageError

DESCRIPTION = (
    "Manage the users, access keys, roles and policies of a running server (--endpoint, signed with AWS_ACCESS_KEY_ID "
    "and AWS_SECRET_ACCESS_KEY), or those in a data directory that no server has open, or in a PostgreSQL database. "
    "Secrets are shown once, when they are made."
)
_ACCOUNT = "000000000000"
_SETTINGS = ("data_dir", "engine", "root_key")
_FAMILIES = ("user", "group", "role")


_Run = Callable[[Operations, argparse.Namespace], Content]


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's actions."""
    common = _common()
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    def action(name: str, text: str, do: _Run) -> argparse.ArgumentParser:
        added = actions.add_parser(name, parents=[common], help=text, description=text)
        added.set_defaults(do=do, action=name)
        return added

    action("bootstrap", "make the first administrator's access key", lambda store, _: _key(store.bootstrap()))
    for family in _FAMILIES:
        title = family.capitalize()
        action(f"list-{family}s", f"list the {family}s", _asking(f"List{title}s"))
        deletion = action(f"delete-{family}", f"delete a {family}", _asking(f"Delete{title}", title))
        deletion.add_argument("name")
        if family != "role":
            creation = action(f"create-{family}", f"make a {family}", _asking(f"Create{title}", title))
            creation.add_argument("name")
    role = action("create-role", "make a role", _create_role)
    role.add_argument("name")
    role.add_argument("--trust", required=True, metavar="FILE", help="the trust policy; - for standard input")
    _add_keys(action)
    _add_policies(action)
    simulation = action("simulate", iam_simulation.DESCRIPTION, iam_simulation.run)
    iam_simulation.add_flags(simulation)
    explaining = actions.add_parser(
        "explain", help=iam_explanation.DESCRIPTION, description=iam_explanation.DESCRIPTION
    )
    iam_explanation.add_flags(explaining)
    explaining.set_defaults(action="explain", run_alone=iam_explanation.run)
    checking = actions.add_parser("check", help=iam_check.DESCRIPTION, description=iam_check.DESCRIPTION)
    iam_check.add_flags(checking)
    checking.set_defaults(action="check", run_alone=iam_check.run)


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    for name in _SETTINGS:
        flag = "--" + name.replace("_", "-")
        common.add_argument(flag, dest=name, metavar="VALUE", default=argparse.SUPPRESS, help="as of `serve`")
    common.add_argument(
        "--account", metavar="ID", help=f"twelve digits (default: {_ACCOUNT}, or that of the key)"
    )
    common.add_argument(
        "--endpoint", metavar="URL", help="a running server, such as http://127.0.0.1:8000, instead of data"
    )
    common.add_argument("--json", action="store_true", help="print JSON")
    return common


_Action = Callable[[str, str, _Run], argparse.ArgumentParser]


def _add_keys(action: _Action) -> None:
    listing = action("list-access-keys", "list a user's access keys", _asking("ListAccessKeys", "User"))
    listing.add_argument("name", metavar="USER")
    creation = action("create-access-key", "make an access key for a user", _create_key)
    creation.add_argument("name", metavar="USER")
    for name, text, do in (
        ("rotate-access-key", "make a new access key for a user and disable the old one", _rotate_key),
        ("disable-access-key", "switch an access key off", _switching("Inactive")),
        ("enable-access-key", "switch an access key on again", _switching("Active")),
        ("delete-access-key", "delete an access key", _delete_key),
    ):
        changing = action(name, text, do)
        changing.add_argument("name", metavar="USER")
        changing.add_argument("key", metavar="ACCESS_KEY_ID")


def _add_policies(action: _Action) -> None:
    action("list-policies", "list the managed policies", _asking("ListPolicies"))
    creation = action("create-policy", "make a managed policy", _create_policy)
    creation.add_argument("name")
    inline = action("put-policy", "give a user, group or role an inline policy", _put_policy)
    inline.add_argument("name", metavar="POLICY")
    for parser in (creation, inline):
        parser.add_argument("--document", required=True, metavar="FILE", help="- for standard input")
    removal = action(
        "delete-policy", "take an inline policy away", _of_family("Delete{}Policy", "PolicyName")
    )
    removal.add_argument("name", metavar="POLICY")
    attaching = action("attach-policy", "attach a managed policy", _of_family("Attach{}Policy", "PolicyArn"))
    detaching = action("detach-policy", "detach a managed policy", _of_family("Detach{}Policy", "PolicyArn"))
    for parser in (attaching, detaching):
        parser.add_argument("name", metavar="POLICY_ARN")
    for parser in (inline, removal, attaching, detaching):
        owner = parser.add_mutually_exclusive_group(required=True)
        for family in _FAMILIES:
            owner.add_argument(f"--{family}", metavar="NAME")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    if hasattr(options, "run_alone"):
        return int(options.run_alone(options))
    account_id = options.account or _ACCOUNT
    if not (len(account_id) == len(_ACCOUNT) and account_id.isascii() and account_id.isdigit()):
        return _fail("--account must have twelve digits")
    try:
        settings = _settings(options)
        key_file = settings.data_dir / FILE_NAME
        had_key = options.endpoint is not None or key_file.exists()
        with closing(_operations(options, settings, account_id)) as store:
            answer = options.do(store, options)
    except Locked as error:
        return _fail(f"{masked(str(error))}. Ask that server instead: --endpoint URL")
    except ApiError as error:
        return _fail(error.message or error.code)
    except (StorageError, SettingInvalid, Unreadable, AdminFailed) as error:
        return _fail(masked(str(error)))
    if not had_key and key_file.exists():
        terminal.tell(
            f"hashrange: made the root key {key_file}. Keep a copy of it elsewhere: without it no secret can be read"
        )
    shown = options.show if hasattr(options, "show") else _shown
    # Names, tags and policies are whatever other administrators wrote.
    lines = map(terminal.printable, shown(answer))
    terminal.show(json.dumps(answer) if options.json else "\n".join(lines) or "done")
    return int(options.status(answer)) if hasattr(options, "status") else 0


def _operations(options: argparse.Namespace, settings: Settings, account_id: str) -> Operations:
    if options.endpoint is None:
        return IamStore(settings, account_id)
    if options.account is not None or any(hasattr(options, name) for name in _SETTINGS):
        raise SettingInvalid(
            "--endpoint is instead of data: --account, --data-dir, --engine and --root-key do not go with it"
        )
    return IamServer(options.endpoint, settings.region)


def _settings(options: argparse.Namespace) -> Settings:
    given = {name: str(getattr(options, name)) for name in _SETTINGS if hasattr(options, name)}
    known = {config.environment_variable(name) for name in _SETTINGS}
    return config.load(given, {name: value for name, value in os.environ.items() if name in known})


def _fail(message: str) -> int:
    terminal.complain(message)
    return 1


def _asking(operation: str, title: str | None = None) -> _Run:
    def do(store: Operations, options: argparse.Namespace) -> Content:
        if title is not None:
            return store.ask(operation, {f"{title}Name": options.name})
        return _all_pages(store, operation)

    return do


def _all_pages(store: Operations, operation: str) -> Content:
    answer = whole = store.ask(operation, {})
    member = next(name for name, value in whole.items() if isinstance(value, list))
    while answer.get("IsTruncated"):
        answer = store.ask(operation, {"Marker": answer["Marker"]})
        whole[member] += answer[member]
    return {member: whole[member]}


def _key(made: Content) -> Content:
    return {name: made[name] for name in ("AccessKeyId", "SecretAccessKey")}


def _create_key(store: Operations, options: argparse.Namespace) -> Content:
    return _key(store.ask("CreateAccessKey", {"UserName": options.name})["AccessKey"])


def _rotate_key(store: Operations, options: argparse.Namespace) -> Content:
    made = _create_key(store, options)
    try:
        _switching("Inactive")(store, options)
    except ApiError:
        store.ask("DeleteAccessKey", {"UserName": options.name, "AccessKeyId": made["AccessKeyId"]})
        raise
    return made


def _switching(status: str) -> _Run:
    def do(store: Operations, options: argparse.Namespace) -> Content:
        request = {"UserName": options.name, "AccessKeyId": options.key, "Status": status}
        return store.ask("UpdateAccessKey", request)

    return do


def _delete_key(store: Operations, options: argparse.Namespace) -> Content:
    return store.ask("DeleteAccessKey", {"UserName": options.name, "AccessKeyId": options.key})


def _create_role(store: Operations, options: argparse.Namespace) -> Content:
    request = {"RoleName": options.name, "AssumeRolePolicyDocument": text_of(options.trust)}
    return store.ask("CreateRole", request)


def _create_policy(store: Operations, options: argparse.Namespace) -> Content:
    return store.ask(
        "CreatePolicy", {"PolicyName": options.name, "PolicyDocument": text_of(options.document)}
    )


def _put_policy(store: Operations, options: argparse.Namespace) -> Content:
    title, owner = _owner(options)
    request = {f"{title}Name": owner, "PolicyName": options.name, "PolicyDocument": text_of(options.document)}
    return store.ask(f"Put{title}Policy", request)


def _of_family(operation: str, member: str) -> _Run:
    def do(store: Operations, options: argparse.Namespace) -> Content:
        title, owner = _owner(options)
        return store.ask(operation.format(title), {f"{title}Name": owner, member: options.name})

    return do


def _owner(options: argparse.Namespace) -> tuple[str, str]:
    family = next(family for family in _FAMILIES if getattr(options, family) is not None)
    return family.capitalize(), getattr(options, family)


def _shown(answer: Content, prefix: str = "") -> Iterator[str]:
    """An answer for people: one line for each value, and an empty one between the entries of a list."""
    for name, value in answer.items():
        if isinstance(value, list):
            for number, entry in enumerate(value):
                if number:
                    yield ""
                yield from _shown(entry) if isinstance(entry, dict) else [f"{prefix}{name}: {entry}"]
        elif isinstance(value, dict):
            yield from _shown(value, prefix)
        elif name.endswith("Date") and not isinstance(value, str):
            yield f"{prefix}{name}: {datetime.fromtimestamp(value, UTC):%Y-%m-%dT%H:%M:%SZ}"
        else:
            yield f"{prefix}{name}: {value}"
