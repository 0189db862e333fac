"""The pipeline as a function."""

from __future__ import annotations

from pathlib import Path

import pytest
from collecting import transform
from emulating import needs_nvcc
from folders import ERRORS, GOLDEN
from goldens import Golden

import ccc
from ccc.analysis import facts
from ccc.analysis.divergence import Divergence
from ccc.analysis.paths.model import without_places
from ccc.compiler.module import literals
from ccc.compiler.said import DevicePass
from ccc.compiler.unit import transform_file
from ccc.errors import CccError
from ccc.options import COLLECT, Options
from ccc.parse import parse_module, parse_variables
from ccc.ptx.occupancy import occupancy
from ccc.toolkit.find import find
from ccc.toolkit.ptxas import resources

pytestmark = pytest.mark.usefixtures("few_headers")


def golden(name: str) -> Golden:
    return Golden.read(GOLDEN / "context-collection" / f"{name}.ptx")


def refused(name: str) -> Golden:
    return Golden.read(ERRORS / f"{name}.ptx")


def test_ptx_without_markers_goes_through() -> None:
    text = "this is not even PTX"
    assert ccc.transform(text).ptx is text


def test_code_around_a_marked_function_goes_through() -> None:
    before = golden("grid_stride").before
    odd = "\n// a comment { with a brace\n.visible .func odd()\n{ /* } */ ret;  }\n"
    result = transform(before + odd)
    assert result.ptx.endswith(odd)
    assert result.ptx != before + odd


def test_the_report_says_what_was_done() -> None:
    (kernel,) = transform(golden("two_loops").before).report["kernels"]
    assert kernel["name"] == "k"
    first, second = kernel["paths"]
    assert (first["directive"], first["arm"], first["line"]) == ("if", "then", 6)
    assert first["applied"]
    assert first["reason"] is None
    assert first["strategy"] == "batch7"
    saved = [register["type"] for register in first["context"]]
    assert (saved, first["shared_bytes_per_thread"]) == (["b32"], 32)
    assert {register["type"] for register in first["compressed"]} == {"b64"}
    assert second["applied"]


def test_strict_raises_where_a_path_is_left() -> None:
    with pytest.raises(CccError, match=r"barrier.cu:6:1: error: path left as it was: there is a"):
        transform(refused("barrier").before, strict=True)


def test_a_promised_block_size_is_enforced() -> None:
    large = golden("blocks_without_stacks").before
    result = transform(large, max_block=256)
    (path,) = result.report["kernels"][0]["paths"]
    assert path["applied"]
    assert "stack_threads" not in path
    assert ".maxntid 256, 1, 1" in result.ptx


def test_where_stacks_for_any_block_do_not_fit_large_ones_have_none() -> None:
    result = transform(golden("blocks_without_stacks").before)
    (path,) = result.report["kernels"][0]["paths"]
    assert path["applied"]
    assert path["stack_threads"] == 256
    assert ".maxntid" not in result.ptx


def test_launch_bounds_size_the_stack() -> None:
    after = golden("block_of_100").after
    assert "ccc_context_stack[4096]" in after  # 4 warps x 256 entries x one word


def test_printing_after_a_pass() -> None:
    printed = transform(golden("if_else").before, print_after=["context-collection"]).printed
    assert printed.startswith("// after context-collection\n")
    assert "$ccc_collect_0" in printed


def test_nothing_is_transformed_twice() -> None:
    once = transform(golden("grid_stride").before).ptx
    assert transform(once).ptx == once


def test_broken_ptx_is_left_alone_and_told_with_its_place() -> None:
    broken = golden("grid_stride").before.replace("setp.", "setp setp.", 1)
    result = transform(broken, filename="k.ptx")
    assert result.ptx == broken
    assert {"not understood" in one.message for one in result.complaints} == {True}
    assert "k.ptx:" in result.complaints[0].message
    with pytest.raises(CccError, match="not understood"):
        transform(broken, filename="k.ptx", strict=True)


def test_a_loop_is_not_looked_at_again_because_another_was_rewritten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the time to transform a kernel grows with the square of its annotated loops."""
    text = "\n".join(
        f"""\
	mov.u32 %i, %tid.x;
	// ccc.loop {2 * number} k.cu:1:1
L{number}:
	// ccc.for {2 * number} k.cu:1:1
	and.b32 %r, %i, {number + 1};
	setp.eq.s32 %p, %r, 0;
	@%p bra N{number};
	// ccc.then {2 * number + 1} k.cu:3:5
	red.global.add.u32 [%d], %i;
