"""`make differential`: the same generated requests to Hashrange and to DynamoDB Local, differences grouped."""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from differential import local
from differential.calls import make
from differential.generator import TABLES
from differential.outcome import Outcome, Peer
from serving import serving

KNOWN = Path(__file__).parent / "known.json"


@dataclass(frozen=True)
class Difference:
    """One request that was answered differently."""

    number: int
    operation: str
    request: dict[str, Any]
    ours: Outcome
    theirs: Outcome

    @property
    def kind(self) -> tuple[str, str, str]:
        """The class it belongs to."""
        ours, theirs = self.ours.headline, self.theirs.headline
        if ours == theirs:
            ours = theirs = f"{ours}, but {_where(self.ours.body, self.theirs.body)}"
        return self.operation, ours, theirs


def _where(ours: Any, theirs: Any) -> str:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
        return "different " + ", ".join(names)
    return "different content"


def main() -> int:
    options = _options()
    try:
        with local.running() as port, serving("--in-memory", "--transition-ms", "0") as server:
            found = compare(Peer(server.port), Peer(port), options.seed, options.requests)
    except local.NotAtHand as reason:
        print(f"skipped: {reason}")
        return 0
    return report(found, options.requests, verbose=options.verbose)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="list the known differences too")
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
        if (answers[0].status, answers[0].code, answers[0].message, answers[0].body) != (
            answers[1].status,
            answers[1].code,
            answers[1].message,
            answers[1].body,
        ):
            found.append(Difference(number, operation, request, *answers))
            if "Write" in operation or operation in {"PutItem", "UpdateItem", "DeleteItem"}:
                _make_alike(ours, theirs)
    return found


def _make_alike(ours: Peer, theirs: Peer) -> None:
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


def _forget(peers: tuple[Peer, ...], table: str, key: dict[str, Any]) -> None:
    for peer in peers:
        peer.ask("DeleteItem", {"TableName": table, "Key": key})


def report(found: list[Difference], requests: int, *, verbose: bool) -> int:
    """Print the classes, unexplained ones first; the exit status says whether there are any."""
    known = json.loads(KNOWN.read_text("utf-8"))
    groups: dict[tuple[str, str, str], list[Difference]] = defaultdict(list)
    for difference in found:
        groups[difference.kind].append(difference)
    explained: Counter[str] = Counter()
    unexplained = []
    for kind, members in groups.items():
        reason = _explanation(kind, known)
        if reason is None:
            unexplained.append((kind, members))
        else:
            explained[reason] += len(members)
    for kind, members in sorted(unexplained, key=lambda group: -len(group[1])):
        _show(kind, members)
    if verbose:
        for reason, count in explained.most_common():
            print(f"{count:6}  known: {reason}")
    print(
        f"{requests} requests, {len(found)} answered differently: {sum(explained.values())} known, "
        f"{sum(len(members) for _, members in unexplained)} in {len(unexplained)} unexplained classes"
    )
    return 1 if unexplained else 0


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
