"""Functions of other files of which the source promises that paths may call them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ccc.cli import main
from ccc.compiler.transform import Transformed, transform
from ccc.emulator import Module
from ccc.ir.markers import PROMISE

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
OTHER = """\
.extern .func (.param .b32 r) other(.param .b64 p, .param .b32 n);
"""
DEFINED = """\
.visible .func (.param .b32 r) other(.param .b64 p, .param .b32 n)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    st.u32 [%rd1], %r1;
    mad.lo.u32 %r2, %r1, %r1, 7;
    st.param.b32 [r], %r2;
    ret;
}
"""
VARIABLE = f".visible .global .align 8 .u64 _Z{PROMISE}1 = other;\n"
KERNEL = """\
.visible .entry k(.param .u32 n, .param .u64 x, .param .u64 y, .param .u64 z)
.maxntid 64, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [z];
    mov.u32 %r2, %tid.x;
    // ccc.loop 1 k.cu:1:1
LOOP:
    // ccc.for 1 k.cu:1:1
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, INDEX;
    ld.global.u32 %r3, [%rd5];
    rem.u32 %r4, %r3, 3;
    setp.ne.s32 %p1, %r4, 0;
    @%p1 bra JOIN;
    // ccc.then 2 k.cu:2:1
    {
    .param .b64 a;
    .param .b32 b;
    .param .b32 c;
    st.param.b64 [a], %rd7;
    st.param.b32 [b], %r3;
    call (c), CALLEE, (a, b);
    ld.param.b32 %r5, [c];
    }
    st.global.u32 [%rd6], %r5;
JOIN:
    add.s32 %r2, %r2, 64;
    setp.lt.u32 %p2, %r2, %r1;
    @%p2 bra LOOP;
    ret;
}
"""


def made(head: str, index: str = "%rd4") -> Transformed:
    kernel = KERNEL.replace("CALLEE", "other").replace("INDEX", index)
    return transform(head + kernel, strategy="queue")


def reasons(done: Transformed) -> list[str]:
    (kernel,) = done.report["kernels"]
    return [path["reason"] for path in kernel["paths"]]


def run(ptx: str) -> list[np.ndarray]:
    generator = np.random.default_rng(1)
    arrays = [generator.integers(0, 99, 500, np.uint32), *np.zeros((2, 500), np.uint32)]
    Module(ptx).get_function("k")((1,), (64,), (np.uint32(500), *arrays), schedule=3)
    return arrays


def test_a_function_that_is_promised_is_called_in_a_path() -> None:
    done = made(HEAD + OTHER + VARIABLE)
    assert reasons(done) == [None]
    assert PROMISE not in done.ptx
    after = done.ptx.replace(OTHER, DEFINED)
    original = re.sub(r"// ccc.*", "", HEAD + DEFINED + KERNEL)
    original = original.replace("CALLEE", "other").replace("INDEX", "%rd4")
    for one, other in zip(run(original), run(after), strict=True):
        assert (one == other).all()


def test_a_list_of_paths_counts_on_the_promise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HEAD + OTHER + VARIABLE + KERNEL.replace("CALLEE", "other").replace("INDEX", "%rd4")
    (tmp_path / "k.ptx").write_text(text)
    assert main(["graph", str(tmp_path / "k.ptx")]) == 0
    assert capsys.readouterr().out == "1: k.cu:2:1 if (then) in k: collectable\n"


def test_without_a_promise_it_may_do_anything() -> None:
    (reason,) = reasons(made(HEAD + OTHER))
    assert "promise that before its declaration: #pragma ccc callable" in reason


def test_the_variable_is_taken_out_where_nothing_is_annotated() -> None:
    assert transform(HEAD + OTHER + VARIABLE).ptx == HEAD + OTHER


def test_what_it_is_given_may_be_the_same_in_all_iterations() -> None:
    mine = "0; mov.u32 %r6, %tid.x; mul.wide.u32 %rd8, %r6, 4; add.s64 %rd7, %rd3, %rd8"
    (reason,) = reasons(made(HEAD + OTHER + VARIABLE, mine))
    assert "all iterations of the loop use the same memory" in reason


@pytest.mark.parametrize("name", ["another", f"not_{PROMISE}", ""])
def test_only_what_is_promised(name: str) -> None:
    variable = VARIABLE.replace("other", name) if name else ""
    (reason,) = reasons(made(HEAD + OTHER + variable))
    assert "the annotated loop calls other" in reason
