"""What became of a kernel is kept as long as nothing changes that it depends on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from folders import ERRORS, GOLDEN
from goldens import Golden, lines_said

from ccc.compiler import registers
from ccc.compiler import transform as compiler
from ccc.compiler.outcome import Outcomes
from ccc.compiler.registers import Assembler
from ccc.compiler.transform import Transformed, transform
from ccc.compiler.unmarking import taken_out
from ccc.errors import CccError
from ccc.ir.nodes import FunctionText
from ccc.options import COLLECT
from ccc.parse import parse_module
from ccc.pipeline import Withdrawn
from ccc.toolkit import find as toolchain
from ccc.toolkit.ptxas import Resources

OTHER = ".entry other()\n{\n\tret;\n}"
Prepared = list[str]


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """The functions that passes ran over."""
    found: Prepared = []
    prepare = compiler.ModuleContext.prepare

    def noted(
        self: compiler.ModuleContext,
        piece: FunctionText,
        kept: frozenset[int],
        withdrawn: Withdrawn,
        blocks_stay: bool,
    ) -> object:
        found.append(piece.name)
        return prepare(self, piece, kept, withdrawn, blocks_stay)

    monkeypatch.setattr(compiler.ModuleContext, "prepare", noted)
    return found


def transformer(path: Path) -> tuple[str, Callable[[str], Transformed]]:
    """The PTX of a golden file, and what transforms the like, knowing what it did before."""
    golden, known = Golden.read(path), Outcomes()
    options = golden.options
    options = replace(options, strategy=COLLECT) if options.strategy == "auto" else options
    return golden.before, lambda ptx: transform(ptx, options, known=known)


def below_another(ptx: str) -> str:
    """A module with another kernel above its own."""
    at = ptx.index(".visible .entry k(")
    return ptx[:at] + OTHER + ptx[at:]


@pytest.mark.parametrize("name", ["activemask", "barrier", "carried"])
def test_a_kernel_that_only_moved_is_not_transformed_again(name: str, prepared: Prepared) -> None:
    before, transformed = transformer(ERRORS / f"{name}.ptx")
    first, second = transformed(before), transformed(below_another(before))
    assert prepared == ["k"]
    assert second.ptx == below_another(first.ptx)

    def moved(found: re.Match[str]) -> str:
        return f"PTX line {int(found[1]) + OTHER.count(chr(10))}"

    said = [re.sub(r"PTX line (\d+)", moved, line) for line in lines_said(first)]
    assert "PTX line" in said[0]
    assert lines_said(second) == said


def test_what_is_put_before_a_kernel_is_put_there_again(prepared: Prepared) -> None:
    before, transformed = transformer(GOLDEN / "context-collection" / "if_else.ptx")
    first, second = transformed(before), transformed(before)
    assert prepared == ["k"]
    assert second == first
    assert first.ptx != before


def test_a_kernel_whose_function_changed_is_transformed_again(prepared: Prepared) -> None:
    before, transformed = transformer(ERRORS / "callee_synchronizes.ptx")
    assert lines_said(transformed(before))
    other = re.sub(r"\tbar\.sync[^;]*;|\tbarrier\.sync[^;]*;", "", before)
    assert other != before
    assert not lines_said(transformed(other))
    assert prepared.count("k") >= 2


def test_only_what_is_asked_for_is_assembled() -> None:
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    before = Golden.read(GOLDEN / "context-collection" / "if_else.ptx").before
    (kernel,) = parse_module(before).functions
    others = [re.sub(r"\bk\b", name, kernel.text) for name in ("first", "second")]
    ptx = "\n".join([before, *others])
    assembler = Assembler()
    found = assembler.resources(ptx, ["second"])
    assert found.keys() == {"second"}
    assert assembler.resources(ptx, ["k", "second"])["k"] == found["second"]


def test_markers_do_not_matter_to_what_is_assembled(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Golden.read(GOLDEN / "context-collection" / "if_else.ptx").before
    told, asked = Resources(registers=20, shared=0, stack=0), list[str]()

    def assembled(*texts: str) -> list[Mapping[str, Resources]]:
        asked.extend(texts)
        return [{"k": told} for _ in texts]

    monkeypatch.setattr(registers, "resources_of", assembled)
    assembler, without = Assembler(), taken_out(before, {1, 2, 3})
    assert without != before
    assert [assembler.resources(ptx, ["k"]) for ptx in (before, without)] == [{"k": told}] * 2
    assert len(asked) == 1
