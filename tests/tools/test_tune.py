"""``ccc tune`` on a program that is made up: what stands for cccc writes reports, and the program
writes the times of whatever it was built with."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from folders import ROOT, TESTS
from goldens import Golden

from ccc.cli import main
from ccc.decisions import read_decisions
from ccc.errors import CccError
from ccc.nvcc import command as driver
from ccc.nvcc import settings
from ccc.tools.tune import project

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

CCCC = """
import json, os, shlex, sys
told = dict(word.partition("=")[::2] for word in shlex.split(os.environ["CCC_FLAGS"]))
open("flags", "a").write(os.environ["CCC_FLAGS"] + "\\n")
setup = json.load(open("setup.json"))
off = "--ccc-off" in told
asked = {}
if "--ccc-decisions" in told:
    for one in json.load(open(told["--ccc-decisions"]))["decisions"]:
        asked[one["kernel"], one["line"]] = one["strategy"]
kernels, built = [], {}
for name, lines in setup["kernels"].items():
    paths, chosen = [], []
    for number, names in enumerate(lines, 1):
        wanted = asked.get((name, number))
        done = (wanted or names[0]) if wanted in (None, "leave", *names) else names[0]
        chosen.append("leave" if off else done)
        paths.append({
            "file": os.path.abspath("k.cu"), "line": number, "column": 5, "directive": "if",
            "arm": "then", "applied": done != "leave", "reason": None, "strategy": done,
            "asked": wanted or setup.get("asked"),
            "declined": None if wanted in (None, done) else "it declines",
            "alternatives": names,
            "path_instructions": setup["lengths"].get(str(number))})
    kernels.append({"name": name, "paths": paths})
    built[name] = chosen
if any("broken" in chosen for chosen in built.values()):
    sys.exit("k.cu:1: error: broken")
json.dump(built, open("program.json", "w"))
file = open(os.path.join(told["--ccc-report"], str(os.getpid())), "w")
json.dump({"version": "", "kernels": [] if off else kernels}, file)
"""
PROGRAM = """
import json, os, sys
built, setup = json.load(open("program.json")), json.load(open("setup.json"))
times = {name: sum(map(setup["times"].get, chosen)) for name, chosen in built.items()}
wrong = any("wrong" in chosen for chosen in built.values())
if not any("forgets" in chosen for chosen in built.values()):
    open("out", "w").write("wrong" if wrong else "right")
print("wrong" if wrong else "right", os.environ.get("ALWAYS_ANOTHER") and os.getpid())
if any("crash" in chosen for chosen in built.values()):
    sys.exit(3)
kernels = [{"name": n, "launches": 2, "untimed": 0, "milliseconds": t} for n, t in times.items()]
silent = any("silent" in chosen for chosen in built.values())
if os.environ.get("UNTIMED") is None and not silent:
    json.dump({"format": 1, "card": os.environ.get("CARD", "a card"), "kernels": kernels},
              open(os.environ["CCC_TIME"] + "/1.json", "w"))
