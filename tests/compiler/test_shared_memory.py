"""How much shared memory a kernel has, so that the stack fits beside it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from breadth import one_in
from collecting import transform
from folders import GOLDEN
from goldens import Golden
from small_kernel import kernel

from ccc import cli
from ccc.compiler.transform import Transformed
from ccc.emulator import EmulatorError, Module
from ccc.errors import CccError
from ccc.ptx.dynamic_stack import shares
from ccc.toolkit import find as toolchain

pytestmark = pytest.mark.usefixtures("few_headers")

LIMIT = 48 * 1024
STACK = 4 * 32 * 2
"""The least for a path with one context word, for the two warps of a block of 64 threads."""
EXTERN = ".extern .func other();\n"
OTHER = """.visible .func other()
{
	.shared .align 4 .b8 own[@N];
	st.shared.u8 [own], 1;
	ret;
}
"""


def path(text: str, **options: Any) -> dict[str, Any]:
    (found,) = transform(text, filename="k.ptx", **options).report["kernels"][0]["paths"]
    return dict(found)


def uses(*names: str) -> str:
    return "".join(f"	st.shared.u8 [{name}], 1;\n" for name in names)


def test_functions_that_are_not_in_the_file_may_have_any() -> None:
    reason = path(kernel(EXTERN, "	call other, ();"))["reason"]
    assert reason.startswith("the kernel calls other, whose shared memory is not seen here")
    assert "--ccc-callee-shared=N" in reason
    through = "	mov.u64 %rd5, 0;\nP: .callprototype _ ();\n	call %rd5, (), P;"
    reason = path(kernel("", through))["reason"]
    assert reason.startswith("the kernel calls a function through a pointer, whose shared memory")
    inner = ".func f()\n{\n	call other, ();\n	ret;\n}\n"
    assert "calls other, whose" in path(kernel(EXTERN + inner, "	call f, ();"))["reason"]


def test_what_they_have_at_most_can_be_said() -> None:
    text = kernel(EXTERN, "	call other, ();")
    assert path(text, callee_shared=LIMIT - STACK)["applied"]
    reason = path(text, callee_shared=LIMIT - STACK + 1)["reason"]
    assert "does not fit into shared memory" in reason


def test_what_only_some_lanes_call_may_wait_for_the_others() -> None:
    lanes = "	mov.u32 %r5, %tid.x;\n	setp.ne.s32 %p3, %r5, 0;\n	@!%p3 bra ALL;\n"
    call = f"{lanes}	call other, ();\nALL:\n"
    reason = path(kernel(EXTERN, call), callee_shared=0)["reason"]
    assert reason.startswith("some lanes call other before the annotated loop")
    assert path(kernel(EXTERN, f"{call}	bar.warp.sync -1;\n"), callee_shared=0)["applied"]
    harmless = ".func other()\n{\n	ret;\n}\n"
    assert path(kernel(harmless, call))["applied"]
    meets = ".func other()\n{\n	bar.warp.sync -1;\n	ret;\n}\n"
    reason = path(kernel(meets, call))["reason"]
    assert reason.startswith("some lanes call other before the annotated loop")


def test_the_system_has_none() -> None:
    module = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    call = """	mov.u64 %rd5, 0;
	{ .param .b64 a; .param .b64 b; .param .b32 r;
	st.param.b64 [a], %rd5; st.param.b64 [b], %rd5; call (r), vprintf, (a, b); }"""
    assert path(kernel(module, call))["applied"]


def test_neither_has_a_launch_from_a_kernel() -> None:
    module = ".extern .func __cudaCDP2LaunchDeviceV2();\n"
    assert path(kernel(module, "	call __cudaCDP2LaunchDeviceV2, ();"))["applied"]


def test_what_functions_of_the_file_have_counts() -> None:
    fits = OTHER.replace("@N", str(LIMIT - STACK))
    assert path(kernel(fits, "	call other, ();"))["applied"]
    large = OTHER.replace("@N", str(LIMIT - STACK + 1))
    assert "does not fit" in path(kernel(large, "	call other, ();"))["reason"]


def test_what_other_kernels_have_does_not() -> None:
    module = f".shared .align 4 .b8 theirs[{LIMIT}];\n.shared .align 4 .b8 ours[512];\n"
    other = ".visible .entry other()\n{\n	st.shared.u8 [theirs], 1;\n	ret;\n}\n"
    assert path(kernel(module + other, uses("ours")))["applied"]
    assert "does not fit" in path(kernel(module + other, uses("theirs")))["reason"]


def test_arrays_of_other_files_count_with_their_size() -> None:
    module = f".extern .shared .align 4 .b8 theirs[{LIMIT - STACK + 4}];\n"
    assert "does not fit" in path(kernel(module, uses("theirs")))["reason"]
    assert path(kernel(module))["applied"]


@pytest.mark.parametrize(
    ("blocks", "used", "applied"), [(16, 0, True), (16, 9300, False), (17, 9999, True)]
)
def test_as_many_blocks_have_room_as_the_author_wants_at_once(
    blocks: int, used: int, applied: bool
) -> None:
    """Of 164 KB one of 16 gets 10,496 bytes, less 1 KB; of those that never had room each may grow.

    Blocks that wait for one another, at a barrier of the whole grid, stand still if some of them
    are not resident.
    """
    own = f".shared .align 4 .b8 own[{used}];\n" if used else ""
    text = kernel(own, uses("own") if used else "")
    text = text.replace(".maxntid", f".minnctapersm {blocks}\n.maxntid")
    found = path(text)
    assert found["applied"] == applied
    if not applied:
        assert f"gets 9472, as {blocks} are to have room at once" in found["reason"]


@pytest.mark.parametrize(
    ("alignment", "declared"), [(4, 512), (16, 512), (256, 1024), (2048, 2048)]
)
def test_what_is_added_does_not_part_arrays_that_begin_at_one_place(
    alignment: int, declared: int
) -> None:
    """ptxas 13.0 aligns each for itself, behind what is static."""
    one = f".extern .shared .align {alignment} .b8 one[];\n"
    text = kernel(f"{one}.extern .shared .align 4 .b8 other[];\n", uses("one", "other"))
    done = transform(text, strategy="queue", dynamic_shared=64)
    assert f"ccc_context_stack[{declared}]" in done.ptx


def test_what_is_added_does_not_move_arrays_of_other_files() -> None:
    """One may be aligned there, and begins at a whole KB where nothing is added."""
    text = kernel(EXTERN, "	call other, ();")
    for dynamic, declared in ((0, 512), (64, 1024)):
        done = transform(text, strategy="queue", callee_shared=0, dynamic_shared=dynamic)
        assert f"ccc_context_stack[{declared}]" in done.ptx


def test_stacks_for_some_warps_are_never_what_launches_add() -> None:
    """These add one for each warp of theirs, and blocks of 1,024 threads would not get so much."""
    golden = Golden.read(GOLDEN / "context-collection/blocks_without_stacks.ptx")
    for limit, placement in ((MOST, "dynamic"), (64 * 1024, "static")):
        done = transform(golden.before, strategy="queue", shared_limit=limit)
        (found,) = done.report["kernels"][0]["paths"]
        assert found["placement"] == placement
        assert found.get("stack_threads") == (256 if placement == "static" else None)
        assert bool(shares(done.ptx)) == (placement == "dynamic")


MOST = 227 * 1024
"""Of a block on the architecture that the dynamic tests are for."""


def grown(module: str = "", before: str = "", **options: Any) -> Transformed:
    """The small kernel with so much static memory that its stack is in dynamic memory."""
    own = f".shared .align 4 .b8 full[{LIMIT}];\n{module}"
    text = kernel(own, uses("full") + before).replace("sm_80", "sm_90")
    return transform(text, filename="k.ptx", shared_limit=MOST, **options)


def test_a_stack_may_be_dynamic_where_launches_ask_for_more() -> None:
    done = grown(strategy="queue")
    (found,) = done.report["kernels"][0]["paths"]
    assert (found["placement"], found["stack_bytes"]) == ("dynamic", 2 * STACK)
    assert shares(done.ptx) == {"k": STACK}
    assert found["dynamic_bytes_added"] == 2 * STACK + 16
    few = path(kernel(), shared_limit=MOST, strategy="queue")
    assert (few["placement"], few["stack_bytes"], few["dynamic_bytes_added"]) == (
        "static", 2 * STACK, 0,
    )  # fmt: skip


def test_a_block_gets_no_more_than_is_said_and_the_device_has() -> None:
    assert (
        "gets 49152); say --ccc-shared-limit="
        in path(kernel(f".shared .align 4 .b8 full[{LIMIT}];\n", uses("full")))["reason"]
    )
    merged = grown(dynamic_shared=0, module=".extern .shared .align 16 .b8 mine[];\n")
    assert shares(merged.ptx)
    for limit, placement in ((LIMIT + STACK + 16, "merge"), (LIMIT + 2 * STACK + 16, "queue")):
        text = kernel(f".shared .align 4 .b8 full[{LIMIT}];\n", uses("full"))
        assert path(text, shared_limit=limit)["strategy"] == placement
    text = kernel(f".shared .align 4 .b8 full[{LIMIT}];\n", uses("full"))
    assert "does not fit" in path(text, shared_limit=LIMIT + STACK + 15)["reason"]
    small = kernel("", "").replace("64, 1, 1", "1024, 1, 1").replace("sm_80", "sm_75")
    assert path(small, shared_limit=2048)["applied"] is False
    mine = ".extern .shared .align 4 .b8 mine[];\n"
    asks = kernel(mine, uses("mine")).replace("sm_80", "sm_75")
    assert path(asks, shared_limit=MOST, dynamic_shared=64 * 1024 - STACK)["applied"]
    assert not path(asks, shared_limit=MOST, dynamic_shared=64 * 1024)["applied"]


@pytest.mark.parametrize(
    ("module", "before"),
    [
        ("", "	mov.u32 %r5, %dynamic_smem_size;\n"),
        (".extern .func __cudaCDP2LaunchDeviceV2();\n", "	call __cudaCDP2LaunchDeviceV2, ();\n"),
        (EXTERN, "	call other, ();\n"),
    ],
    ids=["asks how much there is", "launches", "calls what is not seen"],
)
def test_what_may_see_that_there_is_more_keeps_its_stack_static(module: str, before: str) -> None:
    done = grown(module, before, callee_shared=0)
    (found,) = done.report["kernels"][0]["paths"]
    assert "does not fit" in found["reason"]
    assert "--ccc-shared-limit" not in found["reason"]


def test_all_arrays_without_a_size_begin_at_one_place() -> None:
    theirs = ".extern .shared .align 128 .b8 theirs[];\n"
    done = grown(theirs, uses("theirs"), dynamic_shared=64)
    assert ".extern .shared .align 128 .b8 ccc_context_stack[];" in done.ptx


def test_a_launch_that_does_not_add_them_ends() -> None:
    done = grown()
    out = np.zeros(640, np.int32)
    Module(done.ptx).get_function("k")((1,), (64,), (out,), shared_mem=3)
    assert list(out[:5]) == [7, 0, 0, 0, 7]
    bare = done.ptx.replace("// ccc_dynamic_stack", "// nobody reads this:")
    with pytest.raises(EmulatorError, match="trap was reached"):
        Module(bare).get_function("k")((1,), (64,), (out,), shared_mem=3)


EDGES = (
    [(1, 1), (16, 32), (1, 1), (8, 8)],
    [(1, 3), (2, 2), (4, 4), (1, 1), (16, 16), (1, 5)],
    [(128, 4), (1, 1), (4, 4)],
    [(4, 4)],
)


@pytest.mark.slow
@pytest.mark.parametrize(("variables", "inside"), one_in(3, product(EDGES, [False, True])))
def test_with_the_stack_there_is_never_more_than_a_block_has(
    variables: list[tuple[int, int]], inside: bool, tmp_path: Path
) -> None:
    """Whatever the assembler puts between the variables, at every size of the last one."""
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("there is no ptxas")
    taken = []
    for rest in range(LIMIT - STACK - 640, LIMIT - STACK, 16):
        listed = [*variables, (1, rest - 3)]
        names = [f"v{number}" for number in range(len(listed))]
        declared = "".join(
            f".shared .align {alignment} .b8 {name}[{size}];\n"
            for name, (alignment, size) in zip(names, listed, strict=True)
        )
        where = ("", declared + uses(*names)) if inside else (declared, uses(*names))
        done = transform(kernel(*where), filename="k.ptx")
        if done.report["kernels"][0]["paths"][0]["applied"]:
            taken.append(done.ptx)
    assert taken
    file = tmp_path / "k.ptx"
    file.write_text(taken[-1])
    command = [ptxas, "-v", "-arch=sm_90", str(file), "-o", str(tmp_path / "k.cubin")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found = re.search(r"(\d+) bytes smem", result.stderr)
    assert found is not None
    assert LIMIT - 1024 < int(found[1]) <= LIMIT


USER = """extern __device__ unsigned before(unsigned);
extern "C" __global__ void big(unsigned *out, int n) {
    unsigned k = before(n);
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (i % 3 == 0) out[i] = k * i;
    }
}
"""
THEIRS = """__device__ unsigned before(unsigned n) {
    __shared__ unsigned table[11000];
    for (int i = threadIdx.x; i < 11000; i += blockDim.x) table[i] = i * n;
    __syncthreads();
    return table[n % 11000];
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "applied"),
    one_in(2, [("--ccc-callee-shared=44000", True), ("--ccc-max-block=1024", False)]),
)
def test_what_nvcc_links_links(
    option: str, applied: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text(USER)
    Path("b.cu").write_text(THEIRS)
    report = "--ccc-report=report.json"
    more = ["--ccc-strategy=collect", *(["--ccc-max-block=32"] if applied else []), option]
    command = ["-rdc=true", "-arch=sm_90", "-dlink", "-cubin", "-o", "linked.cubin"]
    for name in ("a", "b"):
        assert cli.cccc(["-rdc=true", "-arch=sm_90", "-c", f"{name}.cu", report, *more]) == 0
        if name == "a":
            (path,) = json.loads(Path("report.json").read_text())["kernels"][0]["paths"]
            assert path["applied"] == applied
    assert cli.cccc([*command, "a.o", "b.o"]) == 0
    assert Path("linked.cubin").stat().st_size
