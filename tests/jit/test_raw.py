"""``ccc.RawModule`` and ``ccc.RawKernel``: their behaviour, with kernels run on the emulator."""

from __future__ import annotations

import functools
import io
import json
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import emulated_cupy
import numpy as np
import pytest
from emulating import needs_nvcc

import ccc
from ccc.frontend.stripping import BOM
from ccc.jit import at_exit, telling
from ccc.jit import raw as raw_module
from ccc.jit.build import Built
from ccc.jit.job import CompileJob
from ccc.jit.raw import RawKernel, RawModule
from ccc.jit.telling import CccWarning

SOURCE = """\
extern "C" {
__constant__ int limit;
__global__ void k(int *x, int n) {
    extern __shared__ int unused[];
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > limit) {
            for (int j = 0; j < 5; j++) x[i] = x[i] * x[i] + j;
        }
    }
}
__global__ void left_alone(int *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > limit) {
            x[i] = 0;
            __syncwarp();
        }
    }
}
}
"""
TEMPLATE = "template <class T> __global__ void twice(T *x) { x[threadIdx.x] *= T(2); }\n"
pytestmark = [
    pytest.mark.filterwarnings("ignore:path left as it was"),
    pytest.mark.usefixtures("few_headers", "in_process"),
]


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    emulated_cupy.install(monkeypatch, tmp_path_factory.getbasetemp() / "cache")
    telling._shown.clear()


nvcc_module = functools.partial(RawModule, backend="nvcc")


def launch(kernel: RawKernel, **options: Any) -> list[int]:
    values = np.arange(200, dtype=np.int32) % 7
    kernel((2,), (32,), (values, np.int32(values.size)), **options)
    return [int(value) for value in values]


@pytest.mark.slow
@needs_nvcc
def test_a_kernel_and_the_same_without_ccc() -> None:
    kernel = RawKernel(SOURCE, "k", ("--ccc-strategy=collect",), "nvcc")
    plain = RawKernel(SOURCE, "k", ("--ccc-off",), "nvcc")
    assert launch(kernel) == launch(plain)
    (path,) = kernel.report["paths"]
    assert (kernel.report["name"], path["file"], path["line"]) == ("k", "source.cu", 7)
    assert path["applied"], path["reason"]
    assert path["registers_after"] > 0
    assert plain.report == {"name": "k", "paths": []}
    assert kernel.ptx != plain.ptx
    assert "ccc." not in plain.ptx


@pytest.mark.slow
@needs_nvcc
def test_what_a_kernel_knows() -> None:
    kernel = RawKernel(SOURCE, "k", ("-DX",), "nvcc", enable_cooperative_groups=True)
    assert kernel.name == kernel.__name__ == "k"
    assert (kernel.code, kernel.options, kernel.backend) == (SOURCE, ("-DX",), "nvcc")
    assert kernel.file_path is kernel.name_expressions is None
    assert kernel.enable_cooperative_groups
    assert kernel.num_regs == kernel.attributes["num_regs"] == 32
    kernel.preferred_shared_memory_carveout = 50
    assert kernel.preferred_shared_memory_carveout == 50
    with pytest.raises(AttributeError):
        kernel.num_regs = 3  # type: ignore[misc]


@pytest.mark.slow
@needs_nvcc
def test_shared_memory_is_asked_for_at_the_launch() -> None:
    kernel = RawKernel(SOURCE, "k", backend="nvcc")
    launch(kernel, shared_mem=40_000)
    assert kernel.max_dynamic_shared_size_bytes == 48 * 1024
    kernel._raw().shared_size_bytes = 20_000  # the stack of tasks
    launch(kernel, shared_mem=40_000)
    assert kernel.max_dynamic_shared_size_bytes == 40_000
    launch(kernel, shared_mem=44_000, stream=None)
    assert kernel.max_dynamic_shared_size_bytes == 44_000
    assert kernel._raw().launches[-1] == {"shared_mem": 44_000, "stream": None}
    kernel.max_dynamic_shared_size_bytes = 100_000
    launch(kernel, shared_mem=44_000)
    assert kernel.max_dynamic_shared_size_bytes == 100_000


