"""The command ``cccc``, and the toolbox ``ccc`` around its tools, as far as no nvcc is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ccc import cli
from ccc.errors import CccError
from ccc.nvcc import command as driver
from ccc.nvcc import run as nvcc
from ccc.nvcc import words
from ccc.options import Options
from ccc.toolkit import find as toolchain
from ccc.version import VERSION

pytestmark = pytest.mark.usefixtures("few_headers")


def test_our_options_are_taken_out() -> None:
    command = driver.parse(
        [
            "--ccc-strict",
            "k.cu",
            "--ccc-report=r.json",
            "-O3",
            "--ccc-max-block=256",
            "--ccc-dynamic-shared=100",
            "--ccc-callee-shared=2KB",
            "--ccc-shared-limit=227k",
            "--ccc-strategy=merge",
            "--ccc-print-after=context-collection",
        ]
    )
    assert command.arguments == ["k.cu", "-O3"]
    assert command.report == "r.json"
    assert command.options == Options(
        measure=True,
        strict=True,
        max_block=256,
        strategy="merge",
        dynamic_shared=100,
        callee_shared=2048,
        shared_limit=232448,
        print_after=("context-collection",),
    )


def test_profiles_are_counted_and_used(tmp_path: Path) -> None:
    (tmp_path / "p.json").touch()
    use = f"--ccc-use={tmp_path / 'p.json'}"
    counting = driver.parse(["--ccc-profile=q.json", use, use, "k.cu"]).options
    assert (counting.profile, counting.transforms) == ("q.json", False)
    assert counting.use == (str(tmp_path / "p.json"),) * 2
    also = driver.parse(["--ccc-profile=q.json", "--ccc-profile-transformed", "k.cu"]).options
    assert also.transforms


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--ccc-use=none.json", "--ccc-use=none.json: there is no such file"),
        ("--ccc-decisions=none.json", "--ccc-decisions=none.json: there is no such file"),
        ("--ccc-profile-transformed", "give --ccc-profile=FILE"),
        ("--cc-strict", 'unknown option "--cc-strict"; did you mean "--ccc-strict"?'),
        ("--ccc-strct", 'unknown option "--ccc-strct"; did you mean "--ccc-strict"?'),
        ("--ccc-report", "--ccc-report needs a value: --ccc-report=FILE"),
        ("--ccc-off=1", "--ccc-off takes no value"),
        ("--ccc-max-block=2k", "a block holds 1 to 1024 threads"),
        ("--ccc-callee-shared=2m", "--ccc-callee-shared=2m: a number of bytes is wanted, or of KB"),
        ("--ccc-shared-limit=a", "--ccc-shared-limit=a: a number of bytes is wanted"),
        ("--ccc-shared-limit=228K", "233472 bytes: a block has 227 KB (232448 bytes) on sm_90"),
        ("--ccc-strategy=merg", 'did you mean "merge"?'),
        ("--ccc-print-after=foo", 'no pass is called "foo"; known are recursion, '),
        ("--ccc-print-after=collection", 'did you mean "context-collection"?'),
    ],
)
def test_wrong_options(option: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.cccc([option, "k.cu"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("ccc: error: ")
    assert expected in said


def test_what_is_not_transformed_cannot_be_counted(capsys: pytest.CaptureFixture[str]) -> None:
    counting = ["--ccc-profile=p.json", "--ccc-profile-transformed"]
    for option in ("--ccc-off", "--ccc-mark-only"):
        assert cli.cccc([option, *counting, "k.cu"]) == 2
        assert f"ccc: error: {option} " in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["CCC_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"])
@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--ccc-strct", 'unknown option "--ccc-strct"; did you mean "--ccc-strict"?'),
        ("--ccc-strategy=merg", '--ccc-strategy=merg: did you mean "merge"?'),
    ],
)
def test_a_wrong_option_in_a_variable_is_told_with_its_name(
    variable: str, option: str, expected: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv(variable, option)
    assert cli.cccc(["k.cu", "--ccc-strict"]) == 2
    assert capsys.readouterr().err == f"ccc: error: {variable}: {expected}\n"


@pytest.mark.parametrize(
    ("arguments", "phase"),
    [
        (["k.cu", "-o", "k.ptx"], ["-ptx"]),
        (["k.cu", "--output-file=a/k.cubin"], ["-cubin"]),
        (["k.cu", "-c", "-o", "k.ptx"], []),
        (["k.cu", "--fatbin", "-o", "k.cubin"], []),
        (["k.cu", "-o", "k.o"], []),
        (["k.cu"], []),
    ],
)
def test_the_phase_that_a_name_asks_for(arguments: list[str], phase: list[str]) -> None:
    assert words.with_phase(arguments, arguments) == [*phase, *arguments]


def test_version_and_help(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.cccc(["--ccc-version"]) == 0
    assert capsys.readouterr().out == f"ccc {VERSION}\n"
    assert cli.cccc(["--ccc-help"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in driver.OPTIONS)
    assert max(map(len, said.splitlines())) <= 80
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"ccc {VERSION}\n"
    with pytest.raises(SystemExit, match="0"):
        cli.main(["--help"])
    said = capsys.readouterr().out
    assert "`" not in said
    assert "cccc --ccc-help" in said
    assert all(name in said for name in cli.TOOLS)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("explian", '; did you mean "explain"?'),
        ("Report", '; did you mean "report"?'),
        ("qqqq", "; known are agree, bench, compare,"),
        ("kernel.cu", "; the compiler is cccc"),
    ],
)
def test_a_tool_that_there_is_not(word: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([word, "--help"]) == 2
    assert f'ccc: error: there is no tool "{word}"{hint}' in capsys.readouterr().err


def test_each_name_of_an_option_is_known(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text("")
    for name in ("-o", "--output", "--outp"):
        words = ["graph", str(tmp_path / "k.ptx"), name, str(tmp_path / "g.dot")]
        assert cli.main(words) == 1  # since that is no PTX


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("emulate --kernle x k.ptx", 'ccc emulate takes no "--kernle"; did you mean "--kernel"?'),
        ("tune --bild make -- ./a --run", 'ccc tune takes no "--bild"; did you mean "--build"?'),
        ("tune -- ./a --bild", "the following arguments are required: --build"),
        ("fuzz --first -1", 'argument --first: a number from 0 on is wanted, not "-1"'),
        ("fuzz --count x", 'argument --count: a number from 1 on is wanted, not "x"'),
        ("fuzz --keep k.ptx", "--keep=k.ptx: k.ptx is a file; failing kernels go into a folder"),
        ("fuzz --keep k.ptx/a/b", "--keep=k.ptx/a/b: k.ptx is a file; failing"),
        ("compare . --size -3", 'argument --size: a number from 0 on is wanted, not "-3"'),
        ("compare . --seed x", 'argument --seed: a number from 0 on is wanted, not "x"'),
        ("graph k.ptx --path x", 'argument --path: a number from 1 on is wanted, not "x"'),
        ("compare . --use no.json", "--use=no.json: there is no such file; a program compiled"),
        ("compare . --arch 90", '--arch: an architecture such as sm_90 is wanted, not "90"'),
        ("graph k.ptx --arch 90", '--arch: an architecture such as sm_90 is wanted, not "90"'),
        ("tune --builds 0", 'argument --builds: a number from 1 on is wanted, not "0"'),
        ("emulate k.ptx --kernel nope", "--kernel=nope: there is no kernel nope, only k"),
        ("report --lines=3 p.json", 'ccc report takes no "--lines"'),
        ("emulate k.cu", "k.cu is a source; cccc -ptx makes PTX of it"),
        ("emulate k.ptx --arg {i32:5", "--arg {i32:5: a structure is written"),
        ("explain", "no file is given"),
        ("explain k.cu -o k.svg", "what is written is a page"),
        ("graph k.cu -o k.png", "give -o NAME.dot"),
        ("compare . --strategy queu", '--strategy=queu: did you mean "queue"?'),
        ("profile p.json", 'there is no action "p.json"; ccc report FILE prints a profile'),
        ("report", "the following arguments are required: FILE"),
    ],
)
def test_a_wrong_command_line_ends_with_2(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    kernel = ".entry k(.param .align 4 .b8 s[4]) { ret; }\n"
    Path("k.ptx").write_text(".version 9.0\n.target sm_90\n.address_size 64\n" + kernel)
    try:
        status = cli.main(words.split())
    except SystemExit as raised:  # by argparse
        status = int(raised.code or 0)
    assert (status, told in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize(
    ("target", "most"),
    [
        (["-arch=sm_86"], 99),
        (["-arch", "sm_75"], 64),
        (["-gencode=arch=compute_75,code=sm_75", "-gencode=arch=compute_80,code=sm_80"], 163),
        (["-arch=native"], 227),
    ],
)
def test_a_block_gets_what_the_largest_of_the_devices_has(target: list[str], most: int) -> None:
    assert driver.parse([*target, f"--ccc-shared-limit={most}K"]).options.shared_limit
    with pytest.raises(driver.UsageError, match=f"a block has {most} KB"):
        driver.parse([*target, f"--ccc-shared-limit={most * 1024 + 1}"])


def test_cccc_in_place_of_nvcc(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(toolchain.RESOLVING, "1")
    assert cli.cccc(["k.cu"]) == 1
    assert "set CCC_NVCC" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CccError("it is so"), 1, "ccc: error: it is so\n"),
        (KeyboardInterrupt(), 130, ""),
        (FileNotFoundError(2, "No", "k.cu"), 1, "ccc: error: k.cu: there is no such file\n"),
    ],
)
def test_failures_end_in_one_message(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(nvcc, "run", run)
    assert cli.cccc(["k.cu", "--ccc-max-block=32"]) == code
    assert capsys.readouterr().err == said


def test_a_reader_that_goes_away() -> None:
    code = (
        "import sys\nfrom ccc import cli\nfrom ccc.nvcc import command as driver\n"
        "driver.usage = lambda: 'x' * 10**6\nsys.exit(cli.cccc(['--ccc-help']))"
    )
    command = f'{sys.executable} -c "$CODE" | head -c 1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(
        ["bash", "-c", command], env={**os.environ, "CODE": code}, capture_output=True, check=False
    )
    assert done.returncode == 141
    assert done.stderr == b""
