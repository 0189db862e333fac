"""What the passes put into PTX has names that nothing in its text has."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from collecting import transform
from small_kernel import kernel

from ccc import profile
from ccc.emulator import Module
from ccc.errors import CccError
from ccc.ir.names import Names
from ccc.options import Options
from ccc.profile.instrument import count

GRID_STRIDE = "	// ccc.grid_stride 3 k.cu:1:1 schedule=dynamic\n"
BARRIER = "	bar.sync 0;\n	mov.u32 %r9, 0;\n"


def results(ptx: str) -> list[int]:
    found = np.zeros(640, np.uint32)
    Module(ptx).get_function("k")((2,), (64,), (found,))
    return [int(value) for value in found]


def assembles(ptx: str, folder: Path) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        return
    file = folder / "k.ptx"
    file.write_text(ptx)
    command = [ptxas, "-arch=sm_80", str(file), "-o", str(folder / "k.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


STACK = "ccc_context_stack"
USE = "	ld.global.u32 %r3, [{}+4];"
TAKEN = {
    "variable": (f".global .u32 {STACK}[4] = {{1, 2, 3, 4}};", "", USE.format(STACK)),
    "in assembly": ("", "", f"{{ .reg .b32 {STACK}; mov.b32 {STACK}, 9; mov.b32 %r3, {STACK}; }}"),
    "label": (
        ".global .u32 $ccc_collect_0[4] = {1, 2, 3, 4};", "",
        USE.format("$ccc_collect_0") + "\n	bra $ccc_pop_0;\n$ccc_pop_0:",
    ),
    "function": (
        ".func (.param .b32 r) $ccc_taken_0()\n{\n	st.param.b32 [r], 5;\n	ret;\n}", "",
        "{ .param .b32 v; call (v), $ccc_taken_0, (); ld.param.b32 %r3, [v]; }",
    ),
    "range": (
        "", "	.reg .f32 %ccc_b32_<4>;",
        "	mov.f32 %ccc_b32_1, 0f40000000;\n	mov.b32 %r3, %ccc_b32_1;",
    ),
    "register": (
        "", "	.reg .b32 %ccc_b32_1;\n	.reg .b64 %ccc_has_0;",
        "	mov.b32 %ccc_b32_1, 6;\n	mov.b32 %r3, %ccc_b32_1;\n	cvt.u64.u32 %ccc_has_0, %r3;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TAKEN)
def test_names_of_the_user_stay_his(kind: str, tmp_path: Path) -> None:
    text = kernel(*TAKEN[kind])
    done = transform(text, filename="k.ptx")
    assert done.report["kernels"][0]["paths"][0]["applied"]
    assert results(done.ptx) == results(text)
    assembles(done.ptx, tmp_path)
    assembles(count(text), tmp_path)
    assert results(count(text)) == results(text)


def test_names_that_are_only_declared_are_taken_too(tmp_path: Path) -> None:
    text = kernel(f".extern .global .u32 {STACK}[4];", "", f"	mov.u64 %rd4, {STACK};")
    done = transform(text, filename="k.ptx")
    assert f"{STACK}1[" in done.ptx
    listing = tmp_path / "k.ptx"
    listing.write_text(done.ptx)
    if ptxas := shutil.which("ptxas"):
        command = [ptxas, "-c", "-arch=sm_80", str(listing), "-o", str(tmp_path / "k.o")]
        done_too = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done_too.returncode == 0, done_too.stderr


def test_counters_of_grid_stride_and_what_a_block_is_told(tmp_path: Path) -> None:
    module = ".global .u32 ccc_counters_k[4] = {1, 2, 3, 4};\n.shared .u32 ccc_next_block;"
    text = kernel(module, GRID_STRIDE + "	st.shared.u32 [ccc_next_block], 1;\n	bar.sync 0;",
                  USE.format("ccc_counters_k"))  # fmt: skip
    ptx = transform(text, filename="k.ptx", registers={"k": 32}).ptx
    assert "ccc_counters_k1[" in ptx
    assert "ccc_next_block1;" in ptx
    assert results(ptx) == results(text)
    assembles(ptx, tmp_path)


def test_counts_in_local_memory_have_a_name_of_their_own(tmp_path: Path) -> None:
    text = kernel(".global .u32 ccc_profile_counts[4] = {1, 2, 3, 4};", "",
                  USE.format("ccc_profile_counts"))  # fmt: skip
    ptx = count(text)
    assert results(ptx) == results(text)
    assembles(ptx, tmp_path)


@pytest.mark.parametrize("name", [profile.COUNTERS, profile.TABLE, profile.DESCRIPTOR])
def test_what_is_found_by_its_name_must_be_free(name: str) -> None:
    with pytest.raises(CccError, match=f"what counts is called {name}: rename that"):
        count(kernel(f".global .u32 {name}[4];"))


def test_names_do_not_change_without_need() -> None:
    done = transform(kernel(), Options(strategy="queue"), filename="k.ptx").ptx
    assert f".b8 {STACK}[" in done
    assert all(f"%ccc_{name}_<" in done for name in ("b32", "top"))
    assert all(f"$ccc_{name}_0:" in done for name in ("collect", "pushed", "again"))


def test_a_name_that_was_given_is_not_given_for_another() -> None:
    names = Names("counters_a")
    assert [names.free(name) for name in ("counters_a", "counters_a1", "counters_a")] == [
        "counters_a1", "counters_a11", "counters_a1",
    ]  # fmt: skip


CALLEE = """.func (.param .b32 r) helper(.param .b32 a)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<3>;
	.reg .pred %p<3>;
	ld.param.u32 %r1, [a];
	setp.lt.u32 %p1, %r1, 100;
	@%p1 bra SMALL;
	// ccc.then 2 k.cu:2:2
	mov.u64 %rd1, table;
	ld.global.u32 %r2, [%rd1+4];
	add.s32 %r1, %r1, %r2;
SMALL:
	st.param.b32 [r], %r1;
	ret;
}
"""


def test_what_a_function_names_is_not_another_thing_where_it_is_inlined() -> None:
    module = ".global .u32 table[4] = {1, 2, 3, 4};\n" + CALLEE
    call = """	{ .param .b32 v; .param .b32 w; st.param.b32 [v], %r1; call (w), helper, (v);
	ld.param.b32 %r3, [w]; }"""
    plain = kernel(module, "", call).replace("	// ccc.then 2 k.cu:2:2\n	mul", "	mul")
    shadowed = plain.replace("	mov.u32 %r3, 7;", "	.shared .u32 table;\n	mov.u32 %r3, 7;")
    for text, inlines in ((plain, True), (shadowed, False)):
        done = transform(text, filename="k.ptx")
        body = done.ptx[done.ptx.index(".entry") :]
        assert ("helper" not in body) == inlines
        assert results(done.ptx) == results(text)
        assert re.search(r"\btable\b", body)
