"""``cte.cuh``: nested patterns on the emulator against NumPy, what is refused, how it is found."""

from __future__ import annotations

import functools
import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nested_patterns as nested
import numpy as np
import pytest
from breadth import one_in
from emulating import needs_nvcc
from folders import DOCS, ROOT
from remembered import included, remembered

import ccc
from ccc import cli, header
from ccc.device import gpu
from ccc.emulator import Module, Race
from ccc.toolkit.find import find
from ccc.version import VERSION

HERE = Path(__file__).parent
NESTED = HERE / "nested.cu"
BIN = Path(sys.executable).parent
pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]


def nvcc(*words: str | Path) -> subprocess.CompletedProcess[str]:
    standard = [] if any(str(word).startswith("-std=") for word in words) else ["-std=c++17"]
    command = ["nvcc", *standard, f"-I{ccc.include()}", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@functools.cache
def ptx(arch: str, *options: str) -> str:
    """The PTX of the nested patterns; compiling them makes no warning."""

    def make() -> tuple[int, str, str]:
        done = nvcc("-ptx", f"-arch={arch}", *options, NESTED, "-o", "-")
        return done.returncode, done.stdout, done.stderr

    told = ["nested patterns", arch, *options, NESTED.read_text()]
    code, made, said = remembered(told, make, [HERE, *included()])
    assert (code, said) == (0, "")
    return made


def few() -> str:
    """The PTX of some of them, for an older architecture."""
    return ptx("sm_75", "-DFEW")


def compile_with_host(source: Path, standard: str, architecture: str) -> None:
    """What is for the device only must not disturb the host's compiler.

    What ptxas warns of does not hang on what it optimises, which takes most of its time.
    """
    flags = ("-Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror", f"-std={standard}")
    target = f"-gencode=arch=compute_{architecture},code=sm_{architecture}"
    done = nvcc("-c", *flags, target, "-Xptxas=-O0", source, "-o", "/dev/null")
    assert (done.returncode, done.stderr) == (0, "")


def kernels(text: str) -> list[str]:
    return re.findall(r"\.entry (\w+)\(", text)


def run_all(text: str, names: list[str], count: int, seed: int) -> None:
    """Run patterns in lockstep and in random orders; lanes of a warp must not race."""
    module = Module(text)
    schedules = iter(range(count))

    def launch(name: str, grid: Any, block: Any, arguments: Any) -> None:
        races: list[Race] = []
        number = next(schedules)
        schedule = "lockstep" if number % 3 == 0 else number
        module.get_function(name)(grid, block, arguments, schedule=schedule, races=races)
        assert not races

    for pattern in nested.patterns(names, count, seed, few=True):
        pattern.run(launch)


def test_a_few_patterns() -> None:
    text = few()
    run_all(text, kernels(text), 2 * len(kernels(text)), seed=1)


@pytest.mark.long
def test_a_hundred_patterns() -> None:
    text = ptx("sm_90")
    run_all(text, kernels(text), 100, seed=90)


@pytest.mark.long
def test_a_hundred_thousand_items() -> None:
    text = ptx("sm_90")
    module = Module(text)
    sizes = np.where(np.arange(64) == 40, 100_000, np.arange(64) % 5)
    rng = np.random.default_rng(3)
    by_block = ("block96_scanned_f32", "block105_range_affine", "block64_stride_i64")
    for kernel in ("warp_scanned_f32", "warp_range_i32", *by_block):
        pattern = nested.draw(kernel, rng, sizes)
        pattern.run(lambda name, *launch: module.get_function(name)(*launch))


@pytest.mark.gpu
def test_patterns_on_a_gpu() -> None:
    import cupy

    for text in (few(), ptx("sm_90")):
        module = cupy.cuda.function.Module()
        module.load(text.encode() + b"\0")

        def launch(name: str, grid: Any, block: Any, arguments: Any) -> None:
            given = [
                cupy.asarray(a.view(np.uint8)) if isinstance(a, np.ndarray) else a
                for a in arguments
            ]
            module.get_function(name)(grid, block, tuple(given))  # noqa: B023
            for array, copy in zip(arguments, given, strict=True):
                if isinstance(array, np.ndarray):
                    array.view(np.uint8)[:] = copy.get()

        for pattern in nested.patterns(kernels(text), 300, seed=7):
            pattern.run(launch)


@pytest.mark.gpu
@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "synccheck"])
def test_the_sanitizers_find_nothing(tool: str) -> None:
    """All kernels, whose decompositions and values differ, on blocks and lanes of all kinds."""
    sanitizer = find().bin / "compute-sanitizer"
    if not sanitizer.exists():
        pytest.skip("the toolkit has no compute-sanitizer")
    test = [sys.executable, "-m", "pytest", "-q", __file__, "-k", "patterns_on_a_gpu"]
    command = [str(sanitizer), "--tool", tool, "--error-exitcode", "9", *test]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "0 errors" in done.stdout
    assert "1 passed" in done.stdout


