"""``ccc emulate``: the example of its page, arguments, and what is said of mistakes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import DOCS

from ccc.cli import main
from ccc.errors import CccError

PAGE = (DOCS / "emulate.md").read_text()
STEPS = re.findall(r"```ptx\n(.*?)```", PAGE, re.DOTALL)[0]
COMMAND = re.findall(r"^    ccc (emulate .*)$", PAGE, re.MULTILINE)[0]
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
OUTPUT = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the page's kernel and its input."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("steps.ptx").write_text(STEPS)
    np.save("start.npy", np.arange(50, dtype=np.uint32))
    return tmp_path


def steps(number: int) -> int:
    """The length of a Collatz sequence."""
    count = 0
    while number > 1:
        number = 3 * number + 1 if number % 2 else number // 2
        count += 1
    return count


def emulate(*words: str) -> int:
    return main(["emulate", *words])


def test_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(COMMAND)) == 0
    assert capsys.readouterr().out == OUTPUT
    assert np.load("count.npy").tolist() == [steps(number) for number in range(50)]


def test_the_example_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(PYTHON, names)
    assert names["count"].tolist() == [steps(number) for number in range(50)]
    together, apart, most = map(int, capsys.readouterr().out.split())
    assert together < apart
    assert most == max(map(steps, range(50)))
    again = names["steps"]((1,), (64,), (names["start"], names["count"], 50), schedule=7)
    assert again.instructions == apart
    with pytest.raises(CccError, match='"lockstep" or an integer'):
        names["steps"]((1,), (64,), (names["start"], names["count"], 50), schedule="random")


def test_a_kernel_is_named_as_users_write_it(capsys: pytest.CaptureFixture[str]) -> None:
    Path("steps.ptx").write_text(STEPS.replace("steps", "_Z5stepsIjEvPKjPjj"))
    assert main(shlex.split(COMMAND)) == 0
    assert capsys.readouterr().out.startswith("steps<unsigned int>\n")
    assert emulate("steps.ptx") == 2
    assert "steps<unsigned int> takes " in capsys.readouterr().err


def test_a_random_schedule_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*shlex.split(COMMAND)[1:], "--schedule", "7", "--kernel", "steps"]
    assert emulate(*words) == 0
    assert "bra next" not in capsys.readouterr().err
    assert np.load("count.npy").tolist() == [steps(number) for number in range(50)]


SCALARS = """\
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .{type} value)
{{
    .reg .b64 %o; .reg .b{bits} %v;
    ld.param.u64 %o, [out]; ld.param.b{bits} %v, [value];
    st.global.b{bits} [%o], %v; ret;
}}
"""


@pytest.mark.parametrize(
    ("type_name", "text", "expected"),
    [
        ("u32", "5", np.uint32(5)),
        ("s32", "-1", np.int32(-1)),
        ("u32", "0xFFFFFFFF", np.uint32(0xFFFFFFFF)),
        ("b32", "1.5", np.float32(1.5)),
        ("b64", "0x10", np.uint64(16)),
        ("f64", "1e300", np.float64(1e300)),
        ("f32", "inf", np.float32(np.inf)),
        ("b32", "f32:0x1p-149", np.float32(2**-149)),
        ("b64", "c64:1+2j", np.complex64(1 + 2j)),
        ("u8", "bool:true", np.bool_(True)),
        ("b16", "f16:0.5", np.float16(0.5)),
        ("u64", "null", np.uint64(0)),
        ("u64", "i64:-2", np.int64(-2)),
    ],
)
def test_scalars(type_name: str, text: str, expected: np.generic) -> None:
    bits = 8 * expected.itemsize
    Path("k.ptx").write_text(SCALARS.format(type=type_name, bits=bits))
    assert emulate("k.ptx", "--arg", f"ones:u8:{expected.itemsize}:out.npy", "--arg", text) == 0
    assert np.load("out.npy").tobytes() == expected.tobytes()


def test_a_buffer_that_is_saved_when_the_kernel_fails(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--arg", "start.npy:left.npy", "--arg", "zeros:u32:4:found.npy", "--arg", "50"]
    assert emulate("steps.ptx", "--block", "64", *words) == 1
    assert "thread (32, 0, 0) of block (0, 0, 0)" in capsys.readouterr().err
    assert np.load("left.npy").tolist() == list(range(50))
    assert np.load("found.npy").shape == (4,)


def test_structures_of_files_and_shapes() -> None:
    np.save("start.npy", np.arange(64, dtype=np.uint32).reshape(8, 8)[:, ::2])
    words = ["--arg", "start.npy", "--arg", "zeros:u32:8x4:count.npy", "--arg", "32"]
    assert emulate("steps.ptx", "--block", "32", *words) == 0
    assert np.load("count.npy").shape == (8, 4)
    assert np.load("count.npy")[1, 3] == steps(14)


def structure_kernel(parameter: str) -> str:
    """PTX of ``for (i < n) out[i] = scale * in[i]`` of ``{float *in, *out; int n; float scale;}``.

    Args:
        parameter: how the kernel gets it: ``value`` or ``pointer``.
    """
    is_value = parameter == "value"
    declared = ".param .align 8 .b8 s[24]" if is_value else ".param .u64 s"
    space, base = ("param", "s") if is_value else ("global", "%s")
    start = "" if is_value else "ld.param.u64 %s, [s];"
    return f"""\
