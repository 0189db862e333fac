"""NVRTC, where CuPy finds one (no device is needed), and text that no preprocessor has read."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulating import needs_nvcc

from ccc.device import gpu
from ccc.emulator import Module
from ccc.errors import CccError
from ccc.frontend.headers import used
from ccc.frontend.marking import SourceError, mark
from ccc.jit import nvrtc
from ccc.jit.build import build
from ccc.jit.job import CompileJob
from ccc.options import COLLECT, Options


def kernel(body: str, before: str = "") -> str:
    """A kernel whose annotated loop holds ``body``, from the seventh line on."""
    return f"""{before}
template <class T> __device__ T work(T v) {{ for (int j = 0; j < 9; j++) v = v * v + j; return v; }}
template <class T> __global__ void k(T *x, int n) {{
    int idle;
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {{
{body}
    }}
}}
"""


COLLECTING = Options(strategy=COLLECT)
PLAIN = "#pragma ccc if prob(1.0/8)\nif (x[i] > 2)\n    x[i] = work(x[i]);"


@functools.cache
def no_nvrtc() -> str | None:
    """Why there is no NVRTC here; None where there is."""
    try:
        gpu.nvrtc_version()
    except CccError as error:
        return error.message
    return None


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if reason := no_nvrtc():
        pytest.skip(reason)
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def request(text: str, *options: str, **more: object) -> CompileJob:
    told = gpu.compiler_options(options, "nvrtc", cooperative=False)
    return replace(CompileJob(text, "nvrtc", "90", options=told, names=("k<int>",)), **more)  # type: ignore[arg-type]


def complaint(text: str, *options: str, **more: object) -> str:
    with pytest.raises(CccError) as caught:
        build(request(text, *options, **more))
    return str(caught.value)


def run(ptx: str) -> list[int]:
    values = np.arange(100, dtype=np.int32) % 7
    Module(ptx).get_function("_Z1kIiEvPT_i")((1,), (64,), (values, np.int32(values.size)))
    return [int(value) for value in values]


def test_an_annotated_kernel(cache: Path) -> None:
    made = build(request(kernel(PLAIN), ours=COLLECTING))
    off = build(request(kernel(PLAIN), ours=Options(off=True)))
    assert made.names == off.names == {"k<int>": "_Z1kIiEvPT_i"}
    (path,) = made.report["kernels"][0]["paths"]
    assert (path["file"], path["line"], path["column"]) == ("source.cu", 7, 1)
    assert path["applied"], path["reason"]
    assert off.report["kernels"] == []
    assert "ccc." not in off.ptx.read_text()
    assert run(made.ptx.read_text()) == run(off.ptx.read_text())
    assert made.image == made.ptx  # assembled by the driver
    assert cache in made.ptx.parents


@pytest.mark.usefixtures("cache")
@pytest.mark.filterwarnings("ignore:CCCL requires")
@pytest.mark.parametrize("standard", ["c++03", "c++11", "c++14", "c++17", "c++20"])
def test_each_standard_of_the_language_keeps_the_markers_of_arms(standard: str) -> None:
    made = build(request(kernel(PLAIN), f"-std={standard}", ours=COLLECTING))
    off = build(request(kernel(PLAIN), f"-std={standard}", ours=Options(off=True)))
    (path,) = made.report["kernels"][0]["paths"]
    assert path["applied"], path["reason"]
    assert run(made.ptx.read_text()) == run(off.ptx.read_text())


@pytest.mark.usefixtures("cache")
def test_flags_are_the_same_for_both_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    real = gpu.nvrtc

    def record(text: str, name: str, options: tuple[str, ...], names: tuple[str, ...]) -> object:
        told.append(options)
        return real(text, name, options, names)

    monkeypatch.setattr(gpu, "nvrtc", record)
    for off in (False, True):
        build(request(kernel(PLAIN), "-DX=1", ours=Options(off=off)))
    assert told[0] == told[1]
    assert {"-arch=compute_90", "-DX=1", "-ftz=true", "--device-as-default-execution-space"} < {
        *told[0]
    }
    assert any(option.startswith("--std=c++") for option in told[0])


@pytest.mark.usefixtures("cache")
def test_a_refused_path_is_compiled_as_if_it_were_not_annotated() -> None:
    text = kernel("#pragma ccc if\nif (x[i] > 2) { x[i] = 2; __syncwarp(); }")
    made = build(request(text))
    assert "source.cu:7:1: warning: path left as it was" in made.diagnostics[0]
    assert made.ptx.read_text() == build(request(text, ours=Options(off=True))).ptx.read_text()
    said = complaint(text, ours=Options(strict=True))
    assert "source.cu:7:1: error: path left as it was" in said
    assert "--ccc-strict" in said


@pytest.mark.usefixtures("cache")
def test_the_log() -> None:
    assert 'source.cu(4): warning #177-D: variable "idle"' in build(request(kernel(PLAIN))).log
    assert build(request(kernel(PLAIN), "-w")).log == ""


@pytest.mark.usefixtures("cache")
def test_errors() -> None:
    said = complaint(kernel(PLAIN.replace("work", "missing")))
    assert 'source.cu(9): error: identifier "missing" is undefined' in said
    assert "source.cu:7:13: error: unknown directive" in complaint(kernel("#pragma ccc fi\n;"))
    assert "link-time" in complaint(kernel(PLAIN), "-dlto")


@pytest.mark.usefixtures("cache")
def test_options_for_ptxas_are_not_silently_dropped() -> None:
    (said,) = build(request(kernel(PLAIN), "--maxrregcount=32")).diagnostics
    assert said.startswith("source.cu:1: warning: --maxrregcount=32 has no effect")


@pytest.mark.usefixtures("cache")
def test_a_file_and_its_headers(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(kernel(PLAIN.replace("2", "LEAST"), '#include "least.cuh"'))
    (tmp_path / "more").mkdir()
    (tmp_path / "least.cuh").write_text('#include "more/a.cuh"\n')
    (tmp_path / "more" / "a.cuh").write_text('#include "b.cuh"\n')
    (tmp_path / "more" / "b.cuh").write_text("#define LEAST 2\n")
    asked = request(path.read_text(), path=str(path), prologue="#define UNUSED 1\n")
    made = build(asked)
    assert made.report["kernels"][0]["paths"][0]["file"] == str(path)
    (tmp_path / "more" / "b.cuh").write_text("#define LEAST 3\n")
    assert run(build(asked).ptx.read_text()) != run(made.ptx.read_text())


@pytest.mark.usefixtures("cache")
def test_headers_are_not_sought_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "least.cuh").write_text("")
    monkeypatch.chdir(tmp_path)
    assert "open source file" in complaint(kernel(PLAIN, '#include "least.cuh"'))
    assert build(request(kernel(PLAIN, '#include "least.cuh"'), f"-I{tmp_path}"))


SAY = "#define SAY(x) _Pragma(#x)\n"
ELSEWHERE = {
    '#define PATH _Pragma("ccc if")': "PATH\nif (x[i] > 2) { x[i] = 2; }",
    SAY: "SAY(ccc if)\nif (x[i] > 2) { x[i] = 2; }",
    SAY + "#define PATH \\\n  SAY(ccc if)": "PATH\nif (x[i] > 2) { x[i] = 2; }",
    '#include "path.cuh"': "path(x[i]);",
}
HEADER = "__device__ void path(int &x) {\n    #pragma ccc if\n    if (x > 2) x = 2;\n}\n"


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("silence", [(), ("-w",), ("-diag-suppress=161",)])
@pytest.mark.parametrize(("before", "body"), ELSEWHERE.items())
def test_annotations_that_only_a_preprocessor_finds(
    before: str, body: str, silence: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "path.cuh").write_text(HEADER)
    said = complaint(kernel(body, before), f"-I{tmp_path}", *silence, folders=(str(tmp_path),))
    assert "not in a macro or an included file" in said
    assert 'backend="nvcc"' in said


SILENCING = (
    "#pragma nv_diag_suppress 20012, 161",
    '#include "quiet.cuh"',
    '#define QUIET(x) _Pragma("nv_diag_suppress unrecognized_pragma")\nQUIET()',
    "#pragma nv_diagnostic push\n#pragma nv_diag_\\\nremark 161",
)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("silence", SILENCING)
@pytest.mark.parametrize(("before", "body"), [*ELSEWHERE.items(), ("", "")])
def test_a_pragma_that_hides_what_only_a_preprocessor_finds(
    silence: str, before: str, body: str, tmp_path: Path
) -> None:
    (tmp_path / "path.cuh").write_text(HEADER)
    (tmp_path / "quiet.cuh").write_text("#pragma nv_diag_suppress 161\n")
    text, folders = kernel(f"{body}\n{PLAIN}", f"{silence}\n{before}"), (str(tmp_path),)
    if body:
        said = complaint(text, f"-I{tmp_path}", folders=folders)
        assert "source.cu: error: a pragma (nv_diag_suppress 161) keeps NVRTC" in said
    else:
        made = build(request(text, f"-I{tmp_path}", folders=folders, ours=COLLECTING))
        assert made.report["kernels"][0]["paths"][0]["applied"]
    off = request(text, f"-I{tmp_path}", folders=folders, ours=Options(off=True))
    assert build(off).report["kernels"] == []


@pytest.mark.usefixtures("cache")
def test_an_annotation_in_a_macro_of_an_option() -> None:
    said = complaint(kernel("PATH\nif (x[i] > 2) { x[i] = 2; }"), '-DPATH=_Pragma("ccc if")')
    assert "source.cu:7: error: NVRTC compiles text" in said


@pytest.mark.usefixtures("cache")
def test_a_reason_names_the_line_and_the_variable() -> None:
    body = "#pragma ccc if\nif (x[i] > 2)\n    idle += x[i + n] * work(x[i]);"
    made = build(request(kernel(f"{body}\nx[i] = idle;"), ours=COLLECTING))
    (line,) = made.diagnostics
    assert '("idle", source.cu:9, PTX line' in line
    assert line.endswith(" [in k<int>]")
    assert "\t.loc\t" not in made.ptx.read_text()
    kept = build(request(kernel(f"{body}\nx[i] = idle;"), "-lineinfo", ours=COLLECTING))
    assert "\t.loc\t" in kept.ptx.read_text()


@pytest.mark.usefixtures("cache")
def test_pragmas_of_others_and_what_is_switched_off() -> None:
    before = (
        '#define SAY _Pragma("omp simd")\n#if 0\n#pragma ccc for\nfor (;;) {}\n#endif\n'
        "#pragma omp parallel"
    )
    made = build(request(kernel(f"SAY\n{PLAIN}", before), ours=COLLECTING))
    assert made.report["kernels"][0]["paths"][0]["applied"]


@pytest.mark.usefixtures("cache")
def test_half_a_pair_of_brackets_in_a_macro() -> None:
    before = '#define BEGIN { /* } */ "}"\n'
    assert 'the macro "BEGIN" holds one of two brackets' in complaint(kernel(PLAIN, before))
    assert "one of two brackets" in complaint(kernel(f"BEGIN {PLAIN} }}"), "-DBEGIN={")
    digits = before.replace("{ /* } */", "x[0] = 1'0; { y[0] = 2'0;")
    assert "one of two brackets" in complaint(kernel(PLAIN, digits))
    assert build(request(kernel(PLAIN, before), ours=Options(off=True)))
    assert build(request(kernel("x[i] = 2;", before).replace("#pragma ccc for", "")))


@pytest.mark.usefixtures("cache")
def test_half_a_pair_of_brackets_in_a_macro_that_the_source_does_not_name(tmp_path: Path) -> None:
    """Headers of the toolkit open and close their namespaces so."""
    tokens = "#define OPENS namespace own {\n#define CLOSES }\n#define ON(x) x OPENS\n"
    (tmp_path / "own.h").write_text(f"{tokens}OPENS struct of_it {{}}; CLOSES\n")
    before, folder = '#include "own.h"', f"-I{tmp_path}"
    folders = (str(tmp_path),)
    made = build(request(kernel(PLAIN, before), folder, ours=COLLECTING, folders=folders))
    assert made.report["kernels"][0]["paths"][0]["applied"]
    for named in ("OPENS CLOSES", "ON() CLOSES", "OPE\\\nNS CLOSES"):
        said = complaint(kernel(PLAIN, f"{before}\n{named}"), folder, folders=folders)
        assert 'the macro "OPENS" holds one of two brackets' in said


MACROS = {
    "A": "(x) B + x", "B": " D\n /* C */", "C": " 1", "D": " B", "_C_": "", "E_A": "",
    "TWO": "(x, y) x##y", "MORE": "(...) E %:%: __VA_ARGS__", "WORD": "(x) _ ## x##_",
    "AND": " , ## A",
}  # fmt: skip


@pytest.mark.parametrize(("text", "found"), [
    ("A();", "A B D"),
    ("B;", "B D"),
    ("C", "C"),
    ("/* A */ \"A\" AA", ""),
    ("B\\\n;", "B D"),
    ("A" + "\\\n" + "A", ""),
    ("TWO(W, ORD)", "TWO WORD"),
    ("TWO(TWO(W, OR), D)", "TWO WORD D B"),
    ("TWO(W, OR)", "TWO"),
    ("MORE(_A)", "MORE E_A"),
    ("WORD(C)", "_C_ WORD C"),
    ("AND", "A B D AND"),
])  # fmt: skip
def test_the_macros_that_a_text_may_use(text: str, found: str) -> None:
    """Also those whose names are put together of what the text holds."""
    assert used(text, MACROS) == set(found.split())


# Plain text: where a statement ends must be visible.


def hidden(body: str, *macros: str) -> str:
    try:
        mark(kernel(body), "k.cu", macros=dict.fromkeys(macros, ""))
    except SourceError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "body",
    [
        "#pragma ccc if\nif (x[i]) MACRO(x);",
        "#pragma ccc if\nif (x[i]) { f(); } else MACRO;",
        "#pragma ccc while\nwhile (x[i]) MACRO;",
        "#pragma ccc if\nif (x[i]) f(MACRO);",
        "#pragma ccc if\nif (x[i]) f(); else if (x[n]) MACRO;",
    ],
)
def test_a_macro_without_braces(body: str) -> None:
    assert 'it has no braces, and "MACRO" is a macro' in hidden(body, "MACRO", "OTHER")
    assert hidden(body, "OTHER") == ""
    assert mark(kernel(body), "k.cu").annotations


@pytest.mark.parametrize(
    "body",
    [
        "#pragma ccc if\nif (x[i]) { MACRO(x); }",
        "#pragma ccc if\nif (MACRO(x)) { f(); } else { MACRO; }",
        "#pragma ccc if\nif (x[i]) {\n#if A\n f();\n#else\n g();\n#endif\n}",
        "#pragma ccc if\nif (x[i]) f(/* MACRO */);",
        "#pragma ccc if\nif (x[i]) { MACRO for (;;) { f('}', \"}\"); } MACRO(x) g(); /* } */ }",
        "MACRO if (x[i]) f();\n#pragma ccc if\nif (x[i]) { f(); } else { g(); }",
        "#pragma ccc switch\nswitch (x[i]) { case 1: MACRO; break; default: f(); }",
    ],
)
def test_what_braces_show(body: str) -> None:
    assert hidden(body, "MACRO") == ""


@pytest.mark.parametrize(
    "body",
    [
        "#pragma ccc if\nif (x[i])\n#if A\n f();\n#else\n g();\n#endif",
        "#pragma ccc if\nif (x[i]) {\n#if A\n f(); }\n#else\n g(); }\n#endif",
        "#pragma ccc if\nif (x[i]) MACRO(x) f();",
        "#pragma ccc switch\nswitch (x[i]) { CASE(1) f(); break; default: g(); }",
        "#pragma ccc if\nBRANCH(x[i]) { f(); }",
        "#if A\n#pragma ccc if\n#endif\nif (x[i]) { f(); }",
    ],
)
def test_what_cannot_be_read_without_a_preprocessor(body: str) -> None:
    assert "k.cu:" in hidden(body, "MACRO", "BRANCH")


def test_what_nvrtc_says_of_unknown_pragmas() -> None:
    log = "k.cu(3): warning #161-D: unrecognized #pragma\n      {}\n      ^\n\n"
    macro = '_Pragma("ccc if")'
    nvrtc._refuse_unread("", [macro])
    nvrtc._refuse_unread(log.format("#pragma omp simd"), [macro])
    nvrtc._refuse_unread(log.format("PATH"), ['_Pragma("omp")', ""])
    for shown, macros in [("#pragma ccc if", []), ("PATH", [macro]), ("SAY(ccc if)", [])]:
        with pytest.raises(CccError, match=r"k\.cu:3: error: NVRTC compiles"):
            nvrtc._refuse_unread(log.format(shown), macros)


@needs_nvcc
def test_without_nvrtc() -> None:
    if not no_nvrtc():
        pytest.skip("there is one")
    with pytest.raises(CccError, match="pip install"):
        build(CompileJob(kernel(PLAIN), "nvrtc", "90"))
