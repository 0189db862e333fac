"""Readers give back what was written, generators give graphs, and bad files one clear message."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from ccc.errors import CccError
from ccc.harness.inputs.graphs import Graph, from_edges, read_graph, rmat, uniform

HEADER = b"%%MatrixMarket matrix coordinate pattern general\n"


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    vertices = draw(st.integers(1, 20))
    ends = st.lists(st.tuples(*[st.integers(0, vertices - 1)] * 2), max_size=60)
    edges = np.array(draw(ends), np.int64).reshape(-1, 2)
    return from_edges(vertices, edges[:, 0], edges[:, 1], distinct=True)


def sources(graph: Graph) -> np.ndarray:
    return np.repeat(np.arange(graph.vertices), np.diff(graph.indptr))


def same(one: Graph, other: Graph) -> bool:
    return np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices)


@given(graphs())
def test_rows_hold_the_edges_in_order(graph: Graph) -> None:
    assert graph.indptr[0] == 0
    assert graph.indptr[-1] == graph.edges == len(graph.indices)
    assert graph.indices.dtype == np.int32
    keys = sources(graph) * graph.vertices + graph.indices
    assert (np.diff(keys) > 0).all()
    assert np.diff(graph.indptr)[graph.largest()] == np.diff(graph.indptr).max()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


@settings(deadline=None, max_examples=25)
@given(graphs(), st.booleans(), st.sampled_from(["pattern", "real", "integer"]))
def test_matrix_market(folder: Path, graph: Graph, zipped: bool, kind: str) -> None:
    plain = folder / "g.mtx"
    values = np.ones(graph.edges, int if kind == "integer" else float)
    shape = (graph.vertices, graph.vertices)
    matrix = scipy.sparse.coo_matrix((values, (sources(graph), graph.indices)), shape=shape)
    scipy.io.mmwrite(plain, matrix, field=kind, symmetry="general")  # type: ignore[arg-type]
    path = folder / "g.mtx.gz" if zipped else plain
    if zipped:
        path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    assert same(read_graph(path), graph)


@settings(deadline=None, max_examples=25)
@given(graphs(), st.sampled_from(["g.txt", "g.el", "g.txt.gz"]), st.sampled_from("#%"))
def test_edge_lists(folder: Path, graph: Graph, name: str, comment: str) -> None:
    lines = [f"{comment} source target", ""]
    lines += [f"{u}\t{v} 0.5" for u, v in zip(sources(graph), graph.indices, strict=True)]
    data = "\n".join(lines).encode()
    (folder / name).write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    found = read_graph(folder / name)
    assert found.vertices == max([-1, *sources(graph), *graph.indices]) + 1
    assert np.array_equal(sources(found), sources(graph))
    assert np.array_equal(found.indices, graph.indices)


@settings(deadline=None, max_examples=10)
@given(graphs(), st.sampled_from([np.int32, np.int64, np.uint16]))
def test_npz(folder: Path, graph: Graph, dtype: type) -> None:
    indptr: Any = graph.indptr.astype(dtype)
    indices: Any = graph.indices.astype(dtype)
    np.savez_compressed(folder / "g.npz", indptr=indptr, indices=indices)
    assert same(read_graph(folder / "g.npz"), graph)


def test_a_symmetric_matrix_holds_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "g.mtx"
    header = b"%%MatrixMarket matrix coordinate real symmetric\n% remark\n"
    path.write_bytes(header + b"3 3 2\n2 1 .5\n3 3 1\n")
    graph = read_graph(path)
    assert graph.indptr.tolist() == [0, 1, 2, 3]
    assert graph.indices.tolist() == [1, 0, 2]


BAD = [
    ("a.csv", b"", "unknown suffix; graphs are read from .mtx"),
    ("a.mtx", b"", "a.mtx:1: error: Not a Matrix Market file"),
    ("a.mtx", HEADER + b"3 4 1\n1 1\n", "3 by 4"),
    ("a.mtx", HEADER + b"3 3 1\n1 4\n", "a.mtx:3: error: Column index out of bounds"),
    ("a.mtx", HEADER + b"3 3 1\n-1 1\n", "a.mtx:3: error: Row index out of bounds"),
    ("a.mtx", HEADER + b"3 3 2\n1 1\n2 x\n", "a.mtx:4: error: Invalid integer"),
    ("a.mtx", HEADER + b"3 3 2\n1 1\n", "Truncated file"),
    ("a.mtx", b"%%MatrixMarket matrix array real general\n1 1\n1\n", "a dense matrix"),
    ("a.mtx", HEADER + b"9999999999 9999999999 1\n1 1\n", "more than 32-bit indices can name"),
    ("a.mtx.gz", gzip.compress(HEADER * 99, mtime=0)[:30], "ends early or is damaged"),
    ("a.mtx.gz", HEADER, "not a gzip file"),
    ("a.txt", b"# ok\n0 1\n1 x\n", "a.txt:3: error: an edge is two vertex numbers"),
    ("a.txt", b"0 1\n2\n", "a.txt:2: error: an edge is two"),
    ("a.txt", b"0 1.5\n", "a.txt:1: error: an edge is two"),
    ("a.txt", b"0,1\n", "a.txt:1: error: an edge is two"),
    ("a.el", b"%\n\n0 1\n1 -2\n", "a.el:4: error: vertex numbers are from 0"),
    ("a.txt", b"0 99999999999\n", "a.txt:1: error: vertex numbers are from 0"),
    ("a.txt", b"0 " + b"9" * 40, "a.txt:1: error: vertex numbers are from 0"),
    ("a.txt", b"\xff\xfe0 1\n", "not a text file"),
    ("a.txt.gz", b"0 1\n", "not a gzip file"),
    ("a.txt.gz", gzip.compress(b"0 1\n" * 99, mtime=0)[:20], "ends early or is damaged"),
    ("a.npz", b"", "ends early or is damaged"),
    ("a.npz", b"PK\x03\x04...", "not an .npz file"),
    ("a.npz", b"something", "not an .npz file"),
]


@pytest.mark.parametrize(("name", "data", "message"), BAD)
def test_bad_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CccError) as caught:
        read_graph(tmp_path / name)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / name}:")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"indptr": [0]}, "no array indices"),
        ({}, "no array indptr and no array indices"),
        ({"indptr": [0, 1], "indices": [3]}, "indices[0] is 3; it must be from 0 to 0"),
        ({"indptr": [0, 1], "indices": [-1]}, "indices[0] is -1"),
        ({"indptr": [0, 2, 1], "indices": [0]}, "indptr falls after vertex 1"),
        ({"indptr": [0, 2], "indices": [0]}, "it runs from 0 to 2"),
        ({"indptr": [0.0, 1.0], "indices": [0]}, "indptr must be a vector of integers"),
        ({"indptr": [0, 1], "indices": [[0]]}, "indices must be a vector of integers"),
        ({"indptr": np.array([], int), "indices": [0]}, "indptr is empty"),
        ({"indptr": [0, 1], "indices": [{}]}, "not an .npz file"),  # pickled: never loaded
    ],
)
def test_bad_arrays(tmp_path: Path, arrays: dict[str, list[int]], message: str) -> None:
    named: dict[str, Any] = {name: np.array(value) for name, value in arrays.items()}
    np.savez(tmp_path / "a.npz", **named)
    with pytest.raises(CccError) as caught:
        read_graph(tmp_path / "a.npz")
    assert message in str(caught.value)


def test_one_plain_array(tmp_path: Path) -> None:
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(CccError, match="one plain array"):
        read_graph(tmp_path / "a.npz")


def test_no_file(tmp_path: Path) -> None:
    for name in ("a.mtx", "a.txt", "a.npz"):
        with pytest.raises(CccError, match="there is no such file"):
            read_graph(tmp_path / name)


def test_rmat_is_drawn_from_its_seed() -> None:
    assert same(rmat(10, seed=1), rmat(10, seed=1))
    assert not same(rmat(10, seed=1), rmat(10, seed=2))


def test_rmat_has_the_shape_that_was_asked_for() -> None:
    graph = rmat(12, 8, seed=3)
    assert graph.vertices == 1 << 12
    assert 7 << 12 < graph.edges <= 8 << 12
    skewed, flat = np.diff(graph.indptr), np.diff(rmat(12, 8, a=0.25, b=0.25, c=0.25).indptr)
    assert skewed.max() > 4 * flat.max()


def test_quadrants_have_their_probabilities() -> None:
    from ccc.harness.inputs.graphs import _quadrants

    source, target = _quadrants(np.random.default_rng(0), 100_000, 1, (0.45, 0.7, 0.85))
    share = np.bincount(2 * source + target, minlength=4) / 100_000
    assert np.allclose(share, [0.45, 0.25, 0.15, 0.15], atol=0.01)


def test_uniform() -> None:
    graph = uniform(100, 400, seed=1)
    assert graph.vertices == 100
    assert 350 < graph.edges <= 400
    assert same(graph, uniform(100, 400, seed=1))
    assert uniform(0, 0).edges == 0


@pytest.mark.parametrize(
    "draw",
    [
        lambda: rmat(31),
        lambda: rmat(-1),
        lambda: rmat(3, -1),
        lambda: rmat(3, a=0.9),
        lambda: rmat(3, seed=-1),
        lambda: uniform(-1, 0),
        lambda: uniform(0, 1),
        lambda: uniform(3, 1, seed=-1),
        lambda: uniform(0, 0).largest(),
        lambda: from_edges(2, np.array([0]), np.array([2])),
    ],
)
def test_what_cannot_be_drawn(draw: object) -> None:
    with pytest.raises(CccError):
        draw()  # type: ignore[operator]