.version 9.0
.target sm_90
.address_size 64
.visible .entry k({declared})
{{
    .reg .b64 %s, %in, %out; .reg .b32 %n, %i; .reg .f32 %f, %scale; .reg .pred %p;
    {start}
    ld.{space}.u64 %in, [{base}];
    ld.{space}.u64 %out, [{base}+8];
    ld.{space}.u32 %n, [{base}+16];
    ld.{space}.f32 %scale, [{base}+20];
    mov.u32 %i, %tid.x;
    setp.ge.u32 %p, %i, %n;
    @%p ret;
    mad.wide.u32 %in, %i, 4, %in;
    mad.wide.u32 %out, %i, 4, %out;
    ld.global.f32 %f, [%in];
    mul.f32 %f, %f, %scale;
    st.global.f32 [%out], %f;
    ret;
}}
"""


@pytest.mark.parametrize(("how", "mark"), [("value", ""), ("pointer", "&")])
def test_a_structure_of_pointers(how: str, mark: str) -> None:
    Path("k.ptx").write_text(structure_kernel(how))
    np.save("in.npy", np.arange(6, dtype=np.float32))
    members = "{in.npy, zeros:f32:6:out.npy, i32:5, f32:0.5}"
    assert emulate("k.ptx", "--block", "32", "--arg", mark + members) == 0
    assert np.load("out.npy").tolist() == [0, 0.5, 1, 1.5, 2, 0]


def test_structures_in_structures() -> None:
    Path("k.ptx").write_text(structure_kernel("pointer"))
    np.save("in.npy", np.arange(6, dtype=np.float32))
    assert emulate("k.ptx", "--arg", "&{{in.npy,zeros:f32:6:out.npy},{i32:5,{f32:2}}}") == 0
    assert np.load("out.npy").tolist() == [0] * 6  # one thread, whose number is 0


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("{in.npy,null,5,f32:1}", "--arg 5: a member of a structure needs its type: i32:5"),
        ("{in.npy,null,i32:5,1.5}", "--arg 1.5: a member of a structure needs its type: f32:1.5"),
        ("{in.npy,null,i32:5", "a structure is written {A,B}, and its address &{A,B}"),
        ("&in.npy", "a structure is written {A,B}, and its address &{A,B}"),
        ("{in.npy,null,i32:5}}", "its braces do not match"),
        ("{in.npy,,i32:5}", "a member is empty"),
        ("{in.npy,null}", "has 16 bytes in 2 members, its parameter s 24: a structure"),
        ("5", "--arg 5: the parameter s has 24 bytes: a structure is written {A,B}"),
        ("i32:5", "argument 1 of k has 4 bytes, its parameter s 24: a structure"),
        ("{in.npy,nul}", "not understood"),
        ("{in.npy,f16:1e9}", "has 16 bytes in 2 members, its parameter s 24: a structure"),
        ("{" * 2000 + "null" + "}" * 2000, "it has more than 64 structures"),
    ],
)
def test_mistakes_in_structures(
    argument: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("k.ptx").write_text(structure_kernel("value"))
    np.save("in.npy", np.arange(6, dtype=np.float32))
    assert message in said(capsys, "k.ptx", "--arg", argument)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "steps.ptx --arg null",
            "takes 3 arguments, not 1, one --arg each: (u64 start, u64 count, u32 n)",
        ),
        ("steps.cu --arg null", "steps.cu is a source; cccc -ptx makes PTX of it"),
        ("steps.ptx --arg zero:u32:1 --arg null --arg 1", 'not understood; did you mean "zeros"?'),
        ("steps.ptx --arg zeros:u32 --arg null --arg 1", "write zeros:TYPE:COUNT"),
        ("steps.ptx --arg zeros:x32:1 --arg null --arg 1", 'no type x32; did you mean "u32"?'),
        ("steps.ptx --arg zeros:u32:99999999999999999 --arg null --arg 1", "no memory for it"),
        ("steps.ptx --arg no.npy --arg null --arg 1", "no.npy: there is no such file"),
        ("steps.ptx --arg steps.npy --arg null --arg 1", "steps.npy is no .npy file"),
        ("steps.ptx --arg null --arg null --arg 4294967296", "4294967296 does not fit u32"),
        ("steps.ptx --arg null --arg null --arg five", "five is no number of type u32"),
        ("steps.ptx --arg null --arg null --arg f32:five", "five is no number of type f32"),
        ("steps.ptx --arg null --arg null --arg i64:1", "has 8 bytes, its parameter n 4"),
        (
            "steps.ptx --arg null --arg null --arg start.npy",
            "argument 3 of steps is a buffer, whose address has 8 bytes, its parameter n 4",
        ),
        (
            "steps.ptx --arg null --arg null --arg u65:1",
            '--arg u65:1: there is no type u65; did you mean "u64"?\n',
        ),
        (
            "steps.ptx --arg zeros:u65:50 --arg null --arg 1",
            '--arg zeros:u65:50: there is no type u65; did you mean "u64"?\n',
        ),
        ("steps.ptx --kernel step", 'there is no kernel step; did you mean "steps"?'),
        ("two.ptx", "two.ptx has 2 kernels; --kernel says which: a, b"),
        ("start.npy", "start.npy is no PTX"),
        ("nothing.ptx", "nothing.ptx: there is no such file"),
    ],
)
def test_mistakes(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    head = ".version 9.0\n.target sm_90\n.address_size 64\n"
    Path("two.ptx").write_text(head + ".entry a() { ret; }\n.entry b() { ret; }\n")
    Path("steps.npy").write_text(STEPS)
    assert message in said(capsys, *words.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--grid 1,1,1,1", "--grid: X, X,Y or X,Y,Z is wanted, all numbers from 1 on, not"),
        ("--grid 0", '--grid: X, X,Y or X,Y,Z is wanted, all numbers from 1 on, not "0"'),
        ("--block x", '--block: X, X,Y or X,Y,Z is wanted, all numbers from 1 on, not "x"'),
        ("--block 32,0", '--block: X, X,Y or X,Y,Z is wanted, all numbers from 1 on, not "32,0"'),
        ("--block 20,100", "--block: a block has 1024 threads at most, not 2000"),
        ("--steps 0", '--steps: a number from 1 on is wanted, not "0"'),
        ("--lines -1", '--lines: a number from 0 to 4294967295 is wanted, not "-1"'),
        ("--schedule random", "--schedule: lockstep is wanted, or a number such as 7, the seed"),
        ("--schedule -1", "--schedule: lockstep is wanted, or a number such as 7, the seed"),
        ("--shared 1K", '--shared: a number from 0 to 4294967295 is wanted, not "1K"'),
    ],
)
def test_what_is_no_size(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        emulate("steps.ptx", *words.split())
    assert message in capsys.readouterr().err


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said of a mistake; of one in the words alone the status is another."""
    assert emulate(*words) in (1, 2)
    return capsys.readouterr().err


