"""Recursive functions, and functions that nvcc did not inline, beyond what the goldens show."""

from __future__ import annotations

from pathlib import Path

import pytest
from collecting import transform
from emulating import needs_nvcc
from folders import GOLDEN
from goldens import Golden

from ccc.analysis.callees import Callees
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Refused
from ccc.analysis.paths.tail_calls import tail_calls
from ccc.emulator import Module
from ccc.harness.equivalence import Launch, difference, run
from ccc.nvcc import command as driver
from ccc.parse import parse_function, parse_module

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


def golden(name: str) -> Golden:
    return Golden.read(GOLDEN / "recursion" / f"{name}.ptx")


def function_with(
    body: str, *, result: str = ".b32", parameter: str = ".b32", before: str = ""
) -> str:
    """A function that calls itself; ``body`` comes behind the test that ends the recursion."""
    return (
        f"{HEADER}.func (.param {result} func_retval0) f(.param {parameter} f_param_0)\n{{\n"
        ".reg .pred %p; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n"
        f"{before}ld.param.u32 %r0, [f_param_0];\nsetp.eq.u32 %p, %r0, 0;\n@%p bra DONE;\n"
        f"{{ .param {parameter} param0; .param {result} retval0;\n{body} }}\n"
        "DONE: mov.u32 %r1, 7;\nEND: st.param.b32 [func_retval0], %r1;\nret;\n}\n"
    )


CALL = "st.param.b32 [param0], %r0; call.uni (retval0), f, (param0); ld.param.b32 %r1, [retval0];"


def look(ptx: str, name: str = "f") -> int:
    """How many calls become jumps."""
    functions = {piece.name: parse_function(piece) for piece in parse_module(ptx).functions}
    return len(tail_calls(Facts(functions[name], Callees(functions.get))))


def reason(ptx: str) -> str:
    with pytest.raises(Refused) as refused:
        look(ptx)
    return str(refused.value)


@pytest.mark.parametrize(
    "behind",
    [
        "bra END;",
        "mov.u32 %r2, %r1; mov.u32 %r1, %r2; bra.uni END;",
        "mov.b32 %f1, %r1; mov.b32 %r1, %f1; bra END;",
        "add.u32 %r3, %r1, 1; bra END;",  # nobody reads it
        "st.param.b32 [func_retval0], %r1; ret;",
        "bra NEXT; NEXT: bra END;",
    ],
)
def test_what_may_follow_a_tail_call(behind: str) -> None:
    assert look(function_with(f"{CALL} {behind}")) == 1


@pytest.mark.parametrize(
    "behind",
    [
        "add.u32 %r1, %r1, 1; bra END;",
        "mov.u32 %r1, %r0; bra END;",
        "cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r1, %h1; bra END;",  # the other result is not cut
        "and.b32 %r1, %r1, 255; bra END;",
        "@%p mov.u32 %r1, 3; bra END;",
        "@%p bra END; bra END;",
        "st.global.u32 [%d1], %r0; bra END;",
        "ld.global.u32 %r2, [%d1]; bra END;",
        "bar.sync 0; bra END;",
        "exit;",
        "FOREVER: bra FOREVER;",
        "mov.b32 {%h1, %h2}, %r1; mov.b32 %r1, {%h2, %h1}; bra END;",
    ],
)
def test_what_may_not_follow_it(behind: str) -> None:
    assert reason(function_with(f"{CALL} {behind}")).startswith("the function still calls itself")


