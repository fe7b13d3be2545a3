"""Are transactions on lists strictly serializable? After Elle: lists show the order of their writers.

Every transaction appends its own name to some lists and sees some lists. From what was seen follows who came before
whom; so does from who was answered before who was sent. If that goes round in a circle, there is no serial order.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from scaleout.history import Transaction

Edges = dict[str, set[str]]


def problems(transactions: Sequence[Transaction], final: dict[str, tuple[str, ...]]) -> list[str]:
    """What is wrong, in words; `final` are the lists after everything."""
    found = [*_lost(transactions, final), *_torn(transactions, final), *_not_prefixes(transactions, final)]
    if found:
        return found
    circle = _circle(_edges(transactions, final))
    return [] if circle is None else [f"no serial order: {' < '.join(circle)}"]


def _lost(transactions: Sequence[Transaction], final: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for each in transactions:
        for key in each.appended:
            times = final.get(key, ()).count(each.name)
            if times > 1 or (each.outcome == "done" and not times) or (each.outcome == "refused" and times):
                yield f"{each.name} was {each.outcome}, and is {times} times in {key}"


def _torn(transactions: Sequence[Transaction], final: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for each in transactions:
        there = {key: each.name in final.get(key, ()) for key in each.appended}
        if len(set(there.values())) > 1:
            yield f"half of {each.name} happened: {there}"


def _not_prefixes(transactions: Sequence[Transaction], final: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for each in transactions:
        for key, seen in each.saw.items():
            if final.get(key, ())[: len(seen)] != seen:
                yield f"{each.name} saw {seen} in {key}, which became {final.get(key, ())}"


def _edges(transactions: Sequence[Transaction], final: dict[str, tuple[str, ...]]) -> Edges:
    edges: Edges = defaultdict(set)
    for names in final.values():
        for one, other in pairwise(names):
            edges[one].add(other)
    for each in transactions:
        if each.outcome == "unknown" and not any(each.name in final.get(key, ()) for key in each.appended):
            continue
        for key, seen in each.saw.items():
            if seen and seen[-1] != each.name:
                edges[seen[-1]].add(each.name)
            unseen = [name for name in final.get(key, ())[len(seen) :] if name != each.name]
            if unseen:
                edges[each.name].add(unseen[0])
    _add_real_time(transactions, edges)
    return edges


def _add_real_time(transactions: Sequence[Transaction], edges: Edges) -> None:
    """Whoever was answered before another was sent came first."""
    known = [each for each in transactions if each.outcome == "done"]
    for one in known:
        later = [each for each in known if each.sent > one.answered]
        # Those who come after the first to be over of these follow by themselves.
        first_over = min((each.answered for each in later), default=0.0)
        edges[one.name].update(each.name for each in later if each.sent <= first_over)


def _circle(edges: Edges) -> list[str] | None:
    """A way through the edges that comes back to where it began."""
    over: set[str] = set()
    for start in list(edges):
        way: list[str] = []
        on_way: set[str] = set()
        stack: list[tuple[str, Iterator[str]]] = []
        node: str | None = start
        while node is not None or stack:
            if node is not None and node not in over:
                way.append(node)
                on_way.add(node)
                stack.append((node, iter(edges.get(node, ()))))
            node = None
            if not stack:
                break
            following = next(stack[-1][1], None)
            if following is None:
                ended, _ = stack.pop()
                over.add(ended)
                on_way.discard(way.pop())
            elif following in on_way:
                return [*way[way.index(following) :], following]
            else:
                node = following
    return None
