"""Adjacency lists: edges that both ends agree about."""

from typing import Any

import pytest

from faulty_client import StillRunner, survives
from hashrange.patterns import AdjacencyList, AlreadyExists, BadCursor, NotFound, Page, Table
from item_tables import unique


@pytest.fixture
def graph(table: Table) -> AdjacencyList:
    return AdjacencyList(table)


def ends(page: Page, side: str) -> list[str]:
    return [edge[side] for edge in page.items]


def test_many_to_many_is_read_from_either_end(graph: AdjacencyList, runner: StillRunner) -> None:
    ann, bob, cat, go = (f"{unique()}#{name}" for name in ("ann", "bob", "cat", "go"))
    for node in (ann, bob, cat, go):
        runner.run(graph.put_node(node, {"name": node}))
    for member in (ann, bob, cat):
        runner.run(graph.link(member, "plays", go, {"since": 2020}))
    runner.run(graph.link(ann, "plays-well", go))
    runner.run(graph.unlink(bob, "plays", go))
    runner.run(graph.unlink(bob, "plays", go))
    assert ends(runner.run(graph.sources(go, "plays")), "source") == [ann, cat]
    edges = runner.run(graph.targets(ann, "plays")).items
    assert edges == [{"source": ann, "kind": "plays", "target": go, "since": 2020}]
    assert runner.run(graph.node(ann)) == {"name": ann}


def test_edges_come_in_pages(graph: AdjacencyList, runner: StillRunner) -> None:
    # The last sorts behind every other text there is.
    hub, spokes = unique(), [*sorted(unique() for _ in range(4)), "\U0010ffff\U0010ffff" + unique()]
    for node in (hub, *spokes):
        runner.run(graph.put_node(node, {}))
    for spoke in spokes:
        runner.run(graph.link(hub, "has", spoke))
    first = runner.run(graph.targets(hub, "has", limit=3))
    second = runner.run(graph.targets(hub, "has", limit=3, cursor=first.cursor))
    assert ends(first, "target") + ends(second, "target") == spokes
    assert second.cursor is None
    with pytest.raises(BadCursor):
        runner.run(graph.sources(hub, "has", cursor=first.cursor))


def test_an_edge_needs_both_its_nodes(graph: AdjacencyList, runner: StillRunner) -> None:
    here, nowhere = unique(), unique()
    runner.run(graph.put_node(here, {}))
    for source, target in ((here, nowhere), (nowhere, here)):
        with pytest.raises(NotFound, match=nowhere):
            runner.run(graph.link(source, "knows", target))
    with pytest.raises(ValueError, match="without #"):
        runner.run(graph.link(here, "a#b", here))
    assert runner.run(graph.sources(here, "knows")).items == []


def test_a_link_is_whole_whatever_goes_wrong(client: Any, graph: AdjacencyList, runner: StillRunner) -> None:
    name = unique()

    def work(faulty: StillRunner) -> None:
        faulty.run(graph.put_node(name, {}))
        faulty.run(graph.link(name, "likes", name))

    for _ in survives(client, work):
        assert ends(runner.run(graph.targets(name, "likes")), "target") == [name]
        assert ends(runner.run(graph.sources(name, "likes")), "source") == [name]
        name = unique()


def test_a_removal_leaves_no_edge_whatever_goes_wrong(
    client: Any, graph: AdjacencyList, runner: StillRunner
) -> None:
    hub = unique("hub")
    other = unique("other")

    def prepare() -> None:
        for node in (hub, other):
            runner.run(graph.put_node(node, {}))
        for source, target in ((hub, other), (other, hub), (hub, hub)):
            runner.run(graph.link(source, "likes", target))

    def work(faulty: StillRunner) -> None:
        faulty.run(graph.remove(hub))

    prepare()
    for _ in survives(client, work):
        assert runner.run(graph.node(hub)) is None
        assert runner.run(graph.targets(other, "likes")).items == []
        assert runner.run(graph.sources(other, "likes")).items == []
        assert runner.run(graph.sources(hub, "likes")).items == []
        hub = unique("hub")
        prepare()


def test_a_node_that_is_being_removed_takes_no_edges(
    client: Any, table: Table, graph: AdjacencyList, runner: StillRunner
) -> None:
    node, other = unique(), unique()
    for name in (node, other):
        runner.run(graph.put_node(name, {}))
    mark = table.updating(graph._node(node), "SET #removing = :yes", yes=True)
    runner.run(table.write(mark))
    with pytest.raises(NotFound):
        runner.run(graph.link(other, "likes", node))
    with pytest.raises(AlreadyExists):
        runner.run(graph.put_node(node, {}))
    assert runner.run(graph.node(node)) is None