@pytest.mark.parametrize(
    ("extend", "same"),
    [
        ("cvt.u16.u32 %h1, %r2; cvt.s32.s16 %r1, %h1;", True),
        ("cvt.u16.u32 %h1, %r2; cvt.u32.u16 %r1, %h1;", True),
        ("cvt.u16.u32 %h1, %r2; cvt.u32.u16 %r3, %h1; cvt.s32.s8 %r1, %r3;", True),
        ("and.b32 %r1, %r2, 255;", True),
        ("and.b32 %r1, %r2, 254;", False),
        ("cvt.sat.s32.s8 %r1, %r2;", False),
        ("shr.u32 %r1, %r2, 1;", False),
        ("selp.u32 %r1, 1, 0, %p;", False),
    ],
)
def test_a_result_that_every_return_extends(extend: str, same: bool) -> None:
    ptx = function_with(f"{CALL.replace('%r1', '%r2')} bra END;").replace("%r1, 7", "%r2, 7")
    ptx = ptx.replace("END: st", f"END: {extend} st")
    if same:
        assert look(ptx) == 1
    else:
        assert reason(ptx).startswith("the function still calls itself")


@pytest.mark.parametrize(
    ("made", "same"),
    [
        ("and.b32 %r1, %r0, 127;", True),
        ("selp.u32 %r1, 1, 0, %p;", True),
        ("cvt.s32.s8 %r1, %r0;", True),
        ("and.b32 %r1, %r0, 255;", False),
        ("cvt.s32.s16 %r1, %h0;", False),
        ("mov.u32 %r1, 200;", False),
    ],
)
def test_a_result_that_was_extended_elsewhere(made: str, same: bool) -> None:
    again = "cvt.s32.s8 %r4, %r2; st.param.b32 [func_retval0], %r4; ret;"
    ptx = function_with(f"{CALL.replace('%r1', '%r2')} {again}").replace("mov.u32 %r1, 7;", made)
    if same:
        assert look(ptx) == 1
    else:
        assert reason(ptx).startswith("the function still calls itself")


def test_a_guarded_call_is_none_in_tail_position() -> None:
    ptx = function_with(f"{CALL} bra END;".replace("call.uni", "@%p call"))
    assert reason(ptx).startswith("the function still calls itself")


@pytest.mark.parametrize(
    "stores",
    [
        "st.param.b16 [param0], %h1; st.param.b16 [param0+2], %h2;",
        "@%p st.param.b32 [param0], %r0;",
        "mov.u64 %d1, param0; st.param.b32 [param0], %r0;",
        "st.param.b32 [param0], %r0; add.u32 %r0, %r0, 1;",
    ],
)
def test_parameters_that_cannot_be_registers(stores: str) -> None:
    call = CALL.replace("st.param.b32 [param0], %r0;", stores)
    assert reason(function_with(f"{call} bra END;")).startswith("the function takes its parameters")


def test_an_own_array_may_be_used_but_not_handed_on() -> None:
    own = ".local .b8 array[8]; mov.u64 %d1, array; st.local.u32 [%d1], %r3;\n"
    assert look(function_with(f"{CALL} bra END;", before=own)) == 1
    call = CALL.replace("b32 [param0], %r0", "b64 [param0], %d1")
    ptx = function_with(f"{call} bra END;", before=own, parameter=".b64")
    ptx = ptx.replace("ld.param.u32 %r0, [f_param_0]", "ld.param.u64 %d0, [f_param_0]")
    assert reason(ptx).startswith("the function hands on the address of an array of its own")


def test_a_longer_circle_is_mutual_recursion() -> None:
    others = "".join(
        f".func {name}() {{ call {to}, (); ret; }}\n" for name, to in (("g", "h"), ("h", "f"))
    )
    ptx = f"{HEADER}.func f() {{ call g, (); ret; }}\n{others}"
    assert reason(ptx).startswith("the function calls itself through g: mutual recursion")


def test_what_is_inlined_stays_for_others() -> None:
    one = golden("recursion_in_between")
    function = one.before[one.before.index(".func") : one.before.index(".visible .entry")]
    assert function in one.after
    assert one.after.count("call.uni") == one.before.count("call.uni") - 1  # the one in the loop


