"""Launches of blocks that are larger than a kernel has stacks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_code import FOLDER, of_no_folder

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.frontend.marking import Annotated
from ccc.options import Options

SOURCE = """\
const int SIDE = 0x20, T = SIDE * 16; int shared = 1024;
namespace a { __global__ void shade(const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        #pragma ccc if prob(0.1)
        if (v > 0.5f) { for (int k = 0; k < 500; ++k) v = v * v + 3; }
        y[i] = v;
    }
} }
template <int N> __global__ void made();
void run(float *x, float *y, int n, int given) {
    const int threads = n > 3 ? 512 : 256;
    int kept = 1'024u, set = 512, read = 512;
    set = 64, get(&read);
    dim3 block(SIDE, (8)), other = dim3{16, 8, 4}, unknown(n, 512);
    a::shade<<<n, LAUNCHED>>>(x, y, n), made<3><<<1, 512>>>();
}
"""


@pytest.mark.parametrize(
    ("launched", "threads"),
    [
        ("512", 512), ("dim3(SIDE, 2 * SIDE - 32)", 1024), ("T", 512), ("kept", 1024),
        ("block, 0, stream", 256), ("other", 512), ("{16, 64}", 1024), ("0400", 256),
        ("threads", None), ("set", None), ("read", None), ("unknown", None), ("given", None),
        ("shared", None), ("n / 2", None), ("SIDE / 2", 16), ("SIDE / 3", None),
        ("1 << 9", 512), ("SIDE / 0", None), ("dim3(0x1p9999)", None), (" + ".join("1" * 99), None),
    ],
)  # fmt: skip
def test_the_size_of_blocks_is_read_where_it_is_said(launched: str, threads: int | None) -> None:
    source = Annotated(SOURCE.replace("LAUNCHED", launched), "k.cu", {})
    found = [*source.launches(["shade", "made", "run"])]
    expected = [] if threads is None else [("shade", threads, ("k.cu", 17, 0))]
    assert found == expected


@pytest.mark.parametrize(
    "more",
    [
        "namespace b { __global__ void shade(const float *x, float *y, int n) {} }",
        "__global__ void shade(double *x) {}",
        "__global__ void shade(double *x);",
        "template <class F> void call(F shade) { shade<<<1, 64>>>(); }",
        "template <int T = 64> void call() {}",
        "void call(int T = 64) {}",
        "struct R { int T = 64; void call() {} };",
        "enum { T = 64 };",
        "namespace b { const int T = 64; }",
        "auto [T, grid] = pair();",
        "auto call = [T = 64] {};",
        "void call() { int T; }",
    ],
)
def test_of_a_name_with_several_meanings_nothing_is_told(more: str) -> None:
    source = SOURCE.replace("LAUNCHED", "T")
    assert [*Annotated(source, "k.cu", {}).launches(["shade"])]
    assert [*Annotated(f"{source}{more}\n", "k.cu", {}).launches(["shade"])] == []


@pytest.mark.parametrize(
    "change",
    ["kept = 3", "kept++", "get(kept)", "std::cin >> kept", "get(&kept)", "int &other = kept",
     'asm("" : "=r"(kept))', "std::tie(kept, n) = two()", "[&kept] {}()", "R other = kept",
     "decltype(auto) other = (kept)"],
)  # fmt: skip
def test_of_what_may_be_changed_nothing_is_told(change: str) -> None:
    source = SOURCE.replace("LAUNCHED", "kept")
    assert [*Annotated(source, "k.cu", {}).launches(["shade"])]
    changed = source.replace("set = 64,", f"{change};", 1)
    assert [*Annotated(changed, "k.cu", {}).launches(["shade"])] == []
    read = source.replace("set = 64,", "int blocks = (n + kept - 1) / (kept);", 1)
    assert [*Annotated(read, "k.cu", {}).launches(["shade"])]


def test_a_name_is_folded_once() -> None:
    """Of constants made of one another, each several times, a build would not end."""
    made = "".join(f"const int B{i + 1} = B{i} + B{i} - B{i};" for i in range(30))
    source = SOURCE.replace("LAUNCHED", "B14").replace(
        "const int SIDE", f"const int B0 = 512; {made} const int SIDE"
    )
    assert [threads for _, threads, _ in Annotated(source, "k.cu", {}).launches(["shade"])] == [512]


@pytest.mark.slow
@pytest.mark.usefixtures("few_headers")
@pytest.mark.parametrize(
    ("launched", "bounds", "is_told"),
    [("T", "", True), ("256", "", False), ("T", "__launch_bounds__(512)", False)],
)
def test_who_launches_larger_blocks_is_told(
    launched: str, bounds: str, is_told: bool, tmp_path: Path
) -> None:
    """A strict build is none the worse for it: other launches may be of smaller ones."""

    def compile_(marked: str, _: bool) -> str:
        (tmp_path / "k.cu").write_text(marked.partition("void run(")[0])
        return of_no_folder(tmp_path / "k.cu", "-arch=sm_90", "-lineinfo")

    source = SOURCE.replace("LAUNCHED", launched)
    done = DevicePass()
    annotated = Annotated(source.replace("void shade", f"void {bounds} shade"), f"{FOLDER}/k.cu")
    translate(annotated, compile_, Options(strict=True), done, keeps_lines=False)
    told = (
        f'{FOLDER}/k.cu:17: warning: "shade" is launched in blocks of 512 threads, and has '
        "stacks of tasks for 256: its annotated loops run as they were; write "
        "__launch_bounds__(512) before its name, or give --ccc-max-block=512"
    )
    assert done.hints == [told] * is_told
