"""Imports go downward only: ``ROWS`` is the module map of docs/design.md, checked on every file."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from folders import ROOT

PACKAGE = ROOT / "ccc"

# From the bottom up. A name stands for that module and for everything inside it. A module may
# import its own package and anything in a row below its own, never a neighbour in the same row.
ROWS: tuple[tuple[str, ...], ...] = (
    (
        "ccc.errors",
        "ccc.version",
        "ccc.options",
        "ccc.demangle",
        "ccc.tables",
        "ccc.cache",
        "ccc.garbage",
        "ccc.later",
        "ccc.folder",
        "ccc.header",
        "ccc.likewise",
    ),
    ("ccc.ptx", "ccc.files", "ccc.bytecode", "ccc.json_files"),
    ("ccc.ir", "ccc.grammars", "ccc.dataclass_code"),
    ("ccc.parse", "ccc.analysis", "ccc.profile", "ccc.toolkit", "ccc.remark"),
    ("ccc.decisions", "ccc.diagnostics"),
    ("ccc.pipeline", "ccc.emulator", "ccc.snippet"),
    ("ccc.passes", "ccc.profile.instrument"),
    ("ccc.frontend",),
    ("ccc.compiler",),
    ("ccc.device",),
    ("ccc.nvcc",),
    ("ccc.harness",),
    ("ccc.jit",),
    ("ccc.tools",),
    ("ccc.cli",),
    ("ccc",),
)

# What the rows alone would allow, and the design does not.
FORBIDDEN: dict[str, tuple[str, ...]] = {
    "ccc.pipeline": ("ccc.parse",),
    "ccc.passes": ("ccc.parse", "ccc.emulator"),
}

# Files beside the passes that are none themselves; a pass may use them.
HELPERS = (
    "ccc.passes.context_collection.sequential_dispatch",
    "ccc.passes.context_collection.collector",
    "ccc.passes.context_collection.task_code",
    "ccc.passes.context_collection.context_stack",
    "ccc.passes.grid_stride.dynamic_schedule",
    "ccc.passes.context_collection.block_lists",
    "ccc.passes.context_collection.engagement",
    "ccc.passes.context_collection.shared_tasks",
    "ccc.passes.context_collection.joined_lists",
    "ccc.passes.context_collection.one_list",
    "ccc.passes.context_collection.own_lists",
    "ccc.passes.context_collection.sub_warps",
    "ccc.passes.context_collection.partial_sums",
    "ccc.passes.context_collection.counted_turns",
    "ccc.passes.launch_shape",
    "ccc.passes.preheader",
    "ccc.passes.context_collection.adaptive",
    "ccc.passes.context_collection.batches",
    "ccc.passes.context_collection.binned_queue",
    "ccc.passes.context_collection.rematerialization",
    "ccc.passes.context_collection.carried_tasks",
    "ccc.passes.context_collection.layout",
    "ccc.passes.context_collection.loop_chain",
    "ccc.passes.context_collection.members",
    "ccc.passes.context_collection.node",
    "ccc.passes.context_collection.sequential_node",
    "ccc.passes.context_collection.multi_path",
    "ccc.passes.choice.before",
    "ccc.passes.choice.choose",
    "ccc.passes.choice.search",
    "ccc.passes.choice.exchange",
    "ccc.passes.choice.skipped",
    "ccc.passes.choice.work",
    "ccc.passes.policy",
    "ccc.passes.room",
    "ccc.passes.thresholds",
    "ccc.passes.context_collection.reduction",
    "ccc.passes.context_collection.group_slots",
    "ccc.passes.iteration_numbers",
    "ccc.passes.context_collection.tiles",
    "ccc.passes.context_collection.turns",
    "ccc.passes.context_collection.tail_pool",
    "ccc.passes.context_collection.weights",
    "ccc.passes.context_collection.task_counts",
    "ccc.passes.strategies.registry",
    "ccc.passes.strategies.strategy",
    "ccc.passes.strategies.leave",
    "ccc.passes.strategies.batch",
    "ccc.passes.strategies.cases",
    "ccc.passes.strategies.sequential",
    "ccc.passes.strategies.queue",
    "ccc.passes.strategies.merge",
    "ccc.passes.strategies.pool",
    "ccc.passes.strategies.engage",
    "ccc.passes.strategies.long_tasks",
    "ccc.passes.strategies.sub_warp",
    "ccc.passes.strategies.tile",
    "ccc.passes.strategies.uniform",
    "ccc.passes.grid_stride.task_counter",
    "ccc.passes.invariant_motion",
    "ccc.passes.grid_stride.virtual_grid",
)

# Packages with one door each.
DOORS: dict[str, tuple[str, ...]] = {
    "networkx": ("ccc.analysis.defuse", "ccc.tools.graph"),
    "matplotlib": ("ccc.tools.bench.plots",),
    "cupy": ("ccc.device.gpu",),
    "cupyx": ("ccc.device.gpu",),
    "cupy_backends": ("ccc.device.gpu",),
    "tree_sitter": ("ccc.frontend.syntax",),
    "tree_sitter_cuda": ("ccc.frontend.syntax",),
    "pycparser": ("ccc.frontend.pragmas", "ccc.frontend.folding"),
    "passes": (),
    "grammars": (),
}


def inside(module: str, package: str) -> bool:
    """Whether ``module`` is ``package`` or lies in it; the bare ``ccc`` is only itself."""
    return module == package or (package != "ccc" and module.startswith(package + "."))


@functools.cache
def row_of(module: str) -> tuple[int, str] | None:
    """The row that ``module`` stands in and the entry, the longest, that puts it there."""
    found = [(h, entry) for h, row in enumerate(ROWS) for entry in row if inside(module, entry)]
    return max(found, key=lambda one: len(one[1]), default=None)


@functools.cache
def files() -> dict[str, Path]:
    """Every module of the package, passes and grammars (symbolic links) included."""
    found = {}
    for folder, _, names in os.walk(PACKAGE, followlinks=True):
        for name in names:
            if name.endswith(".py"):
                path = Path(folder, name)
                parts = path.relative_to(ROOT).with_suffix("").parts
                found[".".join(part for part in parts if part != "__init__")] = path
    return found


@functools.lru_cache(maxsize=1_000)
def nodes(source: str) -> list[ast.AST]:
    """What a file consists of that tests here ask for."""
    wanted = (ast.Import, ast.ImportFrom, ast.Call, ast.ClassDef)
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, wanted)]


def imports(module: str, source: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """The line and the full name of everything ``source`` imports, wherever in it that stands."""
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                keep = len(parts) - node.level + is_package
                base = ".".join([*parts[:keep], *([base] if base else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and _called(node.func).endswith("import_module"):
            name = node.args[0] if node.args else None
            if isinstance(name, ast.Constant):
                yield node.lineno, str(name.value)


def _called(function: ast.expr) -> str:
    """The last word of what is called."""
    return str(getattr(function, "attr", getattr(function, "id", "")))


def wrong(module: str, source: str, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of one file; empty when nothing is."""
    place = row_of(module)
    if place is None:
        return [
            f"{module} is not in the module map: give it a row in ROWS in {Path(__file__).name}"
        ]
    height, entry = place
    complaints = []
    for line, name in imports(module, source, is_package):
        at = f"{module}, line {line}, imports {name}"
        for package, doors in DOORS.items():
            if inside(name, package) and not any(inside(module, door) for door in doors):
                complaints.append(f"{at}: only {' and '.join(doors) or 'nobody'} may")
        if name != "ccc" and not name.startswith("ccc."):
            continue
        target = row_of(name) or row_of("ccc")  # a name that ccc/__init__.py defines
        assert target is not None
        if target[1] == entry:
            folder = module if is_package else module.rpartition(".")[0]
            own = (module, *HELPERS, *([folder] if folder != entry else []))
            if entry == "ccc.passes" and module != entry and not any(inside(name, o) for o in own):
                complaints.append(f"{at}: passes do not import one another")
        elif target[0] >= height:
            complaints.append(f"{at}: {target[1]} does not stand below {entry}")
        elif any(inside(name, banned) for banned in FORBIDDEN.get(entry, ())):
            complaints.append(f"{at}: {entry} may not")
    return complaints


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for module, path in files().items():
        for node in nodes(path.read_text(encoding="utf-8")):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    assert not {name: found for name, found in homes.items() if len(found) > 1}


