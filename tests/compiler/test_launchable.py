"""Blocks that could be launched before can be launched afterwards."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from nvcc_project import Project, project

from ccc.compiler.launchable import SMALLER, Launchable, keep_launchable
from ccc.compiler.registers import Assembler
from ccc.options import Options
from ccc.toolkit.ptxas import assemble, is_part

pytestmark = [
    pytest.mark.usefixtures("few_headers"),
    pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not there"),
]
__all__ = ["project"]

MODULE = """\
.version 8.0
.target sm_90
.address_size 64
{before}
.visible .entry k(.param .u64 p)
{limits}{{
	.reg .b32 %r<200>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
{body}
	ret;
}}
"""
OTHER = ".extern .func other;\n"
CALL = "	call other;"
KERNEL = """\
extern "C" __global__ void k(const float *__restrict__ x, float *__restrict__ y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = 0;
        LOADS
        #pragma ccc if CLAUSE
        if (v0 > 0.f) {
            for (int t = 0; t < 50; t++) { TURN }
            s = SUM;
        }
        y[i] = s;
    }
}
"""
VALUES = 53
"""As many as fit into 64 registers with nvcc 13.0, and do not with a stack beside them."""


def holding(count: int, limits: str = "", before: str = "", call: str = "") -> str:
    """A kernel whose threads have so many values at once, and some registers more."""
    loads = [f"	ld.volatile.global.u32 %r{n}, [%rd1+{4 * n}];" for n in range(count)]
    stores = [f"	st.volatile.global.u32 [%rd1+{4 * n}], %r{n};" for n in reversed(range(count))]
    body = "\n".join([*loads, call, *stores])
    return MODULE.format(body=body, limits=limits, before=before)


def kept(
    before: str, after: str, max_block: int | None = None, max_registers: int | None = None
) -> Launchable:
    options = Options(max_block=max_block, max_registers=max_registers)
    return keep_launchable(before, after, options, Assembler())


def registers(ptx: str) -> int:
    return assemble(ptx, "sm_90").resources["k"].registers


def test_a_kernel_that_could_have_any_block_still_can() -> None:
    before, after = holding(20), holding(80)
    assert registers(before) <= 64 < registers(after)
    found = kept(before, after)
    assert found.bounds == {"k": 64}
    assert registers(found.ptx) <= 64
    assert found.ptx.replace(".maxnreg 64\n", "") == after
    assert re.search(r"^\.maxnreg 64\n\{$", found.ptx, re.MULTILINE)


def test_it_may_take_as_many_as_leave_room_for_the_largest_block_of_the_original() -> None:
    before, after = holding(66), holding(120)
    assert 64 < registers(before) <= 72
    assert registers(after) > 96
    assert kept(before, after).bounds == {"k": 72}
    assert not kept(before, holding(67)).bounds


@pytest.mark.parametrize("limits", [".maxntid 1024\n", ".reqntid 256\n", ".maxnreg 72\n"])
def test_what_says_how_large_it_may_be_is_left_to_ptxas(limits: str) -> None:
    before, after = holding(20, limits), holding(80, limits)
    assert kept(before, after) == Launchable(after)


def test_blocks_that_are_smaller_for_sure_need_no_bound() -> None:
    assert not kept(holding(20), holding(80), max_block=512).bounds
    assert kept(holding(20), holding(140), max_block=512).bounds == {"k": 128}
    assert not kept(holding(20), holding(140), max_block=256).bounds


def test_what_the_assembler_is_told_otherwise_counts() -> None:
    assert not kept(holding(20), holding(80), max_registers=64).bounds
    assert not kept(holding(80), holding(120), max_registers=72).bounds
    assert kept(holding(20), holding(80), max_registers=72).bounds == {"k": 64}


def test_a_kernel_that_did_not_change_needs_none() -> None:
    assert kept(holding(80), holding(80)) == Launchable(holding(80))


def test_spilling_is_told() -> None:
    found = kept(holding(20), holding(120))
    said = found.crowded["k"]
    assert re.match(r"1\d\d registers of a thread instead of [23]\d leave no room for blocks", said)
    assert re.search(r"of 1024 threads, .* and with 64 ptxas spills \d+ bytes; ", said)
    assert said.endswith(SMALLER)


def test_a_linker_would_refuse_a_bound_beside_functions_of_other_files() -> None:
    before, after = (holding(count, before=OTHER, call=CALL) for count in (20, 120))
    assert is_part(after)
    assert not is_part(holding(20))
    found = kept(before, after)
    assert not found.bounds
    assert found.ptx == after
    assert "leave no room for blocks of 1024 threads" in found.crowded["k"]
    system = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    assert not is_part(holding(20, before=system))


@pytest.mark.parametrize(
    "linked",
    [
        ".visible .func other { ret; }\n",
        ".weak .func other { ret; }\n",
        ".extern .global .u64 table[4];\n",
    ],
)
def test_so_it_would_beside_functions_that_are_linked(linked: str) -> None:
    before, after = (holding(count, before=linked) for count in (20, 120))
    assert is_part(after)
    found = kept(before, after)
    assert not found.bounds
    assert found.crowded


def test_what_a_pointer_leads_to_takes_nobody_knows_how_many() -> None:
    call = "\tmov.u64 %rd2, 0;\nP: .callprototype _ ();\n\tcall %rd2, (), P;"
    found = kept(holding(20), holding(120, call=call))
    assert not found.bounds
    assert found.crowded


def test_the_original_is_what_has_no_markers() -> None:
    marked, after = holding(80), holding(81)
    assert not kept(marked, after).bounds
    found = keep_launchable(marked, after, Options(), Assembler(), lambda: holding(20))
    assert found.bounds == {"k": 64}


def test_braces_and_directives_in_comments_are_none() -> None:
    said = "// {a brace}, .maxntid\n/* and { another */ "
    found = kept(holding(20, said), holding(80, said))
    assert found.bounds == {"k": 64}
    assert registers(found.ptx) <= 64


def source(clause: str) -> str:
    values = range(VALUES)
    parts = {
        "LOADS": "".join(f"float v{n} = x[i * {VALUES} + {n}]; " for n in values),
        "TURN": "".join(f"v{n} = v{n} * v{(n * 7 + 1) % VALUES} + 1.f; " for n in values),
        "SUM": " + ".join(f"v{n} * {n}.f" for n in values),
        "CLAUSE": clause,
    }
    text = KERNEL
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
def test_cccc_holds_registers_to_it(project: Project) -> None:
    command = ["-arch=sm_90", "-ptx", "k.cu", "-o", "k.ptx", "--ccc-report=r.json"]
    project.write("k.cu", source("strategy(queue)"))
    project(*command)
    text = (project.folder / "k.ptx").read_text()
    assert ".maxnreg 64\n" in text
    assert registers(text) <= 64
    (path,) = json.loads((project.folder / "r.json").read_text())["kernels"][0]["paths"]
    assert path["maxnreg"] == 64
    project(*command, "--ccc-max-block=256")
    assert ".maxnreg" not in (project.folder / "k.ptx").read_text()


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
def test_what_nobody_asked_for_is_left_where_it_would_take_room(project: Project) -> None:
    end, call = "y[i] = s;\n    }", "\n    y[0] = f(y[1]);"
    kernel = source("prob(0.1)").replace(end, end + call)
    text = f"extern __device__ float f(float);\n{kernel}"
    project.write("k.cu", text)
    command = ["-arch=sm_90", "-rdc=true", "--ccc-callee-shared=0", "-cubin", "k.cu"]
    said = project(*command, CCC_FLAGS="")
    assert "leave no room for blocks of 1024 threads, in which the original can be" in said
    assert SMALLER in said
    assert "no room" not in project(*command, "--ccc-max-block=256", CCC_FLAGS="")


EXECUTABLE = 2
"""The type of an ELF file that can be loaded, in the two bytes behind its first sixteen."""


def test_what_may_be_linked_can_be_loaded_as_it_is() -> None:
    """As the kernels of a file that was compiled with -rdc=true, and need nothing of others."""
    ptx = holding(20, before=".visible .func other { ret; }\n")
    assert is_part(ptx)
    part, whole = assemble(ptx, "sm_90"), assemble(ptx, "sm_90", is_whole=True)
    types = [int.from_bytes(one.cubin[16:18], "little") for one in (part, whole)]
    assert types[0] != EXECUTABLE == types[1]