def test_what_is_refused() -> None:
    source = (HERE / "refused.cu").read_text()
    wanted = re.findall(r"; +// (.+)", source)
    done = nvcc("-ptx", "-arch=sm_80", HERE / "refused.cu", "-o", "/dev/null")
    said = re.findall(r'static assertion failed with "(.+)"', done.stderr)
    assert len(wanted) == len(set(said)) == 13
    for reason in wanted:
        assert any(reason in one for one in said), reason


BOARDS = """\
#include <cte.cuh>
struct Wide { double words[8]; };
extern "C" __global__ void k(const int *rows, float *sums, Wide *wide)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    CALL
}
template <int BYTES> constexpr bool told = BYTES == EXPECTED;
static_assert(told<cte::shared_bytes_of<HOW>>);
"""
CALLS = {
    "cte::block, 256, cte::scanned, int, float": (
        "sums[row] = cte::for_each_index<cte::block, 256, cte::scanned>(rows[row], rows[row + 1],"
        " [](int k) { return float(k); }, cte::plus(), 0.0f);"
    ),
    "cte::block, 1000, cte::disjoint, int, Wide, Wide": (
        "wide[row] = cte::for_each_index<cte::block, 1000>(rows[row], rows[row + 1],"
        " [](int, Wide of) { return of; }, [](const Wide &a, const Wide &) { return a; },"
        " wide[row], wide[row]);"
    ),
    "cte::block, 96, cte::disjoint, decltype(cte::strided(1, 2, 3))": (
        "cte::for_each<cte::block, 96>(cte::strided(row, rows[0], 5), [=](int k) { sums[k] = 1; });"
    ),
    "cte::block, 63, cte::disjoint, int": (
        "cte::for_each<cte::block, 63>(0, rows[row], [=](int k) { sums[k] = 1; });"
    ),
    "cte::automatic, 256, cte::disjoint, int": (
        "cte::for_each<cte::automatic, 256>(0, rows[row], [=](int k) { sums[k] = 1; });"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", one_in(2, CALLS))
def test_shared_bytes_are_those_that_are_told(how: str, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(BOARDS.replace("CALL", CALLS[how]).replace("HOW", how))
    flags = ("-ptx", "-arch=sm_80", source, "-o", "-")
    text = nvcc("-DEXPECTED=BYTES", *flags).stdout
    taken = sum(map(int, re.findall(r"\.shared .*\[(\d+)\];", text)))
    assert ".entry k(" in text
    assert (taken > 0) == (how.startswith("cte::block") and "63" not in how)
    assert taken < 18 * 1024
    done = nvcc(f"-DEXPECTED={taken}", *flags)
    assert done.returncode == 0, done.stderr
    page = (DOCS / "cte.md").read_text()
    if f"`cte::shared_bytes_of<{how}>`" in page:
        assert f" {taken} here." in page


def test_a_program_is_compiled_without_warnings(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(USER)
    compile_with_host(tmp_path / "k.cu", "c++17", "80")


@pytest.mark.long
@pytest.mark.parametrize(("standard", "architecture"), [("c++17", "75"), ("c++20", "120")])
def test_no_warnings(standard: str, architecture: str) -> None:
    """What is said of the source hangs on the standard, what ptxas says on the architecture."""
    compile_with_host(NESTED, standard, architecture)


# How it is found.

USER = """\
#include <cte.cuh>
extern "C" __global__ void k(const int *rows, int *sums, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const auto map = [](int index) { return index; };
    sums[row] = cte::for_each_index<64>(rows[row], rows[row + 1], map, cte::plus(), 0);
}
"""
ROWS = np.cumsum([0, 3, 0, 70, 1, 2, 200]).astype(np.int32)
SUMS = [int(np.arange(a, b).sum()) for a, b in itertools.pairwise(ROWS)]


def test_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["include"]) == cli.main(["include", "--cmake"]) == 0
    assert capsys.readouterr().out.split() == [ccc.include(), header.cmake()]
    assert Path(ccc.include(), "cte.cuh").is_file()


def test_cccc_finds_it(tmp_path: Path) -> None:
    source, output = tmp_path / "k.cu", tmp_path / "k.ptx"
    source.write_text(USER)
    command = map(str, [BIN / "cccc", "-std=c++17", "-arch=sm_80", "-ptx", source, "-o", output])
    subprocess.run(list(command), check=True)
    sums = np.zeros(6, np.int32)
    Module(output.read_text()).get_function("k")((1,), (64,), (ROWS, sums, np.int32(6)))
    assert sums.tolist() == SUMS


def test_a_raw_kernel_finds_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import emulated_cupy

    emulated_cupy.install(monkeypatch, tmp_path)
    sums = np.zeros(6, np.int32)
    kernel = ccc.RawKernel(USER, "k", backend="nvcc")
    kernel((1,), (64,), (ROWS, sums, np.int32(6)))
    assert sums.tolist() == SUMS


@pytest.mark.gpu
def test_cupy_finds_it() -> None:
    import cupy

    assert gpu.available()
    sums = cupy.zeros(6, np.int32)
    kernel = cupy.RawKernel(USER, "k", options=("-I" + ccc.include(),))
    kernel((1,), (64,), (cupy.asarray(ROWS), sums, np.int32(6)))
    assert sums.get().tolist() == SUMS


CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES NONE)
find_package(ccc 0.1 REQUIRED)
get_target_property(folder ccc::cte INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "version ${ccc_VERSION} folder ${folder}.")
"""


@pytest.mark.parametrize("place", ["package", "environment"])
def test_cmake_finds_it(place: str, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    hint = f"-Dccc_DIR={header.cmake()}"
    if place == "environment":  # as an installation has it
        folder = tmp_path / "prefix" / "share" / "cmake" / "ccc"
        shutil.copytree(header.cmake(), folder)
        (tmp_path / "prefix" / "bin").symlink_to(BIN)
        hint = f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}"
    done = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build", hint],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"version {VERSION} folder {ccc.include()}." in done.stdout


# Beside annotations.

MARKED = """\
#include <cte.cuh>
template <class By>
__device__ void search(int n, const int *rows, const int *level, int *out)
{
#pragma ccc for
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
#pragma ccc if strategy(queue)
        if (level[v] == 1) {
            const auto map = [](int index) { return index; };
            out[v] = cte::for_each_index<By, 64>(rows[v], rows[v + 1], map, cte::plus(), 0);
        }
    }
}
extern "C" __global__ void __launch_bounds__(64)
alone(int n, const int *rows, const int *level, int *out)
{
    search<cte::thread>(n, rows, level, out);
}
extern "C" __global__ void __launch_bounds__(64)
together(int n, const int *rows, const int *level, int *out)
{
    search<cte::warp>(n, rows, level, out);
}
"""


def test_a_call_in_an_annotated_branch(tmp_path: Path) -> None:
    """By one thread a task it is collected; together it is left alone, and says so."""
    source = tmp_path / "k.cu"
    source.write_text(MARKED)
    compiled = ccc.compile(source, arch="sm_80", options=["-std=c++17"])
    (one,), (other,) = (kernel["paths"] for kernel in compiled.report["kernels"])
    assert (one["applied"], one["strategy"]) == (True, "queue")
    assert not other["applied"]
    assert "there is a warp-collective in the annotated loop" in other["reason"]
    rng = np.random.default_rng(1)
    rows = np.r_[0, np.cumsum(rng.integers(0, 9, 300))].astype(np.int32)
    level = rng.integers(0, 2, 300).astype(np.int32)
    sums = [int(np.arange(a, b).sum()) for a, b in itertools.pairwise(rows)]
    module = Module(compiled.ptx)
    for name in ("alone", "together"):
        out = np.zeros(300, np.int32)
        module.get_function(name)((1,), (64,), (np.int32(300), rows, level, out), schedule=4)
        assert out.tolist() == np.where(level == 1, sums, 0).tolist()


def test_the_versions_are_the_same() -> None:
    told = (ROOT / "ccc" / "cmake" / "ccc-config-version.cmake").read_text()
    assert f"set(PACKAGE_VERSION {VERSION})" in told