LARGE = """\
extern "C" __global__ void k(const double *x, double *y, int n) {
    extern __shared__ char mine[];
    mine[threadIdx.x] = threadIdx.x;
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3], e = x[i + 4];
        #pragma ccc if strategy(queue)
        if (a * b + c * d > e) {
            for (int j = 0; j < 5; j++) a = a * b + c * d - e * j;
            y[i] = a;
        }
    }
    y[threadIdx.x] += mine[threadIdx.x];
}
"""


def launch_large(kernel: RawKernel, block: int = 64, **options: Any) -> list[float]:
    x, y = np.random.default_rng(1).random(504), np.zeros(1024)
    kernel((1,), (block,), (x, y, np.int32(500)), **options)
    return [float(value) for value in y]


@pytest.mark.slow
@needs_nvcc
@pytest.mark.filterwarnings("ignore:strategy.queue. does not apply")
@pytest.mark.parametrize("is_in_a_file", [False, True])
def test_stacks_that_are_dynamic_are_added_to_launches(is_in_a_file: bool, tmp_path: Path) -> None:
    kernel = RawKernel(LARGE, "k", backend="nvcc")
    (path,) = kernel.report["paths"]
    assert (path["placement"], path["strategy"]) == ("dynamic", "queue")
    assert path["dynamic_bytes_added"] == path["stack_bytes"] + 16 > 48 * 1024
    share = path["stack_bytes"] // 32
    if is_in_a_file:
        (tmp_path / "k.ptx").write_text(kernel.ptx)
        with pytest.warns(CccWarning, match="was transformed already; it stays as it is"):
            kernel = RawModule(path=str(tmp_path / "k.ptx")).get_function("k")
    plain = RawKernel(LARGE, "k", ("--ccc-off",), "nvcc")
    for block, size in ((64, 64), (65, 100), (1024, 1025), (32, 77)):
        found = launch_large(kernel, block, shared_mem=size)
        assert found == launch_large(plain, block, shared_mem=size)
        warps = -(-block // 32)
        assert kernel._raw().launches[-1]["shared_mem"] == size + share * warps + 16
        assert plain._raw().launches[-1]["shared_mem"] == size
    assert kernel.max_dynamic_shared_size_bytes == 1025 + share * 32 + 16
    with pytest.raises(ccc.CccError, match=r"stacks of tasks take .* --ccc-dynamic-shared=N"):
        launch_large(kernel, 1024, shared_mem=200_000)
    options = ("--ccc-dynamic-shared=170000", "--ccc-strategy=collect")
    told = RawKernel(LARGE, "k", options, "nvcc")
    (path,) = told.report["paths"]
    assert (path["strategy"], path["placement"]) == ("queue", "static")
    assert launch_large(told, shared_mem=170_000) == launch_large(plain, shared_mem=170_000)


@pytest.mark.slow
@needs_nvcc
def test_what_launches_add_counts_for_the_occupancy() -> None:
    kernel = RawKernel(LARGE.replace("queue", "batch3"), "k", backend="nvcc")
    (path,) = kernel.report["paths"]
    assert (path["placement"], path["strategy"]) == ("dynamic", "batch3")
    assert path["stack_bytes"] > 114 * 1024  # so that two such blocks are too many
    assert (path["occupancy_before"], path["occupancy_after"]) == (1.0, 0.5)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.filterwarnings("ignore:strategy.queue. does not apply")
def test_the_limit_can_be_told() -> None:
    options = ("--ccc-shared-limit=49152", "--ccc-strategy=collect")
    kernel = RawKernel(LARGE, "k", options, "nvcc")
    (path,) = kernel.report["paths"]
    assert (path["placement"], path["strategy"]) == ("static", "queue")
    assert (path["declined"], path["stack_threads"]) == (None, 256)
    plain = RawKernel(LARGE, "k", ("--ccc-off",), "nvcc")
    assert launch_large(kernel, 256, shared_mem=256) == launch_large(plain, 256, shared_mem=256)
    with pytest.warns(CccWarning, match=r"^k: .* up to 256 .* --ccc-max-block=512$") as caught:
        assert launch_large(kernel, 512, shared_mem=512) == launch_large(plain, 512, shared_mem=512)
    assert [Path(one.filename).name for one in caught] == ["test_raw.py"]


@pytest.mark.slow
@needs_nvcc
def test_a_module() -> None:
    module = nvcc_module(code=SOURCE, options=("-DX",), enable_cooperative_groups=True)
    kernel = module.get_function("k")
    assert (kernel.name, kernel.options, kernel.code) == ("k", ("-DX",), SOURCE)
    before = launch(kernel)
    module.get_global("limit").view(np.int32)[0] = 3
    assert launch(kernel) != before
    assert module._raw().cooperative
    assert {entry["name"] for entry in module.report["kernels"]} == {"k", "left_alone"}
    with pytest.raises(Exception, match="there is no kernel missing"):
        module.get_function("missing")


@pytest.mark.slow
@needs_nvcc
def test_nothing_is_compiled_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    real = raw_module.build

    def build(job: CompileJob) -> Built:
        made.append(job.text)
        return real(job)

    monkeypatch.setattr(raw_module, "build", build)
    module = nvcc_module(code=SOURCE)
    assert made == []
    module.compile()
    module.get_function("k").compile()
    assert module.report["kernels"]
    assert made == [SOURCE]


def test_a_byte_order_mark_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """NVRTC gets lines before the text, and knows no such mark behind these."""
    made: list[str] = []

    def build(job: CompileJob) -> Built:
        made.append(job.text)
        return Built(tmp_path, tmp_path)

    monkeypatch.setattr(raw_module, "build", build)
    file = tmp_path / "k.cu"
    file.write_text(SOURCE, "utf-8-sig")
    for module in (RawModule(code=BOM + SOURCE), RawModule(path=str(file))):
        module._build()
    assert made == [SOURCE] * 2


@pytest.mark.slow
@needs_nvcc
def test_name_expressions() -> None:
    names = ("twice<float>", "twice<unsigned char>")
    module = nvcc_module(code=TEMPLATE, name_expressions=names)
    kernel = module.get_function(names[1])
    assert (kernel.name, kernel.name_expressions) == (names[1], names)
    values = np.full(32, 100, np.uint8)
    kernel((1,), (32,), (values,))
    assert (values == 200).all()
    assert module.mangled(names[1]) == "_Z5twiceIhEvPT_"
    assert kernel.report == {"name": "_Z5twiceIhEvPT_", "paths": []}
    assert module.get_function("_Z5twiceIfEvPT_").name == "_Z5twiceIfEvPT_"


@pytest.mark.slow
@needs_nvcc
def test_files(tmp_path: Path) -> None:
    cuda, ptx = tmp_path / "k.cu", tmp_path / "k.ptx"
    cuda.write_text(SOURCE)
    module = nvcc_module(path=str(cuda), options=("--ccc-mark-only",))
    ptx.write_text(module.ptx)
    assert "// ccc.then" in module.ptx
    transformed = RawModule(path=str(ptx), options=("--ccc-strategy=collect",))
    kernel = transformed.get_function("k")
    assert kernel.file_path == str(ptx)
    assert kernel.report["paths"][0]["file"] == str(cuda)
    assert kernel.report["paths"][0]["applied"]
    assert launch(kernel) == launch(module.get_function("k"))
    for unchanged in (RawModule(path=str(ptx), options=("--ccc-off",)), _copy(transformed, ptx)):
        assert unchanged._raw().path == ptx
        assert unchanged.ptx == ptx.read_text()


def _copy(module: RawModule, path: Path) -> RawModule:
    path.write_text(re.sub(r"\s*// ccc\.[^\n]*", "", module.ptx))
    return RawModule(path=str(path))


@pytest.mark.slow
@needs_nvcc
def test_the_report_of_an_unknown_kernel() -> None:
    with pytest.raises(Exception, match="there is no kernel ks"):
        _ = RawKernel(SOURCE, "ks", backend="nvcc").report


@pytest.mark.slow
@needs_nvcc
def test_a_kernel_tells_its_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    kernel = RawKernel(SOURCE, "k", ("--ccc-profile=p.json",), "nvcc")
    launch(kernel)
    found = ccc.profile.of(kernel)
    assert found.kernels[0].paths[0].lanes == 400 - 400 // 7 - 1
    ccc.profile.reset(kernel)
    assert ccc.profile.of(kernel).kernels[0].instructions == 0
    with pytest.raises(ccc.CccError, match="compile it with --ccc-profile"):
        ccc.profile.of(RawKernel(SOURCE, "k", backend="nvcc"))
    with pytest.raises(ccc.CccError, match=r"ccc\.RawKernel.* and not from a str"):
        ccc.profile.of("k")


@pytest.mark.slow
@needs_nvcc
def test_a_profile_is_written_at_the_end_and_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(at_exit, "_counting", {})
    monkeypatch.chdir(tmp_path)
    kernels = [
        RawKernel(f"// {n}\n{SOURCE}", "k", backend="nvcc", profile="p.json") for n in range(2)
    ]
    assert launch(kernels[0]) == launch(RawKernel(SOURCE, "k", backend="nvcc"))
    launch(kernels[1])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    at_exit.write()
    monkeypatch.chdir(tmp_path)
    (kernel, *_) = ccc.profile.read("p.json").kernels
    assert kernel.paths[0].lanes == 2 * (400 - 400 // 7 - 1)
    edited = "\n\n" + SOURCE.replace("x[i] > limit", "x[i] > limit + 0")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CccWarning)
        warnings.filterwarnings("ignore", "path left as it was")
        using = RawKernel(edited, "k", backend="nvcc", use=tmp_path / "p.json")
        assert using.options == (f"--ccc-use={tmp_path / 'p.json'}",)
        assert launch(using) == launch(kernels[0])
    first = using.report
    with pytest.raises(ccc.CccError, match="there is no such file"):
        RawKernel(SOURCE, "k", use="q.json")
    # Another profile is another build, although the file has the same name.
    ccc.profile.merge([]).write("p.json")
    again = RawKernel(edited, "k", backend="nvcc", use=tmp_path / "p.json")
    assert again._module._build().image != using._module._build().image
    assert again.report["paths"][0]["line"] == first["paths"][0]["line"]


def test_machine_code_is_loaded_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(b"machine code")
    path.with_suffix(".ptx").write_text(".version 9.0\n.target sm_90\n.address_size 64\n")
    module = RawModule(path=str(path))
    assert module._raw().path == path
    assert module.report["kernels"] == []


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ccc.CccError, match=r"/no/such/k\.cu: there is no such file"):
        nvcc_module(path="/no/such/k.cu").compile()


