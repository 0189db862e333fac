"""Sources to modules on disk, with the real nvcc: names, the cache, headers, PTX."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulating import needs_nvcc

from ccc import files as cache
from ccc.emulator import Module
from ccc.errors import CccError
from ccc.frontend.headers import definitions, folders, reachable
from ccc.jit import build as building
from ccc.jit.build import Built, build
from ccc.jit.job import CompileJob
from ccc.nvcc import run as nvcc
from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

SOURCE = """\
namespace ns { __device__ int table[4]; }
template <class T, int N> __global__ void k(T *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if prob(1.0/8)
        if (x[i] > T(N)) {
            T v = x[i];
            for (int j = 0; j < 200; j++) v = v * v + T(3);
            x[i] = v;
        }
    }
}
__global__ void other(int *x) { *x = ns::table[1]; }
"""
NAMES = ("k<int, 2+3>", "k<unsigned, 5>")
JOB = CompileJob(SOURCE, "nvcc", "90", names=NAMES, ours=Options(measure=True))


@pytest.fixture
def store(tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where modules are kept; the rest of the cache folder is that of all tests."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for name in ("dataclasses", "emulator", "grammars", "shapes", "toolchains"):
        (shared_cache / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(shared_cache / name)
    monkeypatch.setenv("CCC_CACHE_DIR", str(folder))
    return folder / "modules"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CCC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return build(JOB)


def run(ptx: str, name: str) -> list[int]:
    values = np.arange(100, dtype=np.uint32) % 11
    Module(ptx).get_function(name)((1,), (64,), (values, np.int32(values.size)))
    return [int(value) for value in values]


@pytest.mark.slow
@needs_nvcc
def test_names_of_templates(built: Built) -> None:
    assert built.names == {
        "k<int, 2+3>": "_Z1kIiLi5EEvPT_i",
        "k<unsigned, 5>": "_Z1kIjLi5EEvPT_i",
    }
    ptx = built.ptx.read_text()
    assert "ccc_name" not in ptx
    assert all(f".entry {name}(" in ptx for name in (*built.names.values(), "_Z5otherPi"))


@pytest.mark.slow
@needs_nvcc
def test_both_copies_are_transformed_and_right(built: Built, store: Path) -> None:
    assert [kernel["name"] for kernel in built.report["kernels"]] == list(built.names.values())
    for kernel in built.report["kernels"]:
        (path,) = kernel["paths"]
        assert kernel["source"] == path["file"] == "source.cu"
        assert (path["line"], path["column"], path["applied"]) == (5, 9, True)
        assert path["registers_after"] > 0
    original = build(replace(JOB, ours=Options(off=True)))
    assert original.report["kernels"] == []
    assert store in original.image.parents
    for name in built.names.values():
        assert run(built.ptx.read_text(), name) == run(original.ptx.read_text(), name)


@pytest.mark.slow
@needs_nvcc
def test_machine_code(built: Built) -> None:
    assert built.image.suffix == ".cubin"
    assert built.image.read_bytes().startswith(b"\x7fELF")


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_off_is_what_plain_nvcc_makes() -> None:
    job = replace(JOB, options=("-ftz=true", "-lineinfo"), names=())
    job = replace(job, text=SOURCE + "template __global__ void k<int, 5>(int *, int);\n")
    off = build(replace(job, ours=Options(off=True)))
    plain = nvcc.compile(job.text, "sm_90", ["-ftz=true", "-lineinfo"]).original
    assert off.ptx.read_text() == plain


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_names_of_variables_and_plain_kernels() -> None:
    made = build(replace(JOB, names=("&ns::table", "ns::table", "other", "&other")))
    assert set(made.names.values()) == {"_ZN2ns5tableE", "_Z5otherPi"}
    assert made.report["kernels"] == []


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_a_wrong_name_is_told_by_itself() -> None:
    with pytest.raises(CccError, match=r'name_expressions\(2\): error: .*"missing" is undefined'):
        build(replace(JOB, names=("other", "missing<int>")))


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_errors_in_the_source() -> None:
    with pytest.raises(CccError, match=r"^source\.cu\(1\): error: .*not_declared"):
        build(CompileJob("__global__ void k() { not_declared(); }\n", "nvcc", "90"))
    with pytest.raises(CccError, match=r"^source\.cu:2:13: error: unknown directive"):
        build(CompileJob("__global__ void k() {\n#pragma ccc fro\n}\n", "nvcc", "90"))


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_strict() -> None:
    text = SOURCE.replace("x[i] = v;", "x[i] = v; __syncwarp();")
    made = build(replace(JOB, text=text))
    assert "source.cu:5:9: warning: path left as it was" in made.diagnostics[0]
    with pytest.raises(CccError, match=r"source\.cu:5:9: error: path left as it was.*\n.*strict"):
        build(replace(JOB, text=text, ours=Options(strict=True)))


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_a_source_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a k.cu"
    path.write_text('#include "half.cuh"\n' + SOURCE.replace("x[i] > T(N)", "HALF(x[i])"))
    (tmp_path / "half.cuh").write_text("#define HALF(x) ((x) & 1)\n")
    job = replace(JOB, text=path.read_text(), path=str(path), prologue="#define UNUSED\n")
    made = build(job)
    assert made.report["kernels"][0]["paths"][0]["file"] == str(path)
    assert made.report["kernels"][0]["paths"][0]["line"] == 6
    (tmp_path / "half.cuh").write_text("#define HALF(x) ((x) & 2)\n")
    assert build(job).image != made.image


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_annotations_in_macros_and_headers(tmp_path: Path) -> None:
    (tmp_path / "path.cuh").write_text(
        '#define COLLECT _Pragma("ccc if")\n'
        "__forceinline__ __device__ void path(int &x) {\n    COLLECT\n    if (x > 5) x = x * x; }\n"
    )
    text = (
        '#include "path.cuh"\nextern "C" __global__ void k(int *x, int n) {\n#pragma ccc for\n'
        "for (int i = threadIdx.x; i < n; i += blockDim.x) path(x[i]);\n}\n"
    )
    ours = Options(strategy=COLLECT)
    made = build(CompileJob(text, "nvcc", "90", options=("-I", str(tmp_path)), ours=ours))
    (path,) = made.report["kernels"][0]["paths"]
    assert path["applied"], path["reason"]
    assert path["file"] == str(tmp_path / "path.cuh")


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
@pytest.mark.usefixtures("host_headers")
def test_relocatable_code_is_linked() -> None:
    text = "__global__ void child(int *x) { *x = 1; }\n" + (
        'extern "C" __global__ void parent(int *x) { child<<<1, 1>>>(x); }\n'
    )
    for option in ("-dc", "-rdc=true"):
        made = build(CompileJob(text, "nvcc", "90", options=(option, "-ftz=true")))
        assert made.image.stat().st_size > 50_000  # the device runtime is in it


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_options_for_ptxas_and_what_it_says() -> None:
    text = 'extern "C" __global__ void k(int *x) { *x = 1; }\n'
    made = build(CompileJob(text, "nvcc", "90", options=("-maxrregcount=40", "-Xptxas", "-v")))
    assert "registers" in made.log
    assert build(CompileJob(text, "nvcc", "90")).log == ""


# The cache.


@pytest.mark.slow
@needs_nvcc
def test_compiled_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(JOB)
    monkeypatch.setattr(nvcc, "run", None)
    assert build(JOB) == first
    assert {path.stem for path in store.iterdir()} == {first.image.stem}


@needs_nvcc
def test_what_makes_another_module(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    made: list[CompileJob] = []

    def make(job: CompileJob) -> tuple[str, bytes, dict[str, object]]:
        made.append(job)
        return "", b"image", {}

    monkeypatch.setattr(building, "_make", make)
    others = [
        replace(JOB, text=SOURCE + "\n"),
        replace(JOB, arch="80"),
        replace(JOB, options=("-DX",)),
        replace(JOB, names=()),
        replace(JOB, prologue="#define X\n"),
        replace(JOB, ours=Options(strategy="merge")),
    ]
    for job in (JOB, *others, JOB):
        assert build(job).image.read_bytes() == b"image"
    assert made == [JOB, *others]
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DX")
    build(JOB)
    monkeypatch.setattr(building, "VERSION", "another")
    build(JOB)
    assert made[-2:] == [JOB, JOB]
    assert len({path.stem for path in store.iterdir()}) == len(made)


@functools.cache
def compiled_once() -> tuple[str, bytes | None, dict[str, Any]]:
    """What nvcc and the passes make of the job."""
    return building._make(JOB)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("suffix", [".json", ".cubin"])
def test_a_damaged_entry_is_made_again(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[CompileJob] = []
    ptx, image, entry = compiled_once()

    def make(job: CompileJob) -> tuple[str, bytes | None, dict[str, Any]]:
        made.append(job)
        return ptx, image, dict(entry)

    monkeypatch.setattr(building, "_make", make)
    first = build(JOB)
    whole = first.image.read_bytes()
    damaged = first.image.with_suffix(suffix)
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert build(JOB) == first
    assert first.image.read_bytes() == whole
    damaged.unlink()
    assert build(JOB) == first
    assert made == [JOB, JOB, JOB]


TWICE = """
import sys
from ccc.jit.build import build
from ccc.jit.job import CompileJob
print(build(CompileJob(sys.argv[1], "nvcc", "90")).image.read_bytes()[:4])
"""


@pytest.mark.slow
@needs_nvcc
def test_two_processes_at_once(store: Path) -> None:
    text = 'extern "C" __global__ void k(int *x) { *x = 1; }\n'
    command = [sys.executable, "-c", TWICE, text]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in running] == [r"b'\x7fELF'"] * 2
    assert sorted(path.suffix for path in store.iterdir()) == [".cubin", ".json", ".ptx"]


def test_a_file_of_the_cache_is_whole_or_not_there(store: Path) -> None:
    path = store / "entry"
    contents = [bytes([number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor() as pool:
        writes = [pool.submit(cache.keep, path, data) for data in contents]
        while not all(write.done() for write in writes):
            if path.exists():
                assert path.read_bytes() in contents
        for write in writes:
            write.result()
    assert os.listdir(store) == ["entry"]


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCC_CACHE_DIR", "/dev/null/cache")
    with pytest.raises(CccError, match="CCC_CACHE_DIR"):
        cache.keep(cache.folder() / "modules" / "entry", b"")


# PTX.


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("store")
def test_marked_ptx(tmp_path: Path, built: Built) -> None:
    made = build(replace(JOB, ours=Options(mark_only=True)))
    path = tmp_path / "k.ptx"
    path.write_text(made.ptx.read_text())
    job = CompileJob(path.read_text(), "ptx", "90", path=str(path))
    transformed = build(job)
    assert transformed.image == transformed.ptx
    assert transformed.ptx.read_text() == built.ptx.read_text()
    assert len(transformed.report["kernels"]) == 2


@pytest.mark.usefixtures("store")
def test_ptx_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(".version 9.0\n.target sm_90\n{ // ccc.then 1 k.cu:3:1\n")
    with pytest.raises(CccError, match=r"k\.ptx:\d+.*error"):
        build(CompileJob(path.read_text(), "ptx", "90", path=str(path)))


# Headers.


def test_headers(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    files = {
        "near.h": '#include "far/far.h"\n',
        "far/far.h": '#include "beside.h"\n#include "../near.h"\n',
        "far/beside.h": "",
        "unused.h": "",
        "angle.h": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    text = '# include "near.h"\n#if 0\n  #include <angle.h>\n#endif\n#include <vector>\n'
    found = reachable(text, [str(tmp_path)])
    names = ("near.h", "far/far.h", "far/beside.h", "angle.h")
    assert found == {str(tmp_path / name): files[name] for name in names}
    assert reachable(text, []) == {}


def test_folders_and_macros_of_options() -> None:
    options = ("-Ia", "-I", "b", "--include-path=c", "-isystem", "d", "-DE=1", "-D", "F", "-G")
    assert list(folders(options)) == ["a", "b", "c", "d"]
    texts = ["#define X(a) a \\\n b\n  #  define Y\n", "// #define Z\n"]
    assert dict(definitions(texts, options)) == {"X": "(a) a  b", "Y": "", "E": "=1", "F": ""}


@pytest.mark.parametrize(
    "define",
    ["/* */ #define ", "#define/**/", "#def\\\nine ", "%: define ", "\f#define ", "#/**/define "],
)
def test_a_macro_is_found_however_its_directive_is_written(define: str) -> None:
    assert dict(definitions([f"int a;\n{define}SWAP(a, b) b, a // it\n"], [])).keys() == {"SWAP"}
    assert not dict(definitions(["/*\n#define SWAP\n*/\n"], []))