def test_imports_go_downward() -> None:
    complaints = [
        complaint
        for module, path in files().items()
        for complaint in wrong(module, path.read_text(encoding="utf-8"), path.name == "__init__.py")
    ]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("ccc.ir.nodes", "from ccc.analysis.cfg import Cfg", "does not stand below"),
        ("ccc.parse", "import ccc.analysis.cfg", "does not stand below"),
        ("ccc.ptx.types", "def f():\n    from ccc import compiler", "line 2"),
        ("ccc.analysis.cfg", "from .. import cli", "ccc.cli does not stand below"),
        ("ccc.compiler.transform", "from ccc import compile", "ccc does not stand below"),
        ("ccc.passes.a", "from ccc.passes.b import B", "one another"),
        ("ccc.passes.a", "from ccc.passes import PIPELINE", "one another"),
        ("ccc.passes.a.b", "from ccc.passes.c.d import D", "one another"),
        ("ccc.passes.a", "from ccc.parse import parse", "ccc.passes may not"),
        (
            "ccc.passes.a",
            "import networkx as nx",
            "only ccc.analysis.defuse and",
        ),
        (
            "ccc.harness.sample",
            "import networkx",
            "only ccc.analysis.defuse and",
        ),
        ("ccc.tools.compare", "import cupy.cuda", "only ccc.device.gpu may"),
        ("ccc.harness.measure", "importlib.import_module('cupy')", "only ccc.device.gpu may"),
        ("ccc.cli", "import passes", "nobody may"),
        ("ccc.novelty", "", "give it a row in ROWS"),
    ],
)
def test_a_wrong_import_is_reported(module: str, source: str, complaint: str) -> None:
    assert complaint in "\n".join(wrong(module, source))


@pytest.mark.parametrize(
    ("module", "source", "is_package"),
    [
        ("ccc.passes", "from ccc.passes.a import A\nfrom . import b", True),
        (
            "ccc.passes.a",
            "from ccc.ir import edit\nfrom ccc.analysis.paths.model import Path",
            False,
        ),
        (
            "ccc.emulator.run.simt",
            "from ccc.emulator.memory import spaces\nfrom ccc.parse import parse",
            False,
        ),
        ("ccc.passes.a", "from ccc.passes.context_collection.context_stack import Stack", False),
        ("ccc.passes.a.b", "from ccc.passes.a.c import C", False),
        ("ccc.analysis.defuse", "import networkx as nx", False),
        ("ccc.device.gpu", "import cupy as cp", False),
        ("ccc", "from ccc.compiler.transform import transform", True),
    ],
)
def test_a_right_import_is_not(module: str, source: str, is_package: bool) -> None:
    assert wrong(module, source, is_package) == []


def test_every_package_is_installed() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    listed = set(re.findall(r'"(ccc[\w.]*)"', re.findall(r"^packages = .*$", text, re.M)[0]))
    found = {name for name, path in files().items() if path.name == "__init__.py"}
    assert listed == found
