"""Every reason that the source has for leaving an annotation alone, by its syntax trees."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from folders import ROOT

FILES = (
    *sorted(ROOT.glob("ccc/analysis/**/*.py")),
    *sorted(ROOT.glob("passes/**/*.py")),
    *(ROOT / name for name in ("ccc/compiler/module.py", "ccc/ptx/occupancy.py")),
    ROOT / "ccc" / "compiler" / "launchable.py",
    *(
        ROOT / "ccc" / "parse" / f"{name}.py"
        for name in ("body", "declarations", "outside", "vectors")
    ),
)
CALLED = {
    **dict.fromkeys(
        ("Refused", "HandedOn", "LoopBehind", "Needed", "OutOfOrder", "TurnsDepend"), 0
    ),
    "NotRepresentable": 0,
    "_refuse_all": 1,
}
"""What is called with a reason, and which argument that is."""
FUNCTIONS = ("_reason", "why_no_stacks", "_too_large", "limits")
"""Functions that return reasons, or raise errors that become one."""


@functools.cache
def templates() -> dict[str, str]:
    """The reasons, with ``*`` for what differs, and the file that each is from.

    What to do may follow a reason, after a semicolon: that is not part of it here.
    """
    found = {}
    for path in FILES:
        tree = ast.parse(path.read_text())
        for node in _reasons(tree):
            text = _template(node, _constants(tree))
            if re.search("[a-z]{3}", text):
                found[text] = str(path.relative_to(ROOT))
    return found


@functools.cache
def ways_out() -> dict[str, str]:
    """What reasons say behind a semicolon, as far as it stands there, and the file of each."""
    found = {}
    for path in FILES:
        tree = ast.parse(path.read_text())
        for node in _reasons(tree):
            _, _, text = "".join(_parts(node, _constants(tree))).partition("; ")
            if re.match("[a-z]", text):
                found[text] = str(path.relative_to(ROOT))
    return found


@functools.cache
def texts() -> list[str]:
    """All texts of the files that give reasons, with ``*`` for what is put in."""
    return [
        "".join(_parts(node, {}))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.JoinedStr | ast.Constant)
    ]


def matches(template: str, text: str) -> bool:
    """Whether a text begins as the template says."""
    return re.match(".+?".join(map(re.escape, template.split("*"))), text) is not None


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of a module's constants."""
    plain = [node for node in tree.body if isinstance(node, ast.Assign)]
    return {ast.unparse(target): node.value for node in plain for target in node.targets}


def _reasons(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "reason")
            names = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
            if called in CALLED:
                yield node.args[CALLED[called]]
            elif "NotRepresentable" in names:
                yield node.args[0]
        elif isinstance(node, ast.Assign):
            if any(isinstance(t, ast.Attribute) and t.attr == "reason" for t in node.targets):
                yield node.value
        elif isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and inner.value:
                    yield inner.value
                elif isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call):
                    yield inner.exc.args[0]


def _template(node: ast.expr, constants: dict[str, ast.expr]) -> str:
    return "".join(_parts(node, constants)).partition(";")[0].rstrip("*: ")


def _parts(node: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            yield from _parts(value, constants)
    elif isinstance(node, ast.BinOp):
        yield from _parts(node.left, constants)
        yield from _parts(node.right, constants)
    elif isinstance(node, ast.Name) and node.id in constants:
        yield from _parts(constants[node.id], constants)
    else:
        yield "*"
