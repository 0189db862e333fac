"""Options of ours in variables, and in files of options: they are heard, and nvcc sees none."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from nvcc_project import Project, project

from ccc import cli
from ccc.nvcc import option_files, settings

__all__ = ["project"]

pytestmark = pytest.mark.usefixtures("few_headers")

ARCH = "-arch=sm_90"


# What can be told without nvcc.


def test_options_stand_in_variables_and_files_too(tmp_path: Path) -> None:
    inner, file = tmp_path / "inner", tmp_path / "options"
    inner.write_text("--ccc-max-block=32 -O1\n")
    file.write_text(f'"-DX=a b"\n--ccc-strict --options-file {inner}\n')
    own = tmp_path / "own"
    own.write_text("-O2")
    told = settings.gather(
        ["k.cu", "-optf", str(file), f"--options-file={own}", "--ccc-off", "-c"],
        {
            "NVCC_PREPEND_FLAGS": '-G "--ccc-report=a b/"',
            "NVCC_APPEND_FLAGS": "--ccc-strategy='merge' -lineinfo",
            "CCC_FLAGS": "--ccc-explain",
        },
    )
    assert told.arguments == [
        "--ccc-report=a b/", "k.cu", "-optf", str(file), "--ccc-strict", "--ccc-max-block=32",
        f"--options-file={own}", "--ccc-off", "-c", "--ccc-strategy=merge", "--ccc-explain",
    ]  # fmt: skip
    assert told.seen == ["-G", "k.cu", "-DX=a b", "-O1", "-O2", "-c", "-lineinfo"]


def test_nvcc_does_not_see_ours_in_its_variables(tmp_path: Path) -> None:
    def clean(**given: str) -> dict[str, str]:
        return settings.without_ours(given, str(tmp_path))

    given = {"NVCC_APPEND_FLAGS": "-DX=\\'a --ccc-strategy='a b' -O3", "NVCC_PREPEND_FLAGS": "-O1"}
    told = clean(**given, A="b")
    assert told["NVCC_APPEND_FLAGS"].split() == ["-DX=\\'a", "-O3"]
    assert (told["NVCC_PREPEND_FLAGS"], told["A"]) == ("-O1", "b")
    quoted = '"--ccc-report=a b/" -DX="a --ccc-off"'
    assert clean(NVCC_APPEND_FLAGS=quoted)["NVCC_APPEND_FLAGS"] == ' -DX="a --ccc-off"'
    assert not list(tmp_path.iterdir())


def test_options_stand_in_files_that_variables_name(tmp_path: Path) -> None:
    file, folder = tmp_path / "options", tmp_path / "a copy"
    folder.mkdir()
    file.write_text("-O1 --ccc-strict")
    given = {
        "NVCC_PREPEND_FLAGS": f"-DX=a --options-file={file},none",
        "NVCC_APPEND_FLAGS": f"-optf {file} --ccc-explain",
    }
    told = settings.gather(["k.cu", "--ccc-off"], given)
    assert told.arguments == ["--ccc-strict", "k.cu", "--ccc-off", "--ccc-strict", "--ccc-explain"]
    assert told.seen == ["-DX=a", "-O1", "k.cu", "-O1"]
    assert told.variables["NVCC_PREPEND_FLAGS"] == ["--ccc-strict"]
    clean = settings.without_ours(given, str(folder))
    first, second = sorted(folder.iterdir())
    assert (first.read_text(), second.read_text()) == ("-O1 ", "-O1 ")
    assert clean == {
        "NVCC_PREPEND_FLAGS": f'-DX=a --options-file="{first}","none"',
        "NVCC_APPEND_FLAGS": f'-optf "{second}" ',
    }
    file.write_text("-O1")
    plain = {"NVCC_APPEND_FLAGS": f"-optf {file}"}
    assert settings.without_ours(plain, str(folder)) == plain


def test_nvcc_reads_all_else_of_a_file_as_it_stands_there(tmp_path: Path) -> None:
    """It has rules of its own for quotes."""
    inner, outer = tmp_path / "in ner", tmp_path / "outer"
    inner.write_text("-DX='a \\\"\t--ccc-use='a b.json' -DY=\\\"b'\r\n\"--ccc-report=a b/\"\n")
    outer.write_text(f"--options-file='x',\"{inner}\" -O1")
    folder = tmp_path / "copies"
    folder.mkdir()
    plain = ["-optf", str(tmp_path / "none"), "k.cu"]
    assert option_files.for_nvcc(plain, str(folder)) == plain
    words = option_files.for_nvcc([*plain, "-optf", str(outer)], str(folder))
    assert words[:-1] == [*plain, "-optf"]
    copy, copied = sorted(folder.iterdir())
    assert words[-1] == str(copied)
    assert copied.read_text() == f'--options-file="\'x\'","{copy}" -O1'
    assert copy.read_bytes() == b"-DX='a \\\"\t -DY=\\\"b'\r\n\n"
    assert option_files.with_ours(["-optf", str(outer)])[2:] == [
        "--ccc-use=a b.json",
        "--ccc-report=a b/",
    ]


def test_files_of_options_that_name_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text(f"-O1 --options-file={other}")
    other.write_text(f"-optf {one},{one}")
    assert cli.cccc(["k.cu", "-optf", str(one)]) == 2
    assert capsys.readouterr().err == (
        f"ccc: error: {other}: files of options name each other more than 15 deep; "
        "does one name itself?\n"
    )


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (r"-DV=\"hi\"", "-DV=hi"),
        (r'-DV="a\"b"', "-DV=ab"),
        ("-DV='a b'", "-DV='a|b'"),
        (r'-DV=a\ b"c d"e', "-DV=a bc de"),
        ("-DV=it's", "-DV=it's"),
        ("-DV=1\r\n\t-DW=\v2", "-DV=1|-DW=\v2"),
    ],
)
def test_words_are_split_as_nvcc_does(text: str, seen: str) -> None:
    assert option_files.split(text, "f") == seen.split("|")


def test_flags_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "--ccc-strict --ccc-report='x")
    assert cli.cccc(["k.cu"]) == 2
    assert capsys.readouterr().err == "ccc: error: NVCC_APPEND_FLAGS: no closing quotation\n"


# With nvcc.


def test_options_in_nvccs_variables(project: Project) -> None:
    flags = "--ccc-report=r.json --ccc-strategy=queue"
    assert project("k.cu", ARCH, "-o", "k.ptx", NVCC_APPEND_FLAGS=flags, CCC_FLAGS="") == ""
    (path,) = json.loads(project.read("r.json"))["kernels"][0]["paths"]
    assert path["strategy"] == "queue"


def test_options_in_a_file(project: Project) -> None:
    project.write("options", "--ccc-strategy=queue -ptx --ccc-report=r.json")
    assert project("k.cu", ARCH, "--options-file", "options", "-o", "k.out", CCC_FLAGS="") == ""
    assert json.loads(project.read("r.json"))["kernels"][0]["paths"][0]["strategy"] == "queue"
    assert ".entry" in project.read("k.out")


@pytest.mark.parametrize("ours", ["--ccc-off", ""])
def test_options_in_a_pipe(project: Project, ours: str) -> None:
    """It can be read but once."""
    project.write("s.cu", "int v = V;\n")
    pipe = project.folder / "pipe"
    os.mkfifo(pipe)
    for named, flags in ((["-optf", "pipe"], ""), ([], "-optf pipe")):
        with subprocess.Popen(["sh", "-c", f"echo -DV=1 {ours} >{pipe}"]):
            said = project("s.cu", ARCH, "-E", *named, NVCC_APPEND_FLAGS=flags)
        assert "int v = 1;" in said


def test_options_in_a_file_that_a_variable_names(project: Project) -> None:
    project.write("my options", "--ccc-strategy=queue -ptx --ccc-report=r.json")
    flags = '--options-file="my options"'
    temporary = project.folder / "a b"
    temporary.mkdir()
    said = project(
        "k.cu", ARCH, "-o", "k.out", NVCC_APPEND_FLAGS=flags, CCC_FLAGS="", TMPDIR=str(temporary)
    )
    assert said == ""
    assert json.loads(project.read("r.json"))["kernels"][0]["paths"][0]["strategy"] == "queue"
    assert ".entry" in project.read("k.out")


@pytest.mark.parametrize("name", ["a,b", "a\\b", 'a"b', "a b'c"])
def test_options_in_files_where_temporary_files_have_odd_names(project: Project, name: str) -> None:
    project.write("inner", "--ccc-off -DV=1")
    project.write("outer", "--options-file inner")
    project.write("s.cu", "int v = V;\n")
    temporary = project.folder / name
    temporary.mkdir()
    for named, flags in ((["-optf", "outer"], ""), ([], "-optf inner")):
        said = project("s.cu", ARCH, "-E", *named, TMPDIR=str(temporary), NVCC_APPEND_FLAGS=flags)
        assert "int v = 1;" in said
    assert os.listdir(temporary) == []


def test_an_option_of_ours_changes_nothing_else_in_a_file(project: Project) -> None:
    project.write("s.cu", "#define S(x) #x\n#define T(x) S(x)\n#pragma message(T(V))\n")
    for value, seen in {r"\"hi\"": "hi", r'"a\"b"': "ab", "'a'": "'a'"}.items():
        project.write("inner", f"-DV={value} --ccc-strategy=collect")
        project.write("outer", "--options-file inner --ccc-off")
        said = project("s.cu", ARCH, "-E", "-optf", "outer")
        assert f'#pragma message("{seen}")' in said


def test_ptx_that_a_file_names_is_transformed(project: Project) -> None:
    project("k.cu", ARCH, "-ptx", "--ccc-mark-only", "-o", "m.ptx")
    project.write("options", "-ptx m.ptx --ccc-report=r.json")
    project("-o", "k.ptx", "-optf", "options")
    assert json.loads(project.read("r.json"))["kernels"][0]["paths"][0]["applied"]