def test_a_function_that_is_inlined_has_no_records_of_its_own() -> None:
    one = golden("recursion_in_between")
    inside, kernel = one.transform().report["kernels"]
    assert (inside["paths"], kernel["name"]) == ([], "k")
    assert [path["directive"] for path in kernel["paths"] if path["applied"]]


def test_a_call_is_not_inlined_for_a_path_that_is_refused() -> None:
    before = golden("recursion_not_inlined").before
    synchronized = before.replace("// ccc.recursion", "bar.warp.sync -1;\n\t// ccc.recursion")
    result = transform(synchronized)
    assert result.ptx == synchronized
    (path,) = [path for kernel in result.report["kernels"] for path in kernel["paths"]]
    assert path["reason"].startswith("there is a warp-collective in the annotated loop")


def test_one_call_stays_where_another_is_collected() -> None:
    """Two functions in one loop; what one of them brings along would be in the way of the other."""
    before = golden("recursion_not_inlined").before
    start = before.index(".func")
    function = before[start : before.index(".visible .entry")]
    other = function.replace("_Z7collatzjj", "other").replace("recursion 1", "then 9")
    other = other.replace("ret;", "trap;\n\tret;")
    call = before[before.index("{ // callseq") : before.index("} // callseq") + 1]
    second = call.replace("_Z7collatzjj", "other")
    ptx = before.replace(function, function + other).replace(call, f"{call}\n{second}")
    result = transform(ptx)
    reasons = {p["directive"]: p["reason"] for k in result.report["kernels"] for p in k["paths"]}
    assert reasons["recursion"] is None
    assert reasons["if"]
    kernel = result.ptx[result.ptx.index(".visible .entry") :]
    assert "other" in kernel
    assert "_Z7collatzjj" not in kernel
    assert result.ptx.startswith(ptx[: ptx.index(".visible .entry")])


def test_a_function_with_shared_memory_of_its_own_is_not_copied() -> None:
    before = golden("recursion_not_inlined").before
    ptx = before.replace("\t.reg .pred", "\t.shared .b32 own;\n\t.reg .pred", 1)
    result = transform(ptx)
    assert result.ptx == ptx
    assert "was not inlined" in result.diagnostics[0]


PROGRAM = """
#include <cstdio>
#pragma ccc recursion
__device__ unsigned collatz(unsigned a, unsigned steps) {
    if (a <= 1) return steps;
    return collatz(a & 1 ? 3 * a + 1 : a / 2, steps + 1);
}
__global__ void k(int n, unsigned *y) {
    #pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = collatz(i + 1, 0);
}
int main() {
    unsigned *y;
    cudaMallocManaged(&y, 4000);
    k<<<2, 64>>>(1000, y);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1000; ++i) printf("%u ", y[i]);
}
"""


@pytest.mark.long
@needs_nvcc
@pytest.mark.parametrize("options", [["-lineinfo", "-rdc=true"], ["-Xcicc", "-O0"], ["-Ofc=max"]])
def test_a_whole_program(options: list[str], tmp_path: Path) -> None:
    source = tmp_path / "program.cu"
    source.write_text(PROGRAM)
    command = ["-arch=sm_90", "--ccc-strategy=collect", *options, str(source)]
    report = tmp_path / "report.json"
    strict = ["--ccc-strict", f"--ccc-report={report}"]
    assert driver.main([*command, "-o", str(tmp_path / "program"), *strict]) == 0
    assert (tmp_path / "program").exists()
    assert '"applied": true' in report.read_text()
    texts = []
    for off in ([], ["--ccc-off"]):
        ptx = tmp_path / "program.ptx"
        assert driver.main([*command, "-ptx", "-o", str(ptx), *off]) == 0
        texts.append(ptx.read_text())
    launch = Launch.parse("// run: grid=2 block=64 args=s32:300 u32[300]=0")
    after, before = (run(Module(text), "_Z1kiPj", launch)[0] for text in texts)
    assert difference(before, after) is None
