"""networkx without the parts that nobody here uses is networkx all the same."""

from __future__ import annotations

import subprocess
import sys

CHECK = """
import sys
from ccc.analysis.graphs import load_graphs

load_graphs()
import networkx as nx

graph = nx.DiGraph()
graph.add_edges_from([("a", "b"), ("b", "c"), ("c", "b"), ("b", "d")])
assert nx.immediate_dominators(graph, "a")["d"] == "b"
assert nx.descendants(graph, "b") == {"c", "d"} and nx.ancestors(graph, "b") == {"a", "c"}
assert not nx.is_directed_acyclic_graph(graph)
assert sorted(nx.dfs_postorder_nodes(graph, "a"))[0] == "a"
assert list(graph.subgraph(["b", "c"]).reverse().edges)
assert "networkx.algorithms.flow" not in sys.modules
assert nx.shortest_path(graph, "a", "d") == ["a", "b", "d"]
assert nx.path_graph(3).size() == 2 and nx.algorithms.flow.maximum_flow
assert nx.immediate_dominators(graph, "a")["d"] == "b"
try:
    nx.nothing
except AttributeError:
    print("ok")
"""


def test_what_was_left_out_is_loaded_when_it_is_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECK], capture_output=True, text=True, check=False
    )
    assert done.stdout == "ok\n", done.stderr
