"""Graphs in compressed sparse rows: read from files, or drawn at random."""

from __future__ import annotations

import contextlib
import gzip
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import scipy.io
from numpy.typing import NDArray

from ccc.errors import CccError, Span, UsageError

LARGEST = np.iinfo(np.int32).max
"""Vertex numbers are int32 in ``indices``, so a graph has at most this many vertices."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed graph: the edges of vertex ``v`` lead to ``indices[indptr[v]:indptr[v + 1]]``.

    Args:
        indptr: (vertices + 1,), int32 or int64; from 0 to the number of edges, never falling.
        indices: (edges,), int32; each at least 0 and less than the number of vertices.

    Raises:
        CccError: the arrays are no such graph.
    """

    indptr: NDArray[np.int32] | NDArray[np.int64]
    indices: NDArray[np.int32]

    def __post_init__(self) -> None:
        complaint = _complaint(self.indptr, self.indices)
        if complaint:
            raise CccError(complaint)
        if self.indptr.dtype not in (np.int32, np.int64):
            object.__setattr__(self, "indptr", self.indptr.astype(np.int64))
        object.__setattr__(self, "indices", self.indices.astype(np.int32, copy=False))

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return self.indptr.size - 1

    @property
    def edges(self) -> int:
        """How many edges there are; an undirected edge is two."""
        return self.indices.size

    def largest(self) -> int:
        """The vertex of largest out-degree, the first of them: where searches start.

        Raises:
            CccError: the graph has no vertex.
        """
        if not self.vertices:
            raise CccError("the graph has no vertex")
        return int(np.argmax(np.diff(self.indptr)))

    def edges_of(self, vertices: NDArray[np.integer]) -> NDArray[np.integer]:
        """The edges of some vertices, one vertex after another, as places in ``indices``."""
        starts = self.indptr[vertices]
        counts = self.indptr[vertices + 1] - starts
        shifts: NDArray[np.integer] = starts - (np.cumsum(counts) - counts)
        return np.arange(counts.sum()) + np.repeat(shifts, counts)


def _complaint(indptr: NDArray[np.integer], indices: NDArray[np.integer]) -> str | None:
    """What keeps the two arrays from being a graph."""
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            return f"{name} must be a vector of integers, not {array.dtype} of shape {array.shape}"
    if not indptr.size:
        return "indptr is empty; it holds one number more than there are vertices"
    vertices = indptr.size - 1
    if vertices > LARGEST:
        return f"{vertices} vertices are more than 32-bit indices can name ({LARGEST})"
    if indptr[0] != 0 or indptr[-1] != indices.size:
        return (
            f"indptr must run from 0 to the number of edges, {indices.size};"
            f" it runs from {indptr[0]} to {indptr[-1]}"
        )
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        return f"indptr falls after vertex {falls[0]}"
    if indices.size and not (indices.min() >= 0 and indices.max() < vertices):
        first = int(np.flatnonzero((indices < 0) | (indices >= vertices))[0])
        return f"indices[{first}] is {indices[first]}; it must be from 0 to {vertices - 1}"
    return None


def from_edges(
    vertices: int,
    sources: NDArray[np.integer],
    targets: NDArray[np.integer],
    *,
    distinct: bool = False,
) -> Graph:
    """Sort edges into rows, each in rising order.

    Args:
        vertices: how many vertices there are.
        sources: (edges,), integers from 0 to ``vertices - 1``.
        targets: (edges,), integers from 0 to ``vertices - 1``.
        distinct: whether to keep only one of equal edges.

    Raises:
        CccError: a vertex number is out of range.
    """
    if vertices > LARGEST:
        raise CccError(f"{vertices} vertices are more than 32-bit indices can name ({LARGEST})")
    for ends in (sources, targets):
        if ends.size and not (ends.min() >= 0 and ends.max() < vertices):
            raise CccError(f"an edge has an end that is not from 0 to {vertices - 1}")
    # Both ends in one number: sorting plain integers in place is the fastest sort there is.
    keys = sources.astype(np.int64) << 32
    keys |= targets.astype(np.int64, copy=False)
    keys.sort()
    if distinct and keys.size:
        keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
    indptr = np.zeros(vertices + 1, np.int64)
    np.cumsum(np.bincount(keys >> 32, minlength=vertices), out=indptr[1:])
    narrow: Any = np.int32 if keys.size <= LARGEST else np.int64
    return Graph(indptr.astype(narrow), (keys & 0xFFFFFFFF).astype(np.int32))


