"""The documentation says what is: examples, reasons, options, links and generated pages."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pages
import pytest
from breadth import one_in
from doc_examples import FILE, Example, compile_together, facts, plain, read, remarks
from emulating import needs_nvcc
from folders import DOCS, ERRORS, FEW_HEADERS, GOLDEN, ROOT
from goldens import Golden
from in_process import in_process_unless_long
from reasons import matches, templates

import ccc
from ccc import cli
from ccc.emulator import Module
from ccc.frontend import marking as source
from ccc.frontend.pragmas import CLAUSES, DIRECTIVES
from ccc.harness.equivalence import Launch, difference, run
from ccc.nvcc import command as driver
from ccc.options import AUTO, COLLECT
from ccc.passes.choice.exchange import ARMS, TURNS
from ccc.passes.launch_shape import MOST_REGISTERS
from ccc.passes.strategies.registry import FLATTENING, STRATEGY_NAMES
from ccc.passes.strategies.strategy import LoopStrategy, Strategy
from ccc.pipeline import Kernel, Pass
from ccc.remark import CALLS, ENDS_LATER, MAY_LOSE, TIMES_WAITING

PAGE = DOCS / "annotations.md"
LEFT_ALONE = "## When a branch is left alone"
EXAMPLES = read(PAGE)
COMPILED = [example for example in EXAMPLES if example.error is None]
WRONG = [example for example in EXAMPLES if example.error is not None]
SCHEDULES = ("lockstep", 1)

Modules = tuple[Module, Module]


def line_of(example: Example) -> str:
    return f"line{example.line}"


# Examples.


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Modules]:
    """Each example's original and transformed module, by number; fills the examples in.

    What is left alone is compiled once more, without its markers, which others need not wait for.
    """
    found: dict[int, Modules] = {}
    for alone in (False, True):
        group = [example for example in COMPILED if example.left_alone == alone]
        with pytest.MonkeyPatch.context() as patch, in_process_unless_long():
            patch.setenv("NVCC_PREPEND_FLAGS", f"-I{FEW_HEADERS}")
            both = compile_together(group, tmp_path_factory.mktemp("examples"))
        modules = Module(both.original), Module(both.ptx)
        found |= {example.number: modules for example in group}
    return found


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("example", COMPILED, ids=line_of)
@pytest.mark.usefixtures("compiled")
def test_the_report_says_what_the_page_says(example: Example) -> None:
    assert {record["line"] for record in example.records} == set(example.outcomes)
    for line, outcome in example.outcomes.items():
        records = [record for record in example.records if record["line"] == line]
        if outcome["how"] == "applied":
            assert all(record["applied"] for record in records), records
            assert set((outcome["facts"] or "").split(", ")) - {""} <= facts(records), records
        else:
            assert all(record["reason"].startswith(outcome["text"]) for record in records), records


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("example", COMPILED, ids=line_of)
@pytest.mark.usefixtures("compiled")
def test_cccc_says_what_the_page_says(example: Example) -> None:
    said = " ".join(example.diagnostics)
    assert bool(said) == example.left_alone
    if example.said:
        assert plain(example.said) == plain(said)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("few_headers", "in_process")
def test_by_default_cccc_says_what_the_page_says(tmp_path: Path) -> None:
    """The first example is collected without a word; the remarks are of others."""
    said = remarks(PAGE)
    assert PAGE.read_text().count("remark: ") == len(said) > 0
    first, *others = (
        example
        for example in read(PAGE)
        if example.number == 0 or any(f"{name}(" in example.code for name in said)
    )
    compile_together([first, *others], tmp_path, strategy=AUTO)
    assert all(record["applied"] for record in first.records)
    assert first.diagnostics == []
    _is_the_report_of_the_page(first.records)
    told = {plain(line) for example in others for line in example.diagnostics}
    assert {plain(one) for one in said.values()} <= told


def _is_the_report_of_the_page(records: list[dict[str, Any]]) -> None:
    """But for names of registers, and numbers that hang on them, which each nvcc makes as it likes;
    the page leaves out some of the strategies that were considered."""
    shown = PAGE.read_text().partition('    {"version"')
    report = json.loads("".join(shown[1:]).partition("\n\n")[0])
    ((told,), (record,)) = (report["kernels"][0]["paths"], records)
    assert list(told) == list(record)
    made = {"file", "context", "compressed", "expected", "considered", "at_worst"}
    made |= {"path_instructions", "registers_before", "registers_after"}
    assert {key: record[key] for key in told if key not in made} == {
        key: told[key] for key in told if key not in made
    }
    assert told["considered"].keys() == told["at_worst"].keys() < record["considered"].keys()


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("example", one_in(3, COMPILED), ids=line_of)
def test_an_example_does_what_it_does_without_ccc(
    example: Example, compiled: dict[int, Modules]
) -> None:
    modules = compiled[example.number]
    launch = Launch.parse(example.code.splitlines()[0])
    pieces = modules[0].module.functions
    name = example.kernel([piece.name for piece in pieces if piece.kind == "entry"])
    expected, _ = run(modules[0], name, launch)
    for schedule in SCHEDULES:
        found, _ = run(modules[1], name, launch, schedule=schedule)
        assert difference(expected, found) is None, schedule


@pytest.mark.parametrize("example", WRONG, ids=line_of)
def test_a_mistake_is_an_error(example: Example) -> None:
    with pytest.raises(source.SourceError) as error:
        source.mark(example.code, FILE)
    assert error.value.message == example.error
    assert str(error.value) == (example.said or "").rstrip("\n")


def test_every_path_in_an_example_says_what_becomes_of_it() -> None:
    paths = "|".join(name for name in DIRECTIVES if name not in ("for", "callable"))
    for example in EXAMPLES:
        for number, line in enumerate(example.code.splitlines(), 1):
            if re.search(rf"#pragma ccc ({paths})\b", line):
                assert number in example.outcomes, f"{PAGE.name}:{example.line + number}"


# Words, options, keys.


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", page.read_text(), re.M)


def test_every_directive_and_clause_has_a_section() -> None:
    titles = headings(PAGE)
    assert {f"`ccc {name}`" for name in DIRECTIVES} <= set(titles)
    for clause in CLAUSES:
        assert any(f"`{clause}" in title for title in titles), clause


def test_every_strategy_has_a_section() -> None:
    titles = " ".join(headings(DOCS / "strategies.md"))
    for name in STRATEGY_NAMES:
        assert name == AUTO or re.search(rf"`{name}(\(\w+\))?`", titles), name


def test_the_options_and_tools_are_those_that_there_are() -> None:
    text = PAGE.read_text()
    assert set(re.findall(r"`(--ccc-[a-z-]+)", text)) == set(driver.OPTIONS)
    assert set(re.findall(r"^    ccc (\w+)", text, re.M)) == set(cli.TOOLS)


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("compiled")
def test_every_key_of_the_report_is_explained() -> None:
    section = PAGE.read_text().partition("## The report")[2].partition(LEFT_ALONE)[0]
    keys = {key for row in re.findall(r"^\| (`.*?) \|", section, re.M) for key in row.split(", ")}
    found = {f"`{key}`" for example in COMPILED for record in example.records for key in record}
    for name in ("queue", "joined_sums", "large_blocks"):
        golden = Golden.read(GOLDEN / "small" / f"{name}.ptx")
        (record,) = golden.transform().remarks["k"]
        found |= {f"`{key}`" for key in record.entry()}
    found.add(f"`{MOST_REGISTERS}`")  # of kernels that are told: tests/compiler/test_launchable.py
    found.add("`is_wish`")  # of what is asked for in vain: tests/passes/test_declined.py
    found.add("`asked_in`")  # of decisions that do not apply: tests/test_decisions.py
    found.add(f"`{MAY_LOSE}`")  # of columns of threads: tests/compiler/test_own_columns.py
    found.add(f"`{CALLS}`")  # of copies: tests/compiler/test_blame_called.py
    found.add(f"`{TIMES_WAITING}`")  # of clocks: tests/compiler/test_seen_late.py
    found.add(f"`{ENDS_LATER}`")  # of loops that tasks end: tests/compiler/test_seen_late.py
    assert found == keys


# Reasons.


def rows() -> list[str]:
    """The reasons in the tables of the page."""
    tables = PAGE.read_text().partition(LEFT_ALONE)[2]
    cells = re.findall(r"^\| (`.*?`) \| ", tables, re.M)
    return [reason for cell in cells for reason in re.findall(r"`(.*?)`", cell)]


def test_every_reason_of_the_source_is_in_the_tables() -> None:
    for template, file in templates().items():
        assert any(matches(template, row) for row in rows()), f"{file}: {template}"


def test_every_reason_in_the_tables_is_in_the_source() -> None:
    for row in rows():
        assert any(matches(template, row) for template in templates()), row


def test_every_reason_in_the_golden_files_is_in_the_tables() -> None:
    known = [re.sub(r"\bNAME\b|\bN\b", "*", row) for row in rows()]
    for path in ERRORS.glob("*.ptx"):
        for said in Golden.read(path).says:
            _, reason = re.split(" left as it was: | does not apply: ", said, maxsplit=1)
            assert any(matches(template, reason) for template in known), f"{path}: {reason}"


# The other pages.


AROUND = """__device__ float shade(float t) {{
    for (int k = 0; k < 64 && t < 100; ++k) t = t * t + 0.25f;
    return t;
}}
__global__ void pixels(const float *distance, float *colour, float far, int n) {{
    int tid = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    {}
}}
"""


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("few_headers", "in_process")
def test_what_the_readme_opens_with_is_applied_by_default() -> None:
    first = re.findall(r"```c\+\+\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[0]
    compiled = ccc.compile(AROUND.format(first))
    (path,) = compiled.report["kernels"][0]["paths"]
    assert path["applied"]
    assert compiled.diagnostics == []


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("few_headers", "in_process")
def test_the_kernel_of_the_readme_is_transformed() -> None:
    blocks = re.findall(r"```c\+\+\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    (kernel,) = (block for block in blocks if "__global__" in block)
    compiled = ccc.compile(kernel, strategy=COLLECT)
    assert [p["directive"] for p in compiled.report["kernels"][0]["paths"]] == [
        "grid_stride",
        "while",
    ]
    assert compiled.diagnostics == []
    numbers, factor = np.arange(2, 300, dtype=np.uint64), np.zeros(298, np.uint32)
    launch = ccc.emulator.Module(compiled.ptx).get_function("smallest_factor")
    launch((5,), (64,), (numbers, factor, np.int32(numbers.size)))
    assert (numbers % factor == 0).all()
    assert factor[:6].tolist() == [2, 3, 2, 5, 2, 7]


@pytest.mark.slow
@needs_nvcc
@pytest.mark.usefixtures("few_headers", "in_process")
def test_the_sample_of_the_page_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (source_text,) = re.findall(r'SOURCE = r"""(.*?)"""', (DOCS / "cupy.md").read_text(), re.S)
    (sample,) = re.findall(r"```python\n(.*?)```", (DOCS / "bench.md").read_text(), re.S)
    (tmp_path / "kernel.cu").write_text(source_text)
    (tmp_path / "sample.py").write_text(sample)
    assert cli.main(["compare", str(tmp_path), "--device", "emulator"]) == 0
    assert "equal: yes" in capsys.readouterr().out


# The design, the links and the pages that are made.


def test_the_design_names_every_part() -> None:
    text = (DOCS / "design.md").read_text()
    packages = [f"ccc/{path.parent.name}/" for path in ROOT.glob("ccc/*/__init__.py")]
    modules = [f"ccc/{path.name}" for path in ROOT.glob("ccc/*.py")]
    passes = [path.name for path in ROOT.glob("passes/**/*.py")]
    elsewhere = {"ccc/passes/", "ccc/grammars/", "ccc/__init__.py", "__init__.py"}
    for name in {*packages, *modules, *passes} - elsewhere:
        assert f"`{name}`" in text, name


def test_files_that_a_page_names_are_there() -> None:
    """A word in capitals stands for a name that the reader chooses."""
    folders = "tests|ccc|passes|docs|samples|grammars"
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for name in re.findall(rf"(?<![\w/.-])(?:{folders})/[\w/.-]*\w", page.read_text()):
            chosen = re.search(r"\b[A-Z][A-Z-]+\b", name) is not None
            assert chosen or (ROOT / name).exists(), f"{page.name}: {name}"


def test_the_glossary_is_in_order_and_names_files_that_there_are() -> None:
    lines = (DOCS / "glossary.md").read_text().partition("| --- ")[2].splitlines()[1:]
    rows = [line.strip("| ").split(" | ") for line in lines]
    words = [word for word, _, _ in rows]
    assert words == sorted(set(words))
    assert words
    assert [file for _, _, file in rows if not (ROOT / file.strip("`")).is_file()] == []


def test_the_glossary_names_what_can_be_asked_for() -> None:
    (row,) = re.findall(r"^\| strategy \| (.*) \| ", (DOCS / "glossary.md").read_text(), re.M)
    names = re.findall(r"`(\w+)(?:\(\w\))?`", row.replace("`strategy`", ""))
    assert sorted(names) == sorted(STRATEGY_NAMES)


def test_the_page_names_the_strategies_that_are_not_modelled() -> None:
    text = " ".join((DOCS / "performance.md").read_text().split())
    (told,) = re.findall(r"not modelled then \((.*?)\)\.", text)
    modelled = {*ARMS, *TURNS, "adaptive", AUTO, COLLECT, "leave"} - {*FLATTENING}
    assert set(re.findall(r"`(\w+)", told)) == {*STRATEGY_NAMES} - modelled


def test_the_example_of_a_pass_is_one() -> None:
    text = (DOCS / "add-a-pass.md").read_text()
    first = text.partition("**1.")[2].partition("**2.")[0]
    code = textwrap.dedent("\n".join(re.findall(r"^    .*|^$", first, re.M)))
    scope = {"ClassVar": ClassVar, "Kernel": Kernel, "Pass": Pass}
    exec(code, scope)
    (kind,) = [one for one in scope.values() if isinstance(one, type) and Pass in one.__bases__]
    assert kind().name == "branch-alignment"


def test_the_example_of_a_strategy_is_one() -> None:
    text = (DOCS / "add-a-strategy.md").read_text()
    first = text.partition("**1.")[2].partition("**2.")[0]
    code = textwrap.dedent("\n".join(re.findall(r"^    .*|^$", first, re.M)))
    names = ("Sequence", "Path", "Facts", "Estimate", "Kernel", "Choice", "Rewritten")
    scope: dict[str, Any] = {"dataclass": dataclass, **dict.fromkeys(names, Any)}
    exec(f"from __future__ import annotations\n{code}", scope)
    wanted = {name for one in (Strategy, LoopStrategy) for name in vars(one) if name[0] != "_"}
    assert wanted == {
        "name",
        "applies",
        "cost",
        "together",
        "mixes",
        "entries",
        "iterations",
        "returns",
        "rewrite",
    }
    assert wanted <= set(dir(scope["FLATTEN"]))


def test_the_example_of_an_opcode_is_in_the_table() -> None:
    (row,) = re.findall(r"^    (op\(.*\))$", (DOCS / "add-an-opcode.md").read_text(), re.M)
    assert row in (ROOT / "ccc/ptx/opcodes.py").read_text().splitlines()


def links() -> Iterator[tuple[Path, str]]:
    for page in (ROOT / "README.md", *sorted(DOCS.glob("*.md"))):
        code = r"^```.*\n(?:.*\n)*?```$|^    .*$|`[^`\n]*`"
        text = re.sub(code, "", page.read_text(), flags=re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in target:
                yield page, target


def anchor(title: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"\]\(.*?\)", "", title).lower()).replace(" ", "-")


def test_links_lead_somewhere() -> None:
    for page, target in links():
        name, _, fragment = target.partition("#")
        there = page.parent / name if name else page
        assert there.exists(), f"{page.name}: {target}"
        if fragment:
            assert fragment in map(anchor, headings(there)), f"{page.name}: {target}"


@pytest.mark.parametrize("name", pages.PAGES)
def test_a_generated_page_is_up_to_date(name: str, bless: bool) -> None:
    if bless:
        pages.write(name)
    assert (DOCS / name).read_text() == pages.PAGES[name](), f"python docs/pages.py writes {name}"