@pytest.mark.slow
@needs_nvcc
def test_pickles() -> None:
    module = nvcc_module(code=SOURCE, options=("--ccc-strategy=merge",))
    kernel = module.get_function("k")
    for copy in (pickle.loads(pickle.dumps(module)).get_function("k"), _pickled(kernel)):
        assert copy._module._command == module._command
        assert copy.report == kernel.report
        assert launch(copy) == launch(kernel)
    early = _pickled(RawKernel(SOURCE, "k", backend="nvcc"))
    assert launch(early) == launch(kernel)


def _pickled(kernel: RawKernel) -> Any:
    return pickle.loads(pickle.dumps(kernel))


# What is said.


@pytest.mark.slow
@needs_nvcc
def test_a_path_left_alone_is_a_warning_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    for module in (nvcc_module(path=str(path)), nvcc_module(path=str(path))):  # built, and found
        telling._shown.clear()
        with pytest.warns(CccWarning, match="^path left as it was: ") as caught:
            module.compile()
        (warning,) = caught
        assert (warning.filename, warning.lineno) == (str(path), 16)
    with warnings.catch_warnings(record=True) as repeated:
        warnings.simplefilter("default")
        nvcc_module(path=str(path)).compile()
        nvcc_module(path=str(path)).compile()
    assert len(repeated) == 1


