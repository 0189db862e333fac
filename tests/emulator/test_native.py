"""The C library gives what NumPy gives, bit for bit."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from breadth import one_in, runs_long
from folders import GOLDEN
from goldens import Golden

from ccc.emulator import EmulatorError, Module, Race
from ccc.emulator.base.forms import DTYPES, Form
from ccc.emulator.native import library
from ccc.emulator.native.forms import native_form
from ccc.emulator.native.operations import APPROXIMATIONS, INTEGERS, OPERATIONS, TO_WHOLE
from ccc.emulator.semantics.table import operation_of
from ccc.harness.equivalence import Launch, difference, run
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Register

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

SIGNED = ("s16", "s32", "s64")
UNSIGNED = ("u16", "u32", "u64")
WIDE = (*SIGNED, *UNSIGNED)
ORDERS = ("eq", "ne", "lt", "le", "gt", "ge")
FLOAT_ORDERS = (*ORDERS, *(f"{order}u" for order in ORDERS), "num", "nan")


@pytest.fixture(scope="module")
def native() -> Any:
    found = library.native_library("native")
    assert found is not None
    return found


# Every operation ----------------------------------------------------------------------------------


def opcodes() -> Iterator[str]:
    """Instructions that among them are every operation of the library."""
    for kind in WIDE:
        yield from (f"{name}.{kind}" for name in ("add", "sub", "mul.lo", "mul.hi", "mad.lo"))
        yield from (f"{name}.{kind}" for name in ("mad.hi", "div", "rem", "min", "max", "sad"))
        yield from (f"setp.{order}.{kind}" for order in ORDERS)
        yield f"shr.{kind}"
    for kind in ("u32", "u64"):
        yield from (f"setp.{order}.{kind}" for order in ("lo", "ls", "hi", "hs"))
    yield from (f"{name}.{kind}" for name in ("neg", "abs") for kind in SIGNED)
    for bits in ("b16", "b32", "b64"):
        yield from (f"{name}.{bits}" for name in ("and", "or", "xor", "not", "cnot", "shl", "selp"))
        yield f"mov.{bits}"
    yield from (f"{name}.pred" for name in ("and", "or", "xor", "not", "mov"))
    for kind in ("u16", "s16", "u32", "s32"):
        yield from (f"mul.wide.{kind}", f"mad.wide.{kind}")
    for bits in ("32", "64"):
        yield from (f"popc.b{bits}", f"clz.b{bits}", f"brev.b{bits}", f"bfi.b{bits}")
        yield from (f"{name}.{kind}{bits}" for name in ("bfe", "bfind") for kind in "us")
    yield from ("lop3.b32", "prmt.b32", "isspacep.shared", "isspacep.global", "cvta.shared.u64")
    yield from (f"shf.{side}.{how}.b32" for side in "lr" for how in ("wrap", "clamp"))
    yield from floats()
    yield from conversions()


def floats() -> Iterator[str]:
    for end in ("f32", "ftz.f32", "f64"):
        yield from (f"{name}.rn.{end}" for name in ("add", "sub", "mul", "fma", "div"))
        yield from (f"{name}.rn.{end}" for name in ("sqrt", "rcp"))
        yield from (f"{name}.{end}" for name in ("min", "max", "min.NaN", "max.NaN", "abs", "neg"))
        yield from (f"rsqrt.approx.{end}", f"copysign.{end.split('.')[-1]}")
        yield from (f"setp.{order}.{end}" for order in FLOAT_ORDERS)
    for ftz in ("", ".ftz"):
        yield from (f"{name}.approx{ftz}.f32" for name in APPROXIMATIONS)
        yield from (f"{name}.rn{ftz}.sat.f32" for name in ("add", "sub", "mul", "fma"))
        yield from (f"div.approx{ftz}.f32", f"div.full{ftz}.f32")
        for name, mode in itertools.product(("add", "sub", "mul", "fma"), ("rz", "rm", "rp")):
            yield from (f"{name}.{mode}{ftz}.f32", f"{name}.{mode}{ftz}.sat.f32")
    yield "rcp.approx.ftz.f64"


def conversions() -> Iterator[str]:
    for target, source in itertools.product(INTEGERS, INTEGERS):
        yield from (f"cvt.{target}.{source}", f"cvt.sat.{target}.{source}")
    for source in ("f32", "f64"):
        yield from (f"cvt.rn.{source}.{kind}" for kind in INTEGERS)
        for mode, kind in itertools.product(TO_WHOLE, (*INTEGERS, source)):
            yield f"cvt.{mode}.{kind}.{source}"
            if source == "f32":
                yield f"cvt.{mode}.ftz.{kind}.f32"
    for ftz in ("", ".ftz"):
        yield from (f"cvt{ftz}.f64.f32", f"cvt.rn{ftz}.f32.f64", f"cvt{ftz}.f32.f32")
        yield f"cvt{ftz}.sat.f32.f32"
        yield from (f"cvt.{mode}{ftz}.f32.f64" for mode in ("rz", "rm", "rp"))
    for mode, kind in itertools.product(("rz", "rm", "rp"), INTEGERS[:6]):
        yield f"cvt.{mode}.f32.{kind}"


def instruction(opcode: str) -> Instruction:
    """An instruction of that spelling; its operands do not matter but for a truth table."""
    operands: list[Any] = [Register(f"%r{k}", "b32") for k in range(3)]
    if opcode.startswith(("mad", "fma", "lop3", "bfi", "sad", "shf", "prmt", "selp", "bfe")):
        operands.append(Register("%r3", "b32"))
    if opcode.startswith("lop3"):
        operands.append(Immediate("0x96"))
    return Instruction(opcode, tuple(operands))


def edges(kind: str) -> list[int]:
    """Bits of numbers of a type where something changes."""
    if kind == "pred":
        return [0, 1]
    bits = 8 * DTYPES[kind].itemsize
    ones = (1 << bits) - 1
    found = [0, 1, 2, 3, 5, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x5A5A5A5A5A5A5A5A]
    found += [ones, ones - 1, ones >> 1, (ones >> 1) + 1, (ones >> 1) + 2, ones >> (bits // 2)]
    if kind[0] == "f":
        values = [
            1,
            0.5,
            1.5,
            2,
            2.5,
            3.7,
            255.5,
            256,
            32767.5,
            65536,
            2**31 - 1,
            2**31,
            2**32,
            2**63,
        ]
        values += [2.0**64, 2.0**24 + 1, 1e-3, 1 / 3, 1e30, np.inf]
        array = np.array(values, f"f{bits // 8}")
        limits = np.finfo(array.dtype)
        tiny = limits.tiny
        extremes = np.array([tiny, limits.max, tiny / 2, tiny * 2, limits.eps], array.dtype)
        array = np.concatenate([array, np.nextafter(array, 0), extremes, np.nextafter(extremes, 0)])
        array = np.concatenate([array, -array])
        found += array.view(f"u{bits // 8}").tolist()
        quiet = 0x7FC00000 if bits == 32 else 0x7FF8000000000000
        found += [quiet, quiet + 1, ones, quiet ^ (quiet & -quiet) | 1, quiet | 1 << (bits - 1)]
    return sorted({number & ones for number in found})


def operands(kinds: tuple[str, ...], random: np.random.Generator) -> list[np.ndarray]:
    """All pairs of edges, and random bits, for each operand an array; as many as whole warps."""
    sets = [edges(kind) for kind in kinds]
    if len(kinds) < 3:
        rows = list(itertools.product(*sets))
    else:
        picks = random.integers(0, [len(one) for one in sets], (6400, len(sets))).tolist()
        rows = [tuple(one[k] for one, k in zip(sets, pick, strict=True)) for pick in picks]
    found = []
    for place, kind in enumerate(kinds):
        size = DTYPES[kind].itemsize
        more = random.integers(0, 256, 640 * size, np.uint8).view(f"u{size}")
        edge = np.array([row[place] for row in rows], f"u{size}")
        if kind == "pred":
            more &= np.uint8(1)
        column = np.concatenate([edge, more])
        found.append(column[: len(column) // 32 * 32].copy())
    return found


@needs_compiler
@pytest.mark.parametrize("opcode", sorted(set(opcodes())))
def test_an_operation_gives_the_same_bits(opcode: str, native: Any) -> None:
    form = Form(instruction(opcode))
    operation, found = operation_of(form), native_form(form)
    assert operation is not None
    assert found is not None
    widths = [DTYPES[kind].itemsize for kind in operation.sources]
    assert widths[: len(found.sources)] == [DTYPES[kind].itemsize for kind in found.sources]
    arrays = operands(operation.sources[: len(found.sources)], np.random.default_rng(1))
    typed = [
        array.view(DTYPES[kind]) for array, kind in zip(arrays, operation.sources, strict=False)
    ]
    with np.errstate(all="ignore"):
        expected = np.asarray(operation.compute(*typed))
    got = applied(native, found.name, arrays, found.constants, expected.dtype.itemsize)
    wrong = np.flatnonzero(got != expected.view(got.dtype))
    told = (*arrays, expected.view(got.dtype), got)
    assert not len(wrong), [hex(int(array[wrong[0]])) for array in told]


def applied(
    native: Any, name: str, arrays: list[np.ndarray], constants: tuple[int, ...], size: int
) -> np.ndarray:
    """What the library makes of operands."""
    lanes = len(arrays[0])
    kinds = OPERATIONS[name].sources[len(arrays) :]
    more = [np.full(lanes, c, DTYPES[k]) for c, k in zip(constants, kinds, strict=True)]
    result = np.zeros(lanes, f"u{size}")
    pointers = (ctypes.c_void_p * 8)(*(a.ctypes.data for a in (result, *arrays, *more)))
    native.apply(list(OPERATIONS).index(name), pointers, ctypes.c_int64(lanes))
    return result


BY_PARTS = {"pack.u32", "pack.u64", "upper.u32", "upper.u64", "mov.u8", "selp.u8", "selp.pred"}
"""What moves parts of registers, and selects where a guard holds."""


def test_every_operation_is_tried() -> None:
    forms = [native_form(Form(instruction(opcode))) for opcode in opcodes()]
    assert {form.name for form in forms if form} | BY_PARTS == set(OPERATIONS)


# Whole launches -----------------------------------------------------------------------------------

SMALL = sorted((GOLDEN / "small").glob("*.ptx"))
OTHERS = sorted((GOLDEN / "context-collection").glob("*.ptx"))[::12]


def launched(text: str, launch: Launch, schedule: str | int) -> tuple[list[Any], Any, int]:
    """What a launch leaves in memory, what it counts, and the number of its steps."""
    module = Module(text)
    found, counters = run(module, "k", launch, schedule=schedule)
    return found, counters, module.steps


@needs_compiler
@pytest.mark.parametrize(
    ("path", "schedule"),
    one_in(9, itertools.product([*SMALL, *OTHERS], ["lockstep", 3])),
    ids=lambda value: getattr(value, "stem", None),
)
def test_a_launch_leaves_the_same_memory_and_counts(
    path: Path, schedule: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = Golden.read(path)
    for text in (golden.before, golden.after):
        results = []
        for mode in ("numpy", "native"):
            monkeypatch.setenv("CCC_EMULATOR", mode)
            results.append(launched(text, golden.launch, schedule))
        (memory, counters, steps), (other_memory, other_counters, other_steps) = results
        assert difference(memory, other_memory) is None
        assert counters == other_counters
        assert steps == other_steps


@needs_compiler
@pytest.mark.parametrize("path", one_in(5, SMALL[::3]), ids=lambda path: path.stem)
def test_the_same_races_are_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With each of the barriers, and without the first, or the second."""
    golden = Golden.read(path)
    parts = re.split(r"(?m)^\s*bar\.warp\.sync[^;]*;", golden.after)
    barriers = re.findall(r"(?m)^\s*bar\.warp\.sync[^;]*;", golden.after)
    schedules: list[str | int] = [1, "lockstep", 2]
    for without, schedule in list(enumerate(schedules, -1))[: len(barriers) + 1]:
        left = ["" if place == without else one for place, one in enumerate([*barriers, ""])]
        text = "".join(itertools.chain.from_iterable(zip(parts, left, strict=True)))
        told = []
        for mode in ("numpy", "native"):
            monkeypatch.setenv("CCC_EMULATOR", mode)
            told.append(raced(text, golden.launch, schedule))
        assert told[0] == told[1]


