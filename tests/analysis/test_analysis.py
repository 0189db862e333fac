"""Analyses of small PTX functions, against what the comments in the files expect.

``tests/analysis/*.ptx`` hold PTX and lines such as these, for the last function in the file:

    // expect: edges LABEL: LABEL LABEL     where control may go from a block; "<exit>" is the end
    // expect: unreachable: LABEL           blocks that nothing leads to; all of them
    // expect: idom LABEL: LABEL            the immediate dominator
    // expect: ipdom LABEL: LABEL           the immediate post-dominator
    // expect: loop LABEL: LABEL LABEL      the blocks of the natural loop with that header
    // expect: latches LABEL: LABEL         the blocks that jump back to that header
    // expect: loops: none                  there is no natural loop
    // expect: reducible: yes               every cycle has one entry; or "no"
    // expect: live-in LABEL: %r1 %r2       registers live at the top of a block; all of them
    // expect: live-out LABEL: %r1          the same at the bottom
    // expect: reaching LABEL %r1: a; | b;  the definitions that may hold at the top; all of them
    // expect: divergent LABEL: %r1         these, at least, may differ at the top of the block
    // expect: uniform LABEL: %r1           these do not
    // expect: branch LABEL divergent       lanes may part at the end of the block; or "uniform"
    // expect: path: LABEL                  the def-use graph is to tell the inside of these blocks
    // expect: edge %r1->%r2: inside        def-use edges: inside, outside, or both; "no-edge"
    // expect: context-by-graph: %r1        see test_analysis.context_by_graph; all of them
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest
from breadth import examples
from folders import TESTS
from hypothesis import given
from hypothesis import strategies as st

from ccc.analysis.callees import Callees
from ccc.analysis.cfg import EXIT
from ccc.analysis.defuse import def_use_graph
from ccc.analysis.dominators import (
    Dominators,
    control_dependence,
    is_reducible,
    natural_loops,
    post_dominators,
)
from ccc.analysis.facts import Facts
from ccc.analysis.graphs import (
    FlowGraph,
    immediate_dominators,
    is_acyclic,
    postorder,
    topological,
)
from ccc.analysis.joins import JoinFinder
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Register
from ccc.ir.verify import verify
from ccc.parse import parse_function, parse_module

FILES = sorted((TESTS / "analysis").glob("*.ptx"))
EXPECTATION = re.compile(r"// expect: (?P<what>[\w-]+)\s*(?P<subject>[^:]*?)(?::\s*(?P<rest>.*))?$")


def functions(text: str) -> dict[str, Function]:
    return {piece.name: parse_function(piece) for piece in parse_module(text).functions}


class Checker:
    """One function with its analyses; a method for each kind of expectation."""

    def __init__(self, function: Function, text: str):
        verify(function)
        self.facts = Facts(function)
        found = re.search(r"// expect: path: (.*)", text)
        self.path = set(found[1].split()) if found else set()
        self.def_use = def_use_graph(function, self.path)

    def names(self, registers: frozenset[Register]) -> set[str]:
        return {register.name for register in registers}

    def edges(self, label: str, rest: str) -> None:
        assert set(self.facts.graph.successors(label)) == set(rest.split())

    def unreachable(self, _subject: str, rest: str) -> None:
        assert set(self.facts.blocks) - set(self.facts.graph) == set(rest.split())

    def idom(self, label: str, rest: str) -> None:
        assert self.facts.dominators.immediate(label) == rest

    def ipdom(self, label: str, rest: str) -> None:
        assert self.facts.post_dominators.immediate(label) == rest

    def loop(self, header: str, rest: str) -> None:
        loops = {loop.header: loop for loop in self.facts.loops}
        assert loops[header].blocks == set(rest.split())

    def latches(self, header: str, rest: str) -> None:
        loops = {loop.header: loop for loop in self.facts.loops}
        assert loops[header].latches == set(rest.split())

    def loops(self, _subject: str, rest: str) -> None:
        assert rest == "none"
        assert self.facts.loops == []

    def reducible(self, _subject: str, rest: str) -> None:
        assert is_reducible(self.facts.graph, self.facts.dominators) == (rest == "yes")

    def live_in(self, label: str, rest: str) -> None:
        assert self.names(self.facts.liveness.live_in(label)) == set(rest.split())

    def live_out(self, label: str, rest: str) -> None:
        assert self.names(self.facts.liveness.live_out(label)) == set(rest.split())

    def reaching(self, subject: str, rest: str) -> None:
        label, name = subject.split()
        (register,) = (r for r in self.facts.reaching.of_register if r.name == name)
        found = self.facts.reaching.at_top(label, register)
        assert sorted(str(d.instruction) for d in found) == sorted(rest.split(" | "))

    def divergent(self, label: str, rest: str) -> None:
        assert set(rest.split()) <= self.names(self.facts.divergence.divergent_at(label))

    def uniform(self, label: str, rest: str) -> None:
        assert not set(rest.split()) & self.names(self.facts.divergence.divergent_at(label))

    def branch(self, subject: str, _rest: str) -> None:
        label, kind = subject.split()
        assert kind in ("divergent", "uniform")
        assert (label in self.facts.divergence.divergent_branches) == (kind == "divergent")

    def edge(self, subject: str, rest: str) -> None:
        source, target = subject.split("->")
        edge = self.def_use.edges[source, target]
        assert {where for where in ("inside", "outside") if edge[where]} == set(rest.split())

    def no_edge(self, subject: str, _rest: str) -> None:
        assert not self.def_use.has_edge(*subject.split("->"))

    def context_by_graph(self, _subject: str, rest: str) -> None:
        assert context_by_graph(self.def_use) == set(rest.split())


def context_by_graph(graph: nx.DiGraph[str]) -> set[str]:
    """What depends on a special register, is made outside the path only, and is used inside."""
    roots = [name for name, special in graph.nodes(data="special") if special]
    affected = set().union(*(nx.descendants(graph, root) for root in roots))
    return {
        name
        for name in affected
        if not any(edge["inside"] for _, _, edge in graph.in_edges(name, data=True))
        and any(edge["inside"] for _, _, edge in graph.out_edges(name, data=True))
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_expectations(path: Path) -> None:
    text = path.read_text()
    checker = Checker(list(functions(text).values())[-1], text)
    expectations = [line for line in text.splitlines() if line.startswith("// expect:")]
    assert expectations
    for line in expectations:
        match = EXPECTATION.match(line)
        assert match is not None, line
        if match["what"] == "path":
            continue
        method: Callable[[str, str], None] = getattr(checker, match["what"].replace("-", "_"))
        try:
            method(match["subject"], (match["rest"] or "").strip())
        except AssertionError as error:
            raise AssertionError(f"{path.name}: {line}") from error


NODES = 9
GRAPHS = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), min_size=1, max_size=24
)


def reachable(pairs: list[tuple[int, int]]) -> nx.DiGraph[str]:
    """What node 0 can reach; nodes without a way on lead to EXIT."""
    graph: nx.DiGraph[str] = nx.DiGraph((str(a), str(b)) for a, b in pairs)
    graph.add_node("0")
    graph = nx.DiGraph(graph.subgraph({"0"} | nx.descendants(graph, "0")))
    for label in [label for label in graph if not list(graph.successors(label))]:
        graph.add_edge(label, EXIT)
    graph.add_node(EXIT)
    return graph


def flow_graph(graph: nx.DiGraph[str]) -> FlowGraph:
    """The same as ours."""
    return FlowGraph(graph.edges, graph)


def dominates(graph: nx.DiGraph[str], root: str, above: str, below: str) -> bool:
    """By the definition: without ``above`` there is no way from the root."""
    if above in (root, below):
        return True
    return not nx.has_path(nx.restricted_view(graph, [above], []), root, below)


@examples(50, 300)
@given(GRAPHS)
def test_graphs_are_those_of_networkx(pairs: list[tuple[int, int]]) -> None:
    """Also in the order of all that they hold, on which the order of code depends."""
    edges = [(str(a), str(b)) for a, b in pairs]
    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    ours, root = FlowGraph(edges), edges[0][0]
    gone = edges[len(edges) // 2]
    for mine, theirs in ((ours, graph), (ours.reverse(), graph.reverse()), (ours.copy(), graph)):
        assert (list(mine), list(mine.edges)) == (list(theirs), list(theirs.edges))
        assert [list(mine.successors(n)) for n in mine] == [list(theirs[n]) for n in theirs]
        before = [set(theirs.predecessors(n)) for n in theirs]
        assert [set(mine.predecessors(n)) for n in mine] == before
        assert postorder(mine, root) == list(nx.dfs_postorder_nodes(theirs, root))
        parents = dict(nx.immediate_dominators(theirs, root))
        parents.pop(root, None)
        assert list(immediate_dominators(mine, root).items()) == list(parents.items())
        assert is_acyclic(mine) == nx.is_directed_acyclic_graph(theirs)
        if is_acyclic(mine):
            assert topological(mine) == list(nx.lexicographical_topological_sort(theirs))
    half = set(list(graph)[::2])
    assert set(ours.edges_within(half)) == set(graph.subgraph(half).edges)
    ours.remove_edge(*gone)
    graph.remove_edge(*gone)
    assert list(ours.edges) == list(graph.edges)


@examples(50, 300)
@given(GRAPHS)
def test_dominators_are_what_the_definition_says(pairs: list[tuple[int, int]]) -> None:
    graph = reachable(pairs)
    tree = Dominators(flow_graph(graph), "0")
    for above in graph:
        for below in {"0"} | nx.descendants(graph, "0"):
            assert tree.dominates(above, below) == dominates(graph, "0", above, below)


@examples(50, 300)
@given(GRAPHS)
def test_post_dominators_are_what_the_definition_says(pairs: list[tuple[int, int]]) -> None:
    graph = reachable(pairs)
    tree = post_dominators(flow_graph(graph))
    endless = set(graph) - {EXIT, *nx.ancestors(graph, EXIT)}
    backwards: nx.DiGraph[str] = nx.DiGraph((b, a) for a, b in graph.edges)
    backwards.add_nodes_from(graph)
    backwards.add_edges_from((EXIT, label) for label in endless)
    for above in graph:
        for below in graph:
            assert tree.dominates(above, below) == dominates(backwards, EXIT, above, below)
    assert all(tree.immediate(label) is not None for label in set(graph) - {EXIT})


@examples(50, 300)
@given(GRAPHS)
def test_branches_decide_what_comes_after_one_way_but_not_surely(
    pairs: list[tuple[int, int]],
) -> None:
    graph = reachable(pairs)
    tree = post_dominators(flow_graph(graph))
    found = control_dependence(flow_graph(graph), tree)
    for label in graph:
        for branch in graph:
            ways = list(graph.successors(branch))
            surely = branch != label and tree.dominates(label, branch)
            decides = len(ways) > 1 and any(tree.dominates(label, way) for way in ways)
            assert (branch in found[label]) == (decides and not surely)


@examples(50, 300)
@given(GRAPHS)
def test_loops_are_cycles_with_one_entry(pairs: list[tuple[int, int]]) -> None:
    graph = reachable(pairs)
    loops = natural_loops(flow_graph(graph), Dominators(flow_graph(graph), "0"))
    for loop in loops:
        inside = graph.subgraph(loop.blocks)
        assert all(nx.has_path(inside, loop.header, label) for label in loop.blocks)
        assert all(graph.has_edge(latch, loop.header) for latch in loop.latches)
        entered = {b for a, b in graph.edges if a not in loop.blocks and b in loop.blocks}
        assert entered <= {loop.header}
        assert all(b not in loop.blocks for _, b in loop.exits(flow_graph(graph)))
    assert len({loop.header for loop in loops}) == len(loops)
    if is_reducible(flow_graph(graph), Dominators(flow_graph(graph), "0")):
        cyclic = {
            label
            for part in nx.strongly_connected_components(graph)
            for label in part
            if len(part) > 1 or graph.has_edge(label, label)
        }
        assert cyclic == set().union(*(loop.blocks for loop in loops))


@examples(33, 200)
@given(GRAPHS)
def test_what_is_dominated(pairs: list[tuple[int, int]]) -> None:
    tree = Dominators(flow_graph(reachable(pairs)), "0")
    for label in tree.parents:
        below = {other for other in (tree.root, *tree.parents) if label in tree.chain(other)}
        assert set(tree.dominated(label)) == below
        assert below == {other for other in tree.parents if tree.dominates(label, other)}


@examples(33, 200)
@given(GRAPHS)
def test_joins_are_where_two_ways_meet_that_had_nothing_in_common(
    pairs: list[tuple[int, int]],
) -> None:
    found = reachable([(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]])
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_node("0")  # the entry comes first
    graph.add_edges_from(found.edges)
    finder = JoinFinder(flow_graph(graph), [], lambda _: 0)
    for branch in set(graph) - {EXIT}:
        flow = nx.DiGraph(graph)
        flow.remove_node(EXIT)
        for target in set(graph[branch]) - {
            EXIT
        }:  # ways of one edge have nothing in common with any other
            flow.remove_edge(branch, target)
            nx.add_path(flow, [branch, f"to {target}", target])
        joins = {
            label
            for label in nx.descendants(flow, branch) & set(graph)
            if len(list(nx.node_disjoint_paths(flow, branch, label))) > 1
        }
        assert set(finder.joins(branch).written) == joins


def test_joins_are_looked_for_no_further_than_lanes_are_apart() -> None:
    """Many nests in a row, whose inner loops are left to the header of the outer one."""
    graph = FlowGraph([("entry", "outer0")])
    for n in range(50):
        graph.add_edges([(f"outer{n}", f"inner{n}"), (f"inner{n}", f"end{n}")])
        graph.add_edges([(f"end{n}", f"inner{n}"), (f"end{n}", f"outer{n}")])
        graph.add_edges([(f"outer{n}", f"outer{n + 1}" if n < 49 else "last")])
    graph.add_edges([("last", EXIT)])
    asked: list[str] = []

    def defines(label: str) -> int:
        asked.append(label)
        return 0

    finder = JoinFinder(graph, natural_loops(graph, Dominators(graph, "entry")), defines)
    assert finder.joins("end0").written.keys() == {"outer0"}
    assert len(asked) < 10, "what comes behind the nest"


CALLS = """
.version 8.0
.target sm_90
.func first() { call second, (); bar.sync 0; ret; }
.func second() { call first, (); ret; }
.func third() { .reg .b32 %r; mov.u32 %r, %tid.x; ret; }
.func fourth() { call third, (); ret; }
.func harmless() { .reg .b32 %r; mov.u32 %r, %ctaid.x; call harmless, (); ret; }
.func outside() { call cuda_graph_launch, (); ret; }
.func prints() { call vprintf, (); ret; }
.func strange() { fabricated.u32; ret; }
.func ends() { exit; }
.func indirect() { .reg .b64 %r; mov.u64 %r, 0; call %r, (), proto; ret; }
"""


@pytest.mark.parametrize(
    ("name", "waits", "knows_its_lane"),
    [
        ("first", True, False),
        ("second", True, False),
        ("third", False, True),
        ("fourth", False, True),
        ("harmless", False, False),
        ("outside", True, True),
        ("prints", False, False),
        ("strange", True, True),
        ("ends", True, False),
        ("indirect", True, True),
    ],
)
@pytest.mark.parametrize("before", ["first", "second", "harmless"])
def test_callees(name: str, waits: bool, knows_its_lane: bool, before: str) -> None:
    callees = Callees(functions(CALLS).get)
    call = call_of(before)
    assert callees.waits(call) == (before != "harmless")
    call = call_of(name)
    assert callees.waits(call) == waits
    assert callees.knows_its_lane(call) == knows_its_lane


def call_of(name: str) -> Instruction:
    text = f".version 8.0\n.func f() {{ .reg .b64 %r; call {name}, (); ret; }}"
    return next(functions(text)["f"].instructions)


def test_only_calls_call() -> None:
    callees = Callees(lambda _name: None)
    assert not callees.waits(Instruction("bar.sync"))