@pytest.mark.slow
@needs_nvcc
def test_warnings_can_be_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CccWarning)
        kernel = RawKernel(SOURCE, "k", backend="nvcc")
        for use in (kernel.compile, lambda: launch(kernel)):
            with pytest.raises(CccWarning, match="left as it was"):
                use()


@pytest.mark.slow
@needs_nvcc
def test_strict() -> None:
    kernel = RawKernel(SOURCE, "k", ("--ccc-strict",), "nvcc")
    with pytest.raises(ccc.CccError, match=r"source\.cu:16:9: error: path left as it was"):
        kernel.compile()


@pytest.mark.slow
@needs_nvcc
def test_errors_in_the_source_come_when_it_is_compiled() -> None:
    text = SOURCE.replace("#pragma ccc if", "#pragma ccc fi", 1)
    kernel = RawKernel(text, "k", backend="nvcc")
    for use in (kernel.compile, lambda: kernel.report, lambda: launch(kernel)):
        with pytest.raises(ccc.CccError, match=r"source\.cu:7:21: error: unknown directive"):
            use()


@pytest.mark.slow
@needs_nvcc
def test_the_log_report_and_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    text = SOURCE.replace("int *x, int n) {\n    extern", "int *x, int n) {\n    int idle; extern")
    options = (f"--ccc-report={file}", "--ccc-print-after=context-collection")
    log = io.StringIO()
    module = nvcc_module(code=text, options=options)
    module.compile(log_stream=log)
    assert 'source.cu(4): warning #177-D: variable "idle"' in log.getvalue()
    assert json.loads(file.read_text()) == module.report
    assert "// after context-collection\n" in capsys.readouterr().out