def raced(text: str, launch: Launch, schedule: str | int) -> tuple[list[str], str, int]:
    """The races of a launch, the error that ended it, if one did, and the number of its steps."""
    module, races, error = Module(text, step_limit=20_000), list[Race](), ""
    try:
        run(module, "k", launch, schedule=schedule, races=races)
    except EmulatorError as caught:
        error = str(caught)
    return [str(race) for race in races], error, module.steps


# The library itself -------------------------------------------------------------------------------

PROGRAM = """
from ccc.emulator.native import library
print("loaded" if library.native_library() else "numpy")
"""


NONSENSE = 'while [ "$1" != -o ]; do shift; done; echo nonsense > "$2"'
"""A compiler's script that makes what is no library."""


def in_a_process(cache: Path, **environment: str) -> subprocess.Popen[str]:
    """A process that asks for the library, with a cache folder of its own."""
    path = os.environ["PATH"]
    given = {"PATH": path, "CCC_CACHE_DIR": str(cache), "CCC_EMULATOR_DEBUG": "1", **environment}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, notes = process.communicate()
    assert process.returncode == 0, notes
    return out.strip(), notes


def compiler(folder: Path, script: str) -> str:
    """A PATH on which the C compiler is a script."""
    folder.mkdir()
    file = folder / "cc"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(folder)