"""
TIMES = {"leave": 8, "queue": 4, "merge": 2, "wrong": 1, "crash": 1, "broken": 1, "batch7": 16}
TIMES |= {"forgets": 1, "silent": 1}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cccc.py").write_text(CCCC)
    (tmp_path / "program.py").write_text(PROGRAM)


def set_up(
    asked: str | None = None, lengths: dict[int, int] | None = None, **kernels: list[list[str]]
) -> None:
    setup = {"kernels": kernels, "times": TIMES, "asked": asked, "lengths": lengths or {}}
    Path("setup.json").write_text(json.dumps(setup))


def tune(*options: str, build: str = f"{sys.executable} -S cccc.py") -> int:
    return main(
        ["tune", "--build", build, *options, "--", sys.executable, "-S", "program.py", "--flag"]
    )


def decided() -> dict[tuple[str, int], str]:
    found = read_decisions("ccc-decisions.json").paths
    return {(one.place.kernel, one.place.line): one.strategy for one in found}


def test_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(one=[["queue", "merge"]], two=[["batch7"]], three=[["queue"], ["batch7", "merge"]])
    assert tune("--check-output", "out", "--check-output", "-", "--repeat", "2") == 0
    assert decided() == {
        ("one", 1): "merge",
        ("two", 1): "leave",
        ("three", 1): "queue",
        ("three", 2): "merge",
    }
    (first, *_) = read_decisions("ccc-decisions.json").paths
    assert (first.place.file, first.card) == ("k.cu", "a card")
    flags = Path("flags").read_text().splitlines()
    assert "--ccc-off" in flags[0]
    assert "--ccc-alternatives" in flags[1]
    assert len(flags) <= 8
    shown = capsys.readouterr()
    assert "4.00x" in shown.out
    assert "build with --ccc-decisions=ccc-decisions.json" in shown.out
    assert "build 2 of at most 8" in shown.err


def test_the_longest_path_is_tried_first() -> None:
    set_up(one=[["queue", "merge"], ["queue", "merge"]], lengths={1: 20, 2: 200})
    assert tune("--builds", "3") == 0  # as it was, as is preferred, and one other version
    assert decided() == {("one", 1): "queue", ("one", 2): "merge"}


def test_versions_that_fail_are_dropped_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(a=[["queue", "wrong"]], b=[["queue", "crash"]], c=[["queue", "broken", "merge"]])
    assert tune("--check-output", "out", "--builds", "20") == 0
    assert decided() == {("a", 1): "queue", ("b", 1): "queue", ("c", 1): "merge"}
    said = capsys.readouterr().err
    assert "a: wrong is dropped: out is not what it was" in said
    assert "b: crash is dropped: the program failed (exit status 3)" in said
    assert "c: broken is dropped: the build failed" in said


def test_a_version_that_writes_nothing_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    """What an earlier version left is not taken for its output, nor are others lost with it."""
    set_up(a=[["queue", "forgets", "silent", "merge"]])
    assert tune("--check-output", "out") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "forgets is dropped: out was not written" in said
    assert "silent is dropped: no kernel was timed" in said
    assert decided() == {("a", 1): "merge"}


def test_what_is_preferred_may_fail_too(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(a=[["wrong", "queue"]], b=[["queue"]])
    assert tune("--check-output", "out") == 0
    assert decided() == {("a", 1): "queue", ("b", 1): "queue"}
    assert "a: wrong is dropped: out is not what it was" in capsys.readouterr().err


def test_a_check_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(a=[["queue", "wrong"]])
    assert tune("--check", "grep -q right out") == 0
    assert decided() == {("a", 1): "queue"}
    assert "the check failed: grep -q right out" in capsys.readouterr().err


def test_what_is_known_already_is_kept() -> None:
    set_up(a=[["queue"]])
    tune()
    set_up(b=[["merge"]])
    tune()
    assert decided() == {("a", 1): "queue", ("b", 1): "merge"}
    set_up(b=[["batch7"]])
    tune()
    assert decided() == {("a", 1): "queue", ("b", 1): "leave"}


def test_one_build_decides_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(a=[["queue"]])
    assert tune("--builds", "1") == 0
    assert not Path("ccc-decisions.json").exists()
    assert "no decisions were made" in capsys.readouterr().out


def test_what_the_source_asks_for_stays(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("queue", a=[["queue", "merge"]])
    assert tune() == 0
    assert not Path("ccc-decisions.json").exists()
    assert "a is not tuned: its annotations ask for strategies" in capsys.readouterr().out


def test_output_that_differs_anyway(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALWAYS_ANOTHER", "1")
    set_up(a=[["queue"]])
    assert tune("--check-output", "-") == 1
    assert "standard output differs from run to run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("build", "said"),
    [
        ("true", "the build did not run cccc: "),
        ("echo oh; false", "the build failed: echo oh; false\n    oh"),
        ("false", "the build failed: false\n"),
        (f"[ -e program.json ] || {sys.executable} -S cccc.py", "did not run cccc again"),
    ],
)
def test_builds_that_do_not_build(
    capsys: pytest.CaptureFixture[str], build: str, said: str
) -> None:
    set_up(a=[["queue"]])
    assert tune(build=build) == 1
    told = capsys.readouterr().err
    assert said in told
    assert not told.endswith("\n\n")


def test_a_clean_build() -> None:
    set_up(a=[["queue"]])
    build = f"[ -e program.json ] || {sys.executable} -S cccc.py"
    assert tune("--clean", "rm -f program.json", build=build) == 0


def test_a_program_that_is_not_timed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNTIMED", "1")
    set_up(a=[["queue"]])
    assert tune() == 1
    assert "no kernel was timed" in capsys.readouterr().err


def test_without_a_gpu_nothing_is_tuned(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARD", "")
    set_up(a=[["queue"]])
    assert tune() == 1
    assert "the program found no GPU" in capsys.readouterr().err


@pytest.mark.parametrize(("there", "said"), [(False, "found no GPU"), (True, "exit status 3")])
def test_a_program_that_asks_for_a_gpu_itself(
    there: bool,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(project, "has_gpu", lambda: there)
    Path("program.py").write_text("import sys; print('no device', file=sys.stderr); sys.exit(3)")
    set_up(a=[["queue"]])
    assert tune() == 1
    error = capsys.readouterr().err
    assert said in error.splitlines()[0]
    assert "no device" in error


def test_the_user_may_stop_it() -> None:
    """What was found until then is written, and nothing is left running."""
    set_up(a=[["queue", "merge", "batch7"]])
    build = f"{sys.executable} -S cccc.py; [ $(wc -l < flags) -lt 3 ] || sleep 100"
    # What runs the tests may ignore the signal, and so would its children.
    heeded = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [
        sys.executable,
        "-c",
        heeded + "import sys; from ccc.cli import main; sys.exit(main())",
    ]
    command += ["tune", "--build", build, "--", sys.executable, "-S", "program.py"]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if Path("flags").exists() and len(Path("flags").read_text().splitlines()) == 3:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert decided() == {("a", 1): "queue"}


def test_what_cccc_does_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options from the environment, a report for each command, and what applies to each path."""
    reports = tmp_path / "reports"
    reports.mkdir()
    ptx = Golden.read(TESTS / "golden" / "context-collection" / "seldom.ptx").before
    (tmp_path / "k.ptx").write_text(ptx)
    monkeypatch.setenv(settings.FLAGS, f"--ccc-report={reports}/ --ccc-alternatives")
    for output in ("one.ptx", "two.ptx"):
        assert driver.main([str(tmp_path / "k.ptx"), "-ptx", "-o", str(tmp_path / output)]) == 0
    texts = {file.read_text() for file in reports.iterdir()}
    assert (len(list(reports.iterdir())), len(texts)) == (2, 1)
    (path,) = json.loads(texts.pop())["kernels"][0]["paths"]
    assert path["alternatives"][0] == path["strategy"]
    assert {"queue", "merge"} <= set(path["alternatives"])
    assert "engage" not in path["alternatives"]
    assert path["statement"] == ""  # of marked PTX no source is read


def test_flags_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.FLAGS, shlex.join(["--ccc-report=a b.json", "--ccc-off"]))
    told = settings.gather(["k.cu"], os.environ)
    assert told.arguments == ["k.cu", "--ccc-report=a b.json", "--ccc-off"]
    monkeypatch.setenv(settings.FLAGS, "-O3")
    with pytest.raises(CccError, match="NVCC_APPEND_FLAGS"):
        settings.gather([], os.environ)
