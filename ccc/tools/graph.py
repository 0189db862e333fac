"""``ccc graph``: the def-use graph of a path, drawn as figure 4.11 of the dissertation draws it.

Edges inside the path are solid, others dashed; registers that a lane-dependent special register
reaches are shaded; the context is drawn with a double border.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path as FilePath

import networkx as nx

from ccc.analysis.defuse import def_use_graph
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import LeftPath, Path
from ccc.compiler.blame import Blame
from ccc.compiler.lines import LineTable
from ccc.compiler.made import INSTEAD as MARKED
from ccc.compiler.made import why_not
from ccc.compiler.transform import marked_functions
from ccc.demangle import demangle
from ccc.errors import CccError, Span, UsageError
from ccc.files import check_writable, read_text, write
from ccc.frontend.marking import Marked, mark
from ccc.nvcc import run as nvcc
from ccc.options import Options
from ccc.ptx.types import LANE, SPECIAL_REGISTERS
from ccc.remark import Remark
from ccc.tools.arguments import architecture, positive

INSTEAD = "cccc -ptx --ccc-mark-only takes all options of nvcc, and makes PTX that is taken here"
"""What to do about an option that is not known."""
_PICTURES = (".svg", ".pdf", ".ps", ".eps", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``ccc graph``."""
    parser.add_argument("file", help="annotated CUDA, or marked PTX (cccc -ptx --ccc-mark-only)")
    parser.add_argument(
        "--arch", type=architecture, default="sm_90", help="what to compile CUDA for [%(default)s]"
    )
    for option, word, what in (
        ("-I", "DIR", "where CUDA finds headers"),
        ("-D", "NAME[=VALUE]", "a macro of CUDA"),
    ):
        parser.add_argument(option, action="append", default=[], metavar=word, help=what)
    parser.add_argument(
        "--path",
        type=positive,
        metavar="N",
        help="which annotated path, from 1; default: list them",
    )
    parser.add_argument(
        "-o", "--output", default="graph.dot", metavar="FILE",
        help="where to write the graph; beside it a .png where Graphviz is installed [%(default)s]",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Draw the graph of one path, or list the paths.

    Raises:
        CccError: the file cannot be read, or has no such path.
    """
    output = FilePath(args.output)
    _refuse_picture(output)
    check_writable(args.output)
    options = [*(f"-I{folder}" for folder in args.I), *(f"-D{macro}" for macro in args.D)]
    ptx = _marked_ptx(args.file, args.arch, options)
    if (what := why_not(ptx)) is not None:
        raise CccError(f"{what}; {MARKED}", Span(args.file))
    found = list(_paths(ptx, args.file))
    case_name = _case_names(args.file, ptx)
    if not found:
        raise CccError(f"{args.file} holds no annotated path")
    if args.path is None:
        for number, (facts, path) in enumerate(found, 1):
            print(f"{number}: {_name(facts, path, case_name)}: {_outcome(path)}")
        return 0
    if not 1 <= args.path <= len(found):
        raise UsageError(f"there is no path {args.path}; {args.file} has {len(found)}")
    facts, path = found[args.path - 1]
    write(args.output, dot(facts, path, _name(facts, path, case_name)))
    if output.is_file():
        print(output)
        _draw(output)
    return 0


def _refuse_picture(output: FilePath) -> None:
    kind = output.suffix.lower()
    if kind == ".png":
        raise UsageError("this is where the picture goes; give -o NAME.dot", Span(str(output)))
    if kind in _PICTURES:
        raise UsageError(
            "a graph is written in the language of Graphviz; give -o NAME.dot, of which "
            f"dot -T{kind[1:]} makes a picture",
            Span(str(output)),
        )


def _case_names(file: str, ptx: str) -> Callable[[Remark], str]:
    """What tells which case of a switch a remark is of: its label, or else its line of the PTX."""
    try:
        marked = mark("" if FilePath(file).suffix == ".ptx" else read_text(file), file)
    except CccError:  # nvcc has read more: what macros expand to
        marked = Marked("")
    return Blame(LineTable(ptx), marked, ptx).cases.name


def _name(facts: Facts, path: Path | LeftPath, case_name: Callable[[Remark], str]) -> str:
    """Which path this is, and of which function."""
    one = Remark.missed_at(path.marker, facts.function.name, None)
    name = case_name(one) if path.marker.kind == "case" else one.arm_name
    arm = f" ({name})" if name else ""
    return f"{one.position} {one.annotation}{arm} in {demangle(one.kernel)}"


def _marked_ptx(file: str, arch: str, options: Sequence[str]) -> str:
    if FilePath(file).suffix == ".ptx":
        try:
            return FilePath(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CccError(f"cannot read {file}: {error}") from error
    if not FilePath(file).is_file():
        raise CccError("there is no such file", Span(file))
    return nvcc.build(FilePath(file), arch, [*options, "-lineinfo"], Options(mark_only=True))[0]


def _paths(text: str, file: str) -> Iterator[tuple[Facts, Path | LeftPath]]:
    for kernel in marked_functions(text, file):
        yield from ((kernel.facts, path) for path in kernel.find_paths())


def _draw(source: FilePath) -> None:
    program = shutil.which("dot")
    if program is None:
        return
    picture = source.with_suffix(".png")
    check_writable(picture)
    command = [program, "-Tpng", str(source), "-o", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CccError(f"Graphviz could not draw {source}: {done.stderr.strip()}")
    print(picture)


def _outcome(path: Path | LeftPath) -> str:
    return path.reason if isinstance(path, LeftPath) else "collectable"


def dot(facts: Facts, path: Path | LeftPath, title: str) -> str:
    """The def-use graph around a path in Graphviz's language; ``title`` tells which path it is."""
    region, context = extent(path, facts), set[str]()
    if isinstance(path, Path):
        region = path.region
        context = {r.name for r in path.context} | {s.name for s in path.specials}
    graph = _around(def_use_graph(facts.function, region))
    lane_made = _reached_from_lanes(graph)
    lines = [
        "digraph def_use {",
        "  rankdir=TB; node [shape=ellipse, fontname=monospace];",
        f"  label={_quoted(f'{title}: context in double borders')};",
    ]
    # Names of their own for the nodes: Graphviz takes "%r1" for one of its anonymous objects.
    nodes = {name: f"n{number}" for number, name in enumerate(graph)}
    for name, node in nodes.items():
        marks = [f"label={_quoted(name)}"]
        marks += ["style=filled", "fillcolor=gray85"] if name in lane_made else []
        marks += ["peripheries=2", "penwidth=2"] if name in context else []
        marks += ["shape=box"] if graph.nodes[name]["special"] else []
        lines.append(f"  {node} [{', '.join(marks)}];")
    for source, target, edge in graph.edges(data=True):
        style = "solid" if edge["inside"] else "dashed"
        label = _quoted(", ".join(edge["opcodes"]))
        lines.append(
            f"  {nodes[source]} -> {nodes[target]} [style={style}, label={label}, fontsize=9];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _around(graph: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """The registers that the path names, and what they are made of."""
    near = {n for a, b, edge in graph.edges(data=True) if edge["inside"] for n in (a, b)}
    wanted = near.union(*(nx.ancestors(graph, name) for name in near))
    chosen: nx.DiGraph[str] = nx.DiGraph(graph.subgraph(wanted))
    return chosen


def _reached_from_lanes(graph: nx.DiGraph[str]) -> set[str]:
    lanes = {n for n in graph if n in SPECIAL_REGISTERS and SPECIAL_REGISTERS[n].varies == LANE}
    return lanes.union(*(nx.descendants(graph, name) for name in lanes))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