# Generators


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.45,
    b: float = 0.25,
    c: float = 0.15,
    seed: int = 0,
) -> Graph:
    """Draw a power-law graph: R-MAT (Chakrabarti, Zhan, Faloutsos; SDM 2004).

    Each edge picks a quadrant of the adjacency matrix, then a quadrant of that, ``scale`` times.
    The vertices are then renumbered at random, as Graph500 does, so that hubs are not neighbours.
    The same arguments give the same graph.

    Args:
        scale: log2 of the number of vertices, from 0 to 30.
        edge_factor: how many edges are drawn a vertex; of equal ones one is kept.
        a: probability of the upper left quadrant: low source, low target.
        b: probability of the upper right one.
        c: probability of the lower left one; the lower right one gets what is left of 1.
        seed: what the random numbers are drawn from; at least 0.

    Raises:
        CccError: a number is out of its range.
    """
    if not 0 <= scale <= 30:
        raise CccError(f"an R-MAT graph has a scale from 0 to 30, not {scale}")
    if edge_factor < 0 or min(a, b, c) < 0 or a + b + c > 1:
        raise CccError(
            "an R-MAT graph needs edge_factor >= 0 and probabilities that sum to at most 1,"
            f" not edge_factor={edge_factor}, a={a}, b={b}, c={c}"
        )
    rng, cuts = _generator(seed), (a, a + b, a + b + c)
    vertices, edges = 1 << scale, edge_factor << scale
    sources, targets = np.empty(edges, np.int32), np.empty(edges, np.int32)
    chunk = 1 << 18  # stays in the cache from one level to the next: three times as fast
    for start in range(0, edges, chunk):
        part = slice(start, min(start + chunk, edges))
        sources[part], targets[part] = _quadrants(rng, part.stop - start, scale, cuts)
    names = rng.permutation(vertices).astype(np.int32)
    return from_edges(vertices, names[sources], names[targets], distinct=True)


