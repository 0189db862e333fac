"""What is parsed and printed is the same program: ptxas makes the same machine code of both."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from emulating import needs_nvcc
from folders import GOLDEN, TESTS
from goldens import Golden
from machine_code import code_of

from ccc.errors import CccError
from ccc.frontend.marking import mark
from ccc.ir.nodes import Block, Instruction
from ccc.ir.printer import print_function, replace
from ccc.ir.verify import verify
from ccc.parse import parse_function, parse_module
from ccc.toolkit import find as toolchain

KERNELS = TESTS / "parse" / "kernels.cu"
CASES = ("nested_control", "lanes_apart", "mixed_types", "refused/local_memory")


def printed(text: str) -> str:
    """The module with every function printed from its IR."""
    module = parse_module(text)
    for piece in module.functions:
        function = parse_function(piece)
        verify(function)
        replace(piece, function)
        assert print_function(parse_function(piece)) == piece.text
    return module.text


def assembled(text: str, arch: str, folder: Path) -> bytes:
    try:
        ptxas = toolchain.find().program("ptxas")
    except CccError as error:
        pytest.skip(error.message)
    folder.joinpath("k.ptx").write_text(text)
    command: list[str | Path] = [ptxas, f"-arch={arch}", "k.ptx", "-o", "k.cubin"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    return folder.joinpath("k.cubin").read_bytes()


def compiled(source: Path, folder: Path, *options: str) -> str:
    target = folder / "out.ptx"
    nvcc = toolchain.find().nvcc
    command: list[str | Path] = [nvcc, "-ptx", *options, source, "-o", target]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_text()


@needs_nvcc
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_varied_code(arch: str, tmp_path: Path) -> None:
    text = compiled(KERNELS, tmp_path, f"-arch={arch}")
    assert assembled(printed(text), arch, tmp_path) == assembled(text, arch, tmp_path)


@pytest.mark.slow
@needs_nvcc
def test_unoptimized_code(tmp_path: Path) -> None:
    """With ``-G`` the debug sections name labels of the functions, which must stay."""
    text = compiled(KERNELS, tmp_path, "-arch=sm_90", "-G")
    assert ".debug_info" in text
    assert code_of(assembled(printed(text), "sm_90", tmp_path)) == code_of(
        assembled(text, "sm_90", tmp_path)
    )


@needs_nvcc
def test_marked_code(tmp_path: Path) -> None:
    marked = tmp_path / "marked.cu"
    texts = []
    for number, case in enumerate(CASES):
        source = (TESTS / "cases" / f"{case}.cu").read_text()
        source = source.replace('extern "C"', "")
        texts.append(f"namespace n{number} {{\n{source}\n}}\n")
    marked.write_text(mark("".join(texts), "marked.cu").text)
    text = compiled(marked, tmp_path, "-arch=sm_90", "-maxrregcount=64")
    outcome = printed(text)
    assert outcome.count("// ccc.") == text.count("// ccc.") > 8
    assert assembled(outcome, "sm_90", tmp_path) == assembled(text, "sm_90", tmp_path)


@pytest.mark.parametrize("name", ["if_else", "nested_control"])
def test_transformed_code(name: str, tmp_path: Path) -> None:
    text = Golden.read(GOLDEN / "context-collection" / f"{name}.ptx").after
    assert assembled(printed(text), "sm_90", tmp_path) == assembled(text, "sm_90", tmp_path)


def test_odd_code(tmp_path: Path) -> None:
    text = (TESTS / "parse" / "odd.ptx").read_text()
    assert assembled(printed(text), "sm_90", tmp_path)


def test_unknown_opcodes_are_printed_unchanged() -> None:
    body = "fabricated.rn.u32::x %r1, {%r1, 0x7}, [%r1+4], !%r1, _;"
    text = f".version 8.0\n.entry k() {{ .reg .b32 %r<2>; {body} ret; }}"
    assert f"\t{body}\n" in printed(text)


def test_labels_are_printed_where_they_stood_or_are_needed() -> None:
    text = ".version 8.0\n.entry k() { .reg .pred %p; A: @%p bra B; B: ret; C: }"
    assert "\nA:\n" in printed(text)
    assert printed(text).rstrip().endswith("C:\n\n}")
    text = ".version 8.0\n.entry k() { .reg .pred %p; @%p ret; trap; ret; }"
    assert "$ccc" not in printed(text)


def test_a_missing_return_is_known_but_not_printed() -> None:
    """ptxas ends a function at its brace, and one more ``ret`` would be more unoptimised code."""
    for body in ("", "trap;", "@%p ret;", "@%p bra L; ret; L:"):
        text = f".version 8.0\n.entry k() {{ .reg .pred %p; {body} }}"
        (piece,) = parse_module(text).functions
        function = parse_function(piece)
        assert [str(s) for s in function.blocks[-1].statements][-1:] == ["ret;"]
        assert printed(text).count("ret;") == text.count("ret;")
        function.blocks.append(Block("M", [Instruction("exit")]))
        assert print_function(function).count("ret;") == text.count("ret;") + 1