def test_without_a_compiler_it_is_numpy(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    process = in_a_process(tmp_path, PATH=str(empty), CCC_EMULATOR="native")
    assert said(process) == ("numpy", "ccc: the emulator runs on NumPy: there is no C compiler\n")


def test_with_a_compiler_that_fails_it_is_numpy(tmp_path: Path) -> None:
    path = compiler(tmp_path / "bin", "exit 3")
    out, notes = said(in_a_process(tmp_path, PATH=path, CCC_EMULATOR="native"))
    assert out == "numpy"
    assert "ended with 3" in notes


def test_with_a_compiler_that_makes_no_library_it_is_numpy(tmp_path: Path) -> None:
    path = compiler(tmp_path / "bin", NONSENSE)
    out, notes = said(in_a_process(tmp_path, PATH=path, CCC_EMULATOR="native"))
    assert out == "numpy"
    assert "not loaded" in notes


@needs_compiler
def test_nothing_is_made_before_it_is_worth_it(tmp_path: Path) -> None:
    out, _ = said(in_a_process(tmp_path))
    assert out == "numpy"
    assert not any(tmp_path.iterdir())


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which the C compiler takes a sixth of the time, since it does not optimise."""
    real = shutil.which("cc") or shutil.which("gcc")
    folder = compiler(tmp_path_factory.mktemp("compiler") / "bin", f'exec {real} "$@" -O0')
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, quick: str) -> Path:
    """A cache folder with a library; if all tests run, two processes have made it at once."""
    cache = tmp_path_factory.mktemp("cache")
    count = 2 if runs_long else 1
    makers = [in_a_process(cache, CCC_EMULATOR="native", PATH=quick) for _ in range(count)]
    assert [said(process)[0] for process in makers] == ["loaded"] * count
    return cache


def only_file(cache: Path) -> Path:
    (found,) = (cache / "emulator").iterdir()
    return found


@needs_compiler
@pytest.mark.slow
def test_what_is_in_the_cache_is_used(made: Path, quick: str) -> None:
    assert said(in_a_process(made, PATH=quick))[0] == "loaded"
    assert said(in_a_process(made, PATH=quick, CCC_EMULATOR="numpy"))[0] == "numpy"


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("length", [0, 20, 4096, -1])
def test_a_file_that_was_cut_short_is_no_library(
    made: Path, quick: str, tmp_path: Path, length: int
) -> None:
    file = tmp_path / "emulator" / only_file(made).name
    file.parent.mkdir()
    file.write_bytes(only_file(made).read_bytes()[:length])
    assert said(in_a_process(tmp_path, PATH=quick))[0] == "numpy"


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    cache = tmp_path / "file"
    cache.write_text("")
    path = compiler(tmp_path / "bin", NONSENSE)
    out, notes = said(in_a_process(cache, PATH=path, CCC_EMULATOR="native"))
    assert out == "numpy"
    assert "cannot write the cache folder" in notes


# Accesses, and instructions on warps --------------------------------------------------------------

LANES = 192
RANDOM = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 o) {{
.reg .b32 %r<9>; .reg .b64 %x<9>; .reg .b{bits} %v<9>; .reg .pred %q<4>;
.shared .align 16 .b8 words[512]; .local .align 16 .b8 mine[512];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.s32 %r0, %r1, 96, %r0;
ld.param.u64 %x0, [p]; ld.param.u64 %x1, [q]; ld.param.u64 %x2, [o];
mul.wide.u32 %x3, %r0, 8; add.u64 %x1, %x1, %x3; add.u64 %x2, %x2, %x3;
ld.global.b{bits} %v0, [%x1]; ld.global.u32 %r2, [%x1+4];
and.b32 %r3, %r2, {mask}; cvt.u64.u32 %x3, %r3;
mov.u64 %x4, words; mov.u64 %x5, mine; add.u64 %x6, %x0, %x3; add.u64 %x4, %x4, %x3;
add.u64 %x5, %x5, %x3; cvta.shared.u64 %x7, %x4;
setp.lt.s32 %q0, %r2, 0; and.b32 %r4, %r2, 1; setp.eq.u32 %q1, %r4, 1; mov.b{bits} %v1, %v0;
mov.b32 %r5, 7; mov.b{bits} %v2, %v0; mov.b{bits} %v3, %v0; mov.b{bits} %v4, %v0;
@%q0 bra rest;
{body}
rest:
st.global.b{bits} [%x2], %v1; @!%q0 st.global.u32 [%x2], %r5;
ret; }}
"""
PLACES = {"global": "%x6", "shared": "%x4", "local": "%x5", "generic": "%x7"}


def accesses() -> Iterator[tuple[int, str]]:
    """Bodies of the kernel above, each with the bits of its values."""
    for space, bits in itertools.product(PLACES, (16, 32, 64)):
        name = "" if space == "generic" else f".{space}"
        at = PLACES[space]
        for vector, count in (("", 1), (".v2", 2), (".v4", 4)):
            if count * bits > 128:
                continue
            values = ", ".join(f"%v{k + 1}" for k in range(count))
            values = f"{{{values}}}" if vector else values
            store = f"st{name}{vector}.b{bits} [{at}], {values};"
            yield bits, f"{store} @%q1 ld{name}{vector}.b{bits} {values}, [{at}];"
    for space, kind in itertools.product(("global", "shared", "generic"), HOW):
        bits, at = int(kind[1:]), PLACES[space]
        name = "" if space == "generic" else f".{space}"
        store = f"st{name}.b{bits} [{at}], %v0; " if space != "global" else ""
        for how in HOW[kind]:
            yield bits, f"{store}atom{name}.{how}.{kind} %v1, [{at}], %v0;"
        bitwise = f"{store}@%q1 atom{name}.cas.b{bits} %v1, [{at}], %v0, %v2;"
        yield from ((bits, bitwise), (bits, f"{store}red{name}.or.b{bits} [{at}], %v0;"))


HOW = {
    "u32": ("add", "min", "max", "inc", "dec"),
    "s32": ("min", "max"),
    "u64": ("add", "min", "max"),
    "s64": ("min", "max"),
    "f32": ("add",),
    "f64": ("add",),
}


def on_warps() -> Iterator[tuple[int, str]]:
    yield 32, "activemask.b32 %v1;"
    yield 32, "vote.ballot.b32 %v1, %q1; vote.any.pred %q2, !%q1; selp.b32 %r5, 1, 2, %q2;"
    sync = "activemask.b32 %r6; "
    yield 32, f"{sync}vote.sync.ballot.b32 %v1, %q1, %r6;"
    for mode in ("any", "all", "uni"):
        yield 32, f"{sync}vote.sync.{mode}.pred %q2, %q1, %r6; selp.b32 %v1, 1, 2, %q2;"
    for mode, c in itertools.product(("up", "down", "bfly", "idx"), ("0", "0x1F", "0x1807")):
        shuffle = f"shfl.sync.{mode}.b32 %v1|%q2, %v0, %r2, {c}, %r6;"
        yield 32, f"{sync}{shuffle} selp.b32 %r5, 1, 2, %q2;"
    for bits in (32, 64):
        value = "%r4" if bits == 32 else "%x3"
        yield 32, f"{sync}match.any.sync.b{bits} %v1, {value}, %r6;"
        yield 32, f"{sync}match.all.sync.b{bits} %v1|%q2, {value}, %r6; selp.b32 %r5, 1, 2, %q2;"
    kinds = ("u32", "s32")
    extremes = [f"{name}.{kind}" for name, kind in itertools.product(("min", "max"), kinds)]
    for how in ("add.u32", *extremes, "and.b32", "or.b32", "xor.b32"):
        yield 32, f"{sync}redux.sync.{how} %v1, %v0, %r6;"
    yield 32, f"{sync}elect.sync %v1|%q2, %r6; selp.b32 %r5, 1, 2, %q2;"


@needs_compiler
@pytest.mark.parametrize(("bits", "body"), one_in(3, [*accesses(), *on_warps()]))
def test_random_lanes_leave_the_same_memory_and_counts(
    bits: int, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = bits // 8 * (4 if ".v4" in body else 2 if ".v2" in body else 1)
    text = RANDOM.format(bits=bits, body=body, mask=255 & ~(wide - 1))
    random = np.random.default_rng(bits)
    memory = random.integers(0, 256, 512, np.uint8).view(np.uint64)
    values = random.integers(0, 256, 8 * LANES, np.uint8).view(np.uint64)
    for schedule in ("lockstep", 5):
        found = []
        for mode in ("numpy", "native"):
            monkeypatch.setenv("CCC_EMULATOR", mode)
            arrays = memory.copy(), values.copy(), np.zeros_like(values)
            kernel = Module(text).get_function("k")
            counters = kernel((2,), (LANES // 2,), arrays, schedule=schedule)
            found.append(([array.tolist() for array in arrays], counters))
        assert found[0] == found[1]