def _quadrants(
    rng: np.random.Generator, edges: int, scale: int, cuts: tuple[float, float, float]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Descend ``scale`` times into a random quadrant, for many edges at once."""
    source, target = np.zeros(edges, np.int32), np.zeros(edges, np.int32)
    for _ in range(scale):
        draw = rng.random(edges, np.float32)
        right, below, both = (draw >= cut for cut in cuts)
        right ^= below ^ both  # the second quadrant and the last
        source += source
        source += below
        target += target
        target += right
    return source, target


def uniform(vertices: int, edges: int, seed: int = 0) -> Graph:
    """Draw edges between vertices that are all alike; of equal ones one is kept.

    Args:
        vertices: how many vertices there are.
        edges: how many edges are drawn; at least as many as the graph then has.
        seed: what the random numbers are drawn from; at least 0.

    Raises:
        CccError: a number is out of its range.
    """
    if not 0 <= vertices <= LARGEST or edges < 0 or (edges and not vertices):
        raise CccError(f"there is no graph of {vertices} vertices and {edges} edges")
    rng = _generator(seed)
    sources, targets = rng.integers(0, max(vertices, 1), (2, edges), np.int32)
    return from_edges(vertices, sources, targets, distinct=True)


def banded(vertices: int, reach: int) -> Graph:
    """Link each vertex with those that are at most ``reach`` numbers away, itself among them.

    Args:
        vertices: how many vertices there are.
        reach: how far an edge goes at most; at least 0.

    Raises:
        CccError: a number is out of its range.
    """
    if not 0 <= vertices <= LARGEST or reach < 0:
        raise CccError(f"there is no band of {vertices} vertices and a reach of {reach}")
    numbers = np.arange(vertices, dtype=np.int64)
    low, high = np.maximum(numbers - reach, 0), np.minimum(numbers + reach, vertices - 1)
    indptr = np.zeros(vertices + 1, np.int64)
    np.cumsum(high - low + 1, out=indptr[1:])
    indices = np.arange(indptr[-1]) - np.repeat(indptr[:-1] - low, np.diff(indptr))
    return Graph(indptr, indices.astype(np.int32))


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise CccError(f"a seed is at least 0, not {seed}")
    return np.random.default_rng(seed)


# Readers


def read_graph(path: str | Path) -> Graph:
    """Read a graph from a file, whose suffix tells the format.

    - ``.mtx``, ``.mtx.gz``: a square sparse Matrix Market matrix. An entry is an edge from its row
      to its column, whatever its value; a symmetric matrix holds both directions.
    - ``.txt``, ``.el``, ``.txt.gz``, ``.el.gz``: an edge a line, as SNAP publishes them: source
      and target, numbers from 0, then anything; ``#`` and ``%`` begin comments. Numbers stay as
      they are: those that no edge names become vertices without edges.
    - ``.npz``: NumPy arrays ``indptr`` and ``indices``, as in ``Graph``.

    Raises:
        CccError: the file cannot be read, is of no such format or holds no such graph; with the
            line where one is at fault.
    """
    path = Path(path)
    reader = next((read for suffix, read in READERS.items() if path.name.endswith(suffix)), None)
    if reader is None:
        known = ", ".join(READERS)
        raise UsageError(f"unknown suffix; graphs are read from {known} files", Span(str(path)))
    if not path.is_file():
        raise CccError("there is no such file", Span(str(path)))
    with _blamed_on(path):
        return reader(path)


@contextlib.contextmanager
def _blamed_on(path: Path) -> Iterator[None]:
    """Turn what reading may raise into a message about ``path``."""
    where = Span(str(path))
    try:
        yield
    except CccError as error:
        raise CccError(error.message, error.span or where, error.source_line) from error
    except (EOFError, zlib.error) as error:
        raise CccError("the file ends early or is damaged; fetch it again", where) from error
    except gzip.BadGzipFile as error:
        raise CccError("not a gzip file, in spite of its name", where) from error
    except OSError as error:
        raise CccError(f"cannot read the file: {error.strerror or error}", where) from error
    except UnicodeDecodeError as error:
        raise CccError("not a text file", where) from error


def _read_matrix_market(path: Path) -> Graph:
    try:
        matrix = scipy.io.mmread(str(path))
    except (ValueError, OverflowError, TypeError) as error:
        raise _matrix_market_error(path, str(error)) from error
    if isinstance(matrix, np.ndarray):
        raise CccError("a dense matrix; a graph is in coordinate format")
    rows, columns = matrix.shape
    if rows != columns:
        raise CccError(f"a graph's matrix is square; this one is {rows} by {columns}")
    return from_edges(rows, matrix.row, matrix.col)


def _matrix_market_error(path: Path, text: str) -> CccError:
    """The reader's own message, with the line that it begins with as a position."""
    found = re.match(r"Line (\d+): (.*)", text, re.DOTALL)
    if not found:
        return CccError(f"cannot be read as Matrix Market: {text}")
    return CccError(found[2], Span(str(path), int(found[1])))


def _read_edge_list(path: Path) -> Graph:
    try:
        with _open(path) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a file without edges is no surprise
            warnings.simplefilter("error", DeprecationWarning)  # older NumPy cuts 1.5 down to 1
            pairs = np.loadtxt(file, np.int64, comments=["#", "%"], usecols=(0, 1), ndmin=2)
    except UnicodeDecodeError:
        raise
    except (ValueError, DeprecationWarning) as error:
        raise _edge_list_error(path) or CccError(str(error)) from error
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < LARGEST):
        raise _edge_list_error(path) or CccError("a vertex number is out of range")
    vertices = int(pairs.max()) + 1 if pairs.size else 0
    return from_edges(vertices, pairs[:, 0], pairs[:, 1])


def _edge_list_error(path: Path) -> CccError | None:
    """What is wrong with the first bad line: a slow look, taken when the fast reader failed."""
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            words = re.split("[#%]", line, maxsplit=1)[0].split()
            if not words:
                continue
            where = Span(str(path), number)
            if len(words) < 2 or not all(re.fullmatch(r"[+-]?\d+", word) for word in words[:2]):
                return CccError("an edge is two vertex numbers: source and target", where, line)
            if not all(0 <= int(word) < LARGEST for word in words[:2]):
                return CccError(f"vertex numbers are from 0 to {LARGEST - 1}", where, line)
    return None


def _read_npz(path: Path) -> Graph:
    try:
        arrays = np.load(path, allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise CccError("one plain array; a graph is two, indptr and indices")
        with arrays:
            missing = [name for name in ("indptr", "indices") if name not in arrays]
            if missing:
                raise CccError(f"no array {' and no array '.join(missing)} in it")
            return Graph(arrays["indptr"], arrays["indices"])
    except (zipfile.BadZipFile, ValueError) as error:
        raise CccError("not an .npz file, or a damaged one; fetch it again") from error


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


READERS: dict[str, Callable[[Path], Graph]] = {
    ".mtx": _read_matrix_market,
    ".mtx.gz": _read_matrix_market,
    ".txt": _read_edge_list,
    ".txt.gz": _read_edge_list,
    ".el": _read_edge_list,
    ".el.gz": _read_edge_list,
    ".npz": _read_npz,
}
"""What reads a file, by the end of its name."""