def test_wrong_arguments() -> None:
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (TypeError, "one of code and path", {}),
        (TypeError, "one of code and path", {"code": "", "path": ""}),
        (TypeError, r"\('-DX',\)", {"code": "", "options": "-DX"}),
        (TypeError, "options is a tuple of strings, not None", {"code": "", "options": None}),
        (TypeError, r"options is .*, not \(3,\)", {"code": "", "options": (3,)}),
        (TypeError, r"options is .*, not \[None\]", {"code": "", "options": [None]}),
        (TypeError, "name_expressions is .*'k'", {"code": "", "name_expressions": "k"}),
        (TypeError, "code is a string, not bytes", {"code": b""}),
        (ccc.CccError, r"source\.cu:2: error: '\\udcff' cannot be", {"code": "\n\udcff"}),
        (ccc.CccError, r"'\\ud800' cannot be", {"code": "\ud800", "backend": "nvcc"}),
        (ValueError, "nvrtc or nvcc", {"code": "", "backend": "clang"}),
        (ValueError, "CUDA source", {"path": "k.ptx", "name_expressions": ["k"]}),
        (ccc.CccError, "jitify", {"code": "", "jitify": True}),
        (ccc.CccError, "did you mean", {"code": "", "options": ("--ccc-strikt",)}),
        (ccc.CccError, "command line", {"code": "", "options": ("--ccc-version",)}),
    ]
    for kind, message, arguments in wrong:
        with pytest.raises(kind, match=message):
            RawModule(**arguments)