N{number}:
	add.s32 %i, %i, 32;
	setp.lt.s32 %q, %i, %n;
	@%q bra L{number};
"""
        for number in range(6)
    )
    ptx = f"""\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
.maxntid 64, 1, 1
{{
	.reg .b32 %i, %n, %r;
	.reg .b64 %d;
	.reg .pred %p, %q;
	ld.param.u64 %d, [p];
	ld.param.u32 %n, [n];
{text}	ret;
}}
"""
    found = []

    class Counted(Divergence):
        def _run(self) -> None:
            found.append(self)
            super()._run()

    monkeypatch.setattr(facts, "Divergence", Counted)
    paths = transform(ptx).report["kernels"][0]["paths"]
    assert [path["applied"] for path in paths] == [True] * 6
    assert len(found) == 1


def test_a_reason_for_code_that_was_rewritten_points_nowhere() -> None:
    reason = "lanes pass by (PTX line 4: call.uni (a), f, (b);); let all (or none) come"
    assert without_places(reason) == "lanes pass by; let all (or none) come"


def test_options_are_given_whole_or_by_name() -> None:
    large = golden("blocks_without_stacks").before
    asked = Options(max_block=256)
    assert transform(large, asked).ptx == transform(large, max_block=256).ptx
    assert ".maxntid 128, 1, 1" in transform(large, asked, max_block=128).ptx
    with pytest.raises(TypeError, match="max_blok"):
        transform(large, max_blok=256)


@needs_nvcc
def test_what_fits_on_a_multiprocessor_is_told(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(golden("if_else").before)
    for options, block in (
        (Options(measure=True, strategy=COLLECT), 1024),
        (Options(measure=True, strategy=COLLECT, max_block=96), 96),
    ):
        done = DevicePass((str(file), "sm_90"))
        ptx = transform_file(done, options)
        needed = resources(ptx, "sm_90", find().program("ptxas"))["k"]
        details = done.remarks["k"][0].details
        assert details["registers_after"] == needed.registers
        assert details["block_threads"] == block
        fraction = occupancy("sm_90", needed.registers, needed.shared, block).fraction
        assert details["occupancy_after"] == round(fraction, 4)
        before = occupancy("sm_90", details["registers_before"], 0, block).fraction
        assert details["occupancy_before"] == round(before, 4)


def test_a_function_that_no_kernel_calls_is_not_to_be_inlined() -> None:
    """Another file calls it: if it were inlined, nothing would be left that can be called."""
    before = refused("not_inlined").before
    (said,) = transform(before).diagnostics
    assert "into its kernel; declare the function __forceinline__" in said
    alone = before[: before.index(".visible .entry")]
    (said,) = transform(alone).diagnostics
    assert "into its kernel; no kernel of this file calls it: put the function" in said


@pytest.mark.parametrize("values", ["-1, 2000000", "1.5", "other", "97, 98"])
def test_a_variable_may_be_called_as_a_literal_is(values: str) -> None:
    variables = f".global .u32 other;\n.global .align 4 .u32 $strange[2] = {{{values}}};\n"
    named = f".visible .global .align 1 .b8 $str[2] = {{{values}}};\n"
    for text in (variables, named, named.replace(".visible ", "")):
        marked = golden("two_loops").before.replace(".visible .entry", f"{text}.visible .entry")
        assert transform(marked).report["kernels"][0]["paths"][0]["applied"]


@pytest.mark.parametrize(("size", "is_literal"), [(4, True), (5, False), (12, False)])
def test_a_literal_ends_behind_its_text(size: int, is_literal: bool) -> None:
    text = ".version 8.0\n.target sm_90\n.address_size 64\n"
    text += f".global .align 1 .b8 $str[{size}] = {{37, 100, 10}};\n"
    found = literals(parse_variables(parse_module(text)))
    assert found == ({"$str": "%d\n"} if is_literal else {})


PRINTS = """
#include <cstdio>
__global__ void k(const char *format, const int *__restrict__ x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        char text[8] = {char(x[i] & 63), char(x[i] >> 8 & 63), 0};
        #pragma ccc if
        if (x[i] > 6) printf(@, text);
    }
}
"""


@needs_nvcc
@pytest.mark.parametrize(
    ("format_", "hint"),
    [('"%s", ', "in the path, and write there, what it prints"), ("", "with a literal format")],
)
def test_what_is_printed_is_declared_in_the_path(format_: str, hint: str) -> None:
    text = PRINTS.replace("@, ", format_ or "format, ")
    paths = ccc.compile(text, strategy="collect").report["kernels"][0]["paths"]
    assert paths[0]["reason"].endswith(hint)
