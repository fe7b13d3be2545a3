"""`make differential`: the same generated requests to Hashrange and to a peer, differences grouped."""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import systems
from installing import NotInstallable
from running import NotStarted, free_port, running

from differential.calls import make
from differential.generator import TABLES
from differential.outcome import Outcome, Peer
from serving import serving

KNOWN = Path(__file__).parent / "known.json"
TOOLS = Path(__file__).parents[2] / ".cache" / "bench"  # what `make bench` has fetched serves here too
STATE = "what is stored after"
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


@dataclass(frozen=True)
class Difference:
    """One request that was answered differently."""

    number: int
    operation: str
    request: dict[str, Any]
    ours: Outcome
    theirs: Outcome

    @property
    def is_wording(self) -> bool:
        """Whether both refuse, with the same code, and only the words differ."""
        ours, theirs = self.ours, self.theirs
        return ours.status == theirs.status == 400 and ours.code == theirs.code and ours.body == theirs.body

    @property
    def kind(self) -> tuple[str, str, str]:
        """The class it belongs to."""
        ours, theirs = self.ours.headline, self.theirs.headline
        if self.operation == STATE:
            bare = not self.ours.body and all(item.keys() <= {"pk", "sk"} for item in self.theirs.body)
            ours = theirs = "theirs has an item with nothing but its key" if bare else "different items"
        elif ours == theirs:
            ours = theirs = f"{ours}, but {_where(self.ours.body, self.theirs.body)}"
        return self.operation, ours, theirs


def _where(ours: Any, theirs: Any) -> str:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if "Attributes" not in ours and theirs.get("Attributes", {"a": {}}).keys() <= {"pk", "sk"}:
            return "theirs has an item with nothing but its key"
        names = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
        return "different " + ", ".join(names)
    return "different content"


def main() -> int:
    options = _options()
    peer = next(system for system in systems.PEERS if system.name == options.peer)
    try:
        print(
            f"{peer.title} {peer.install(TOOLS)}: {options.requests} requests, seed {options.seed}",
            flush=True,
        )
        with (
            running(peer, TOOLS, free_port()) as theirs,
            serving("--in-memory", "--transition-ms", "0") as ours,
        ):
            found = compare(
                Peer(ours.port),
                Peer(theirs.endpoint.port, numbers_as_sent=True),
                options.seed,
                options.requests,
            )
    except NotInstallable as problem:
        print(f"skipped: {peer.title} cannot be had here: {problem}")
        return 0
    except NotStarted as problem:
        print(f"skipped: {peer.title} did not start: {problem}")
        return 0
    known = json.loads(KNOWN.read_text("utf-8")) if peer is systems.DYNAMODB_LOCAL else []
    return report(found, options.requests, known, verbose=options.verbose)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--peer",
        choices=[system.name for system in systems.PEERS],
        default=systems.DYNAMODB_LOCAL.name,
        help="whom to compare with; only DynamoDB Local has a list of known differences",
    )
    parser.add_argument("--verbose", action="store_true", help="list differences of wording too")
    return parser.parse_args()


def compare(ours: Peer, theirs: Peer, seed: int, requests: int) -> list[Difference]:
    """Send everything to both; after a write that went differently, make theirs like ours again."""
    for table in TABLES:
        for peer in (ours, theirs):
            created = peer.ask("CreateTable", table)
            assert created.status == 200, created
    found = []
    for number in range(requests):
        operation, request = make(Random(f"{seed}-{number}"))
        answers = ours.ask(operation, request), theirs.ask(operation, request)
        if answers[0] != answers[1]:
            found.append(Difference(number, operation, request, *answers))
        if operation in _WRITES and (different := _make_alike(ours, theirs)) and answers[0] == answers[1]:
            states = (Outcome(200, "", "", each) for each in different)
            found.append(Difference(number, STATE, {operation: request}, *states))
    return found


def _make_alike(ours: Peer, theirs: Peer) -> tuple[list[Any], list[Any]] | None:
    """Make theirs hold what ours holds; give what was different, if anything was."""
    lists = [
        [peer.ask("Scan", {"TableName": each["TableName"]}).body["Items"] for each in TABLES]
        for peer in (ours, theirs)
    ]
    if lists[0] == lists[1]:
        return None
    for table in TABLES:
        name = table["TableName"]
        keys = [element["AttributeName"] for element in table["KeySchema"]]
        wanted, there = (
            {
                repr([item[key] for key in keys]): item
                for item in peer.ask("Scan", {"TableName": name}).body["Items"]
            }
            for peer in (ours, theirs)
        )
        for place, item in wanted.items():
            if (
                there.pop(place, None) != item
                and theirs.ask("PutItem", {"TableName": name, "Item": item}).status != 200
            ):
                _forget((ours, theirs), name, {key: item[key] for key in keys})
        for item in there.values():
            _forget((theirs,), name, {key: item[key] for key in keys})
    flat = [[item for items in tables for item in items] for tables in lists]
    return [item for item in flat[0] if item not in flat[1]], [
        item for item in flat[1] if item not in flat[0]
    ]


def _forget(peers: tuple[Peer, ...], table: str, key: dict[str, Any]) -> None:
    for peer in peers:
        peer.ask("DeleteItem", {"TableName": table, "Key": key})


def report(
    found: list[Difference], requests: int, known: list[dict[str, str]], *, verbose: bool = False
) -> int:
    """Print the classes that nobody has explained; the exit status says whether there are any."""
    groups: dict[tuple[str, str, str], list[Difference]] = defaultdict(list)
    explained: Counter[str] = Counter()
    for difference in found:
        reason = _explanation(difference.kind, known)
        if reason is not None:
            explained[reason] += 1
        elif difference.is_wording and not verbose:
            explained["both refuse, in other words or for the second of two reasons"] += 1
        else:
            groups[difference.kind].append(difference)
    for kind, members in sorted(groups.items(), key=lambda group: -len(group[1])):
        _show(kind, members)
    for reason, count in explained.most_common():
        print(f"{count:6}  known: {reason}")
    unexplained = sum(map(len, groups.values()))
    print(
        f"{requests} requests, {len(found)} differences: {sum(explained.values())} known, "
        f"{unexplained} unexplained in {len(groups)} classes"
    )
    return 1 if groups else 0


def _explanation(kind: tuple[str, str, str], known: list[dict[str, str]]) -> str | None:
    operation, ours, theirs = kind
    for entry in known:
        if (
            re.fullmatch(entry.get("operation", ".*"), operation)
            and re.search(entry.get("ours", ""), ours)
            and re.search(entry.get("theirs", ""), theirs)
        ):
            return entry["why"]
    return None


def _show(kind: tuple[str, str, str], members: list[Difference]) -> None:
    operation, ours, theirs = kind
    example = min(members, key=lambda each: len(str(each.request)))
    print(f"{len(members):6}  {operation}\n        ours:   {ours}\n        theirs: {theirs}")
    print(f"        #{example.number} {json.dumps(example.request, ensure_ascii=False)[:900]}")
    for name, outcome in (("ours", example.ours), ("theirs", example.theirs)):
        text = outcome.message or json.dumps(outcome.body, ensure_ascii=False)
        print(f"        {name}: {text[:500]}")


if __name__ == "__main__":
    sys.exit(main())