def test_a_result_that_cannot_be_written_is_told_before_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = "zeros:u32:50:missing/count.npy"
    told = said(capsys, "steps.ptx", "--steps", "1", "--arg", "start.npy", "--arg", out,
                "--arg", "50")  # fmt: skip
    assert "missing/count.npy" in told
    assert "steps" not in told.replace("steps.ptx", "")


def test_a_result_goes_to_the_file_that_is_named() -> None:
    words = ["--block", "64", "--arg", "start.npy", "--arg", "zeros:u32:50:count", "--arg", "50"]
    assert emulate("steps.ptx", *words) == 0
    assert np.load("count")[27] == steps(27)
    assert not Path("count.npy").exists()


def test_bytes_in_the_other_order_are_turned_round() -> None:
    np.save("start.npy", np.arange(50, dtype=">u4"))
    assert main(shlex.split(COMMAND)) == 0
    assert np.load("count.npy").tolist() == [steps(number) for number in range(50)]


def test_so_many_steps_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--block", "64", "--arg", "start.npy", "--arg", "zeros:u32:50", "--arg", "50"]
    assert "more than 9 steps" in said(capsys, "steps.ptx", "--steps", "9", *words)


def test_ptx_without_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    Path("header.ptx").write_text(STEPS[: STEPS.index(".visible")])
    assert "header.ptx has no kernel: nothing in it is .entry" in said(capsys, "header.ptx")


def test_text_is_no_array(capsys: pytest.CaptureFixture[str]) -> None:
    Path("start.npy").write_text("1 2 3")
    told = said(capsys, *shlex.split(COMMAND)[1:])
    assert "start.npy is no .npy file: it does not begin as one" in told


def test_an_emulator_that_there_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CCC_EMULATOR", "nativ")
    told = said(capsys, *shlex.split(COMMAND)[1:])
    assert 'CCC_EMULATOR=nativ: it is native, numpy or nothing; did you mean "native"' in told
