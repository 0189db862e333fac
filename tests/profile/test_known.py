"""What a profile of the original tells the compiler: against known counts, after edits, merged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_profile
from folders import GOLDEN
from goldens import Golden
from test_profile_goldens import run

from ccc import cli, emulator, profile
from ccc.compiler.transform import transform
from ccc.errors import CccError, Span
from ccc.ir.markers import Marker, parse_marker
from ccc.profile.known import Knowledge, Known
from ccc.profile.match import Place, match

MARKED = test_profile.HEADER + test_profile.LOOP
# A quarter of the warps comes by without a lane that takes the path.
RARE = """\
	and.b32 %r3, %r1, 3;
	mov.u32 %r4, %ctaid.x;
	setp.ne.s32 %p1, %r3, 0;
	setp.eq.s32 %p2, %r4, 0;
	or.pred %p1, %p1, %p2;
	@%p1 bra NEXT;
	// ccc.then 2 k.cu:3:5
	mul.lo.s32 %r5, %r2, %r1;
	red.global.add.u32 [%d1], %r5;
	bra NEXT;
"""
# An eighth of the lanes does no turn at all.
GUARDED_TURNS = """\
	and.b32 %r3, %r1, 7;
	setp.eq.s32 %p1, %r3, 0;
	@%p1 bra NEXT;
TURN:
	// ccc.while 2 k.cu:3:5
	red.global.add.u32 [%d1], %r2;
	add.s32 %r3, %r3, -1;
	setp.gt.s32 %p1, %r3, 0;
	@%p1 bra TURN;
"""
# One copy in each arm of a branch.
IN_BOTH_ARMS = """\
	and.b32 %r3, %r1, 1;
	setp.ne.s32 %p1, %r3, 0;
	and.b32 %r4, %r1, 2;
	setp.ne.s32 %p2, %r4, 0;
	@%p1 bra OTHER;
	@%p2 bra NEXT;
	// ccc.then 2 k.cu:3:5
	red.global.add.u32 [%d1], %r2;
	bra NEXT;
OTHER:
	@%p2 bra NEXT;
	// ccc.then 2 k.cu:3:5
	red.global.add.u32 [%d1], %r1;
	bra NEXT;
"""
# What a task calls; nvcc did not inline it.
CALLING = """\
	and.b32 %r3, %r1, 3;
	setp.ne.s32 %p1, %r3, 0;
	@%p1 bra NEXT;
	// ccc.then 2 k.cu:3:5
	{
	.param .b64 a;
	st.param.b64 [a], %d1;
	call.uni sum, (a);
	}
"""
CALLED = """\
.func sum(.param .u64 a)
{
	.reg .b64 %d<2>; .reg .b32 %r<2>;
	ld.param.u64 %d1, [a];
	mov.u32 %r1, 1;
	red.global.add.u32 [%d1], %r1;
	ret;
}
"""

# nvcc took the first turn out of a loop and turned the rest, so that its marker stands behind its
# head. A lane does as many turns of the rest as the last two bits of its number say.
FIRST_TURN_APART = """\
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;
	// ccc.grid_stride 1 k.cu:1:1
	ld.param.u64 %d1, [p];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.s32 %r4, %r2, %r3, %r1;
	mul.wide.u32 %d2, %r1, 4;
	add.s64 %d1, %d1, %d2;
	and.b32 %r5, %r4, 3;
	// ccc.loop 2 k.cu:3:5
	// ccc.while 2 k.cu:3:5
	setp.eq.s32 %p1, %r5, 0;
	@%p1 bra DONE;
REST:
	red.global.add.u32 [%d1], %r4;
	setp.lt.s32 %p2, %r4, 0;
	@%p2 bra DONE;
	add.s32 %r5, %r5, -1;
	// ccc.while 2 k.cu:3:5
	setp.eq.s32 %p3, %r5, 0;
	@%p3 bra DONE;
	bra REST;
DONE:
	red.global.add.u32 [%d1], %r5;
	ret;
}
"""


def counted(ptx: str, file: Path, blocks: int = 4, threads: int = 64) -> Path:
    """The profile of the original in a file."""
    module = emulator.Module(transform(ptx, profile="p").ptx)
    module.get_function("k")((blocks,), (threads,), (np.zeros(threads, np.uint32),))
    profile.of(module).write(file)
    return file


def markers(ptx: str) -> Iterator[Marker]:
    return filter(None, map(parse_marker, ptx.splitlines()))


def told(ptx: str, *files: Path, kernel: str = "k") -> Known | None:
    """What the files say of the path in a module."""
    every = list(markers(ptx))
    knowledge = Knowledge([str(file) for file in files], {}, every, [kernel])
    path = next(marker for marker in every if marker.kind not in ("loop", "for"))
    return knowledge.of(kernel, path)


def test_a_branch_that_warps_pass_by(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    known = told(ptx, counted(ptx, tmp_path / "p.json"))
    assert known is not None
    assert known.source.startswith("a profile of 20")
    visits = 4 * 2 * 8  # blocks, warps, iterations
    assert (known.visits, known.visiting_lanes) == (visits, 32 * visits)
    assert (known.entries, known.entering_lanes) == (visits * 3 / 4, 8 * visits * 3 / 4)
    assert (known.executions, known.lanes) == (known.entries, known.entering_lanes)
    assert known.length == 3
    assert known.starts == 4 * 2


def test_a_loop_that_not_all_lanes_begin(tmp_path: Path) -> None:
    ptx = MARKED.format(body=GUARDED_TURNS)
    known = told(ptx, counted(ptx, tmp_path / "p.json"))
    assert known is not None
    visits = 4 * 2 * 8
    assert (known.visits, known.visiting_lanes) == (visits, 32 * visits)
    assert (known.entries, known.entering_lanes) == (visits, 28 * visits)
    assert (known.executions, known.lanes) == (7 * visits, 4 * sum(range(8)) * visits)
    assert known.length == 4


def test_the_rest_of_a_loop_is_told_without_its_first_turn(tmp_path: Path) -> None:
    ptx = test_profile.HEADER + FIRST_TURN_APART
    known = told(ptx.replace("ccc.grid_stride", "ccc.for"), counted(ptx, tmp_path / "p.json"))
    assert known is not None
    warps = 4 * 2
    assert (known.visits, known.visiting_lanes) == (warps, 32 * warps)
    assert (known.entries, known.entering_lanes) == (warps, 24 * warps)
    assert (known.executions, known.lanes) == (3 * warps, (24 + 16 + 8) * warps)
    assert known.length == (7 + 7 + 6) / 3  # after the last turn no lane comes to the jump


def test_a_turn_is_as_long_and_has_the_lanes_that_were_counted(tmp_path: Path) -> None:
    ptx = test_profile.HEADER + FIRST_TURN_APART
    file = counted(ptx, tmp_path / "p.json")
    made = transform(ptx, use=(str(file),))
    (path,) = [one for one in made.report["kernels"][0]["paths"] if one["directive"] == "while"]
    assert path["instructions_from"] == "counted"
    assert path["expected_lanes"] == 16


def test_a_path_is_as_long_as_what_it_calls(tmp_path: Path) -> None:
    ptx = test_profile.HEADER + CALLED + test_profile.LOOP.format(body=CALLING)
    known = told(ptx, counted(ptx, tmp_path / "p.json"))
    assert known is not None
    assert (known.entries, known.length) == (4 * 2 * 8, 2 + 4)


def test_nothing_is_known_of_what_never_ran(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    module = emulator.Module(transform(ptx, profile="p").ptx)
    profile.of(module).write(tmp_path / "p.json")
    assert told(ptx, tmp_path / "p.json") is None


def golden(name: str, file: Path) -> tuple[str, profile.Profile]:
    found = Golden.read(GOLDEN / f"{name}.ptx")
    module = emulator.Module(transform(found.before, profile="p").ptx)
    run(module, found, "lockstep")
    profile.of(module).write(file)
    return found.before, profile.of(module)


def test_a_path_in_a_path_is_visited_by_the_turns_around_it(tmp_path: Path) -> None:
    _, found = golden("context-collection/path_in_while", tmp_path / "p.json")
    (kernel,) = found.kernels
    loop, branch = kernel.paths
    assert (branch.visits, branch.visiting_lanes) == (loop.executions, loop.lanes)
    assert branch.entries < branch.visits
    assert loop.all_instructions == loop.instructions + branch.instructions


def test_the_visits_of_a_kernel_without_a_loop_are_its_threads(tmp_path: Path) -> None:
    ptx, found = golden("grid-stride/grid_stride_while", tmp_path / "p.json")
    (kernel,) = found.kernels
    assert kernel.paths[0].visiting_lanes % 128 == 0
    assert kernel.paths[0].visits * 32 == kernel.paths[0].visiting_lanes
    known = told(ptx.replace("ccc.grid_stride", "ccc.for"), tmp_path / "p.json")
    assert known is not None
    assert known.entries < known.visits


def test_recursion_is_begun_by_the_calls_of_others(tmp_path: Path) -> None:
    ptx, found = golden("recursion/recursion_not_inlined", tmp_path / "p.json")
    first, rest = next(k for k in found.kernels if k.kind == "func").paths
    assert (first.entries, rest.entries) == (7, 0)  # nvcc took the first call out of the loop
    known = told(ptx, tmp_path / "p.json")
    assert known is not None
    assert (known.visits, known.entries, known.executions) == (7, 7, 7 + rest.executions)
    assert known.length == first.all_instructions / known.executions


def test_cases_and_copies_are_added_up(tmp_path: Path) -> None:
    ptx, found = golden("context-collection/switch_cases", tmp_path / "p.json")
    (kernel,) = found.kernels
    knowledge = Knowledge([str(tmp_path / "p.json")], {}, markers(ptx), ["k"])
    case = next(marker for marker in markers(ptx) if marker.kind == "case")
    known = knowledge.of("k", case)
    assert known is not None
    assert known.entries == sum(path.executions for path in kernel.paths)
    assert known.visits == sum(path.visits for path in kernel.paths) / 3  # of three cases each
    count = len(kernel.paths)
    for index, path in enumerate(kernel.paths):
        one = knowledge.of("k", case, (index, count))
        assert one is not None
        assert (one.visits, one.entries, one.length) == (path.visits, path.entries, path.length)


def test_copies_in_arms_of_a_branch_have_their_visits_in_common(tmp_path: Path) -> None:
    ptx = MARKED.format(body=IN_BOTH_ARMS)
    file = counted(ptx, tmp_path / "p.json")
    knowledge = Knowledge([str(file)], {}, markers(ptx), ["k"])
    path = next(marker for marker in markers(ptx) if marker.kind == "then")
    visits = 4 * 2 * 8
    first, all_in_one = (knowledge.of("k", path, nth) for nth in ((0, 2), (0, 1)))
    one_of_four = knowledge.of("k", path, (0, 4), 0.25)
    assert first
    assert all_in_one
    assert one_of_four
    assert (first.visits, first.entering_lanes) == (visits, 8 * visits)
    assert (all_in_one.visits, all_in_one.entering_lanes) == (visits, 16 * visits)
    assert (one_of_four.visits, one_of_four.entering_lanes) == (4 * visits, 16 * visits)
    assert all_in_one.visits / all_in_one.starts == one_of_four.visits / one_of_four.starts == 8
    ((reported, _),) = profile.by_annotation(profile.read(file))
    assert (reported.visits, reported.entering_lanes) == (visits, 16 * visits)


def test_another_kernel_with_the_same_annotation_tells_if_need_be(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    file = counted(ptx, tmp_path / "p.json")
    other = ptx.replace("entry k(", "entry instance(")
    assert told(other, file, kernel="instance") == told(ptx, file)


@pytest.mark.parametrize(("statement", "is_known"), [("if (hit)", True), ("if (miss)", False)])
def test_a_renamed_kernel_keeps_what_was_counted_of_its_statements(
    tmp_path: Path, statement: str, is_known: bool
) -> None:
    ptx = MARKED.format(body=RARE)
    module = emulator.Module(transform(ptx, profile="p", places={2: if_at(3, "if (hit)")}).ptx)
    module.get_function("k")((4,), (64,), (np.zeros(64, np.uint32),))
    profile.of(module).write(tmp_path / "p.json")
    renamed = {2: if_at(3, statement, "renamed")}
    path = next(marker for marker in markers(ptx) if marker.kind == "then")
    knowledge = Knowledge([str(tmp_path / "p.json")], renamed, [path], ["renamed"])
    known = knowledge.of("renamed", path)
    assert (known is not None) == is_known
    assert known is None or known.entries == 3 * 2 * 8
    assert not knowledge.warnings  # the profile may be of other sources as well


# Edited sources.


def if_at(line: int, statement: str = "", function: str = "f", file: str = "k.cu") -> Place:
    return Place(file, line, 5, "if", function, statement)


@pytest.mark.parametrize(
    ("recorded", "present", "expected"),
    [
        pytest.param([if_at(3), if_at(9)], [if_at(5), if_at(11)], [0, 1], id="moved"),
        pytest.param(
            [if_at(3, "if (a)"), if_at(9, "if (b)")],
            [if_at(3, "if (b)")],
            [None, 0],
            id="one removed",
        ),
        pytest.param(
            [if_at(3, "if (a)"), if_at(9, "if (b)")],
            [if_at(3, "if (a)"), if_at(6, "if (new)"), if_at(12, "if (b)")],
            [0, 2],
            id="one added",
        ),
        pytest.param([if_at(3, "if (a)")], [if_at(3, "if (a > 1)")], [0], id="another condition"),
        pytest.param(
            [if_at(3, "if (a)")], [if_at(3, "if (a)", "g")], [0], id="function with a new name"
        ),
        pytest.param([if_at(3, "if (a)")], [if_at(3, "if (b)", "g")], [None], id="other function"),
        pytest.param(
            [if_at(3, "", "f"), if_at(9, "", "g")],
            [if_at(3, "", "g"), if_at(9, "", "f")],
            [1, 0],
            id="functions in another order",
        ),
        pytest.param(
            [if_at(3)], [Place("k.cu", 3, 5, "while", "f")], [None], id="another directive"
        ),
        pytest.param([if_at(3)], [if_at(3, file="other.cu")], [None], id="other file"),
        pytest.param([if_at(3, "if (a)")], [Place("k.cu", 8, 5, "if")], [0], id="only markers"),
    ],
)
def test_annotations_are_found_again(
    recorded: list[Place], present: list[Place], expected: list[int | None]
) -> None:
    found = match(iter(recorded), iter(present))
    numbers = [None if one not in found else present.index(found[one]) for one in recorded]
    assert numbers == expected


def test_folders_do_not_count() -> None:
    one, other = (Place.at(Span(f"{folder}/k.cu", 3, 5), "if") for folder in ("/tmp/1", "src"))
    assert one == other == Place.read({"file": "k.cu", "line": 3, "column": 5, "directive": "if"})


def test_an_entry_that_matches_nothing_is_told_once(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    file = counted(ptx, tmp_path / "p.json")
    gone = ptx.replace("ccc.then", "ccc.while").replace("k.cu:3", "k.cu:7")
    done = transform(gone, use=(str(file),))
    said = [line for line in done.diagnostics if "p.json" in line]
    assert said == [
        f"{file}: warning: line 3 of k.cu, `ccc if`, is not in the source any more: profile again"
    ]
    assert transform(ptx, use=str(file), strict=True).diagnostics == []
    assert transform(ptx.replace("k.cu:3", "k.cu:30"), use=(str(file),)).diagnostics == []
    other = transform(gone.replace("entry k(", "entry other("), use=(str(file),))
    assert not [line for line in other.diagnostics if "p.json" in line]  # of another source


def test_a_profile_of_a_source_with_another_name_says_so_once(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    file = counted(ptx, tmp_path / "p.json")
    (said,) = transform(
        ptx.replace(" k.cu:", " app.cu:"), use=(str(file),), strict=True
    ).diagnostics
    assert said == (
        f"{file}: warning: the profile is of k.cu, and says nothing of app.cu: profile again, or "
        "compile it by that name"
    )


def test_a_profile_that_does_not_fit_is_no_error_with_strict(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    file = counted(ptx.replace("ccc.then", "ccc.while"), tmp_path / "p.json")
    (said,) = transform(ptx, use=(str(file),), strict=True).diagnostics
    assert "`ccc while`" in said


def test_a_profile_of_transformed_code_is_refused(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    module = emulator.Module(transform(ptx, profile="p", profile_transformed=True).ptx)
    profile.of(module).write(tmp_path / "p.json")
    with pytest.raises(CccError, match="is of transformed code"):
        transform(ptx, use=(str(tmp_path / "p.json"),))
    with pytest.raises(CccError, match="cannot be read") as caught:
        transform(ptx, use=(str(tmp_path / "none.json"),))
    assert caught.value.span == Span(str(tmp_path / "none.json"))


# Several runs.


def test_several_profiles_are_added_up(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    one = counted(ptx, tmp_path / "a.json")
    other = counted(ptx, tmp_path / "b.json", blocks=1)
    both = told(ptx, one, other)
    assert both is not None
    assert both.visits == (4 + 1) * 2 * 8
    assert both.entries == 3 * 2 * 8  # the first block never takes the path
    output = tmp_path / "all.json"
    assert cli.main(["profile", "merge", str(one), str(other), "-o", str(output)]) == 0
    assert len(profile.read(output).modules) == 1
    assert told(ptx, output) == both


def test_other_kernels_stand_side_by_side(tmp_path: Path) -> None:
    ptx = MARKED.format(body=RARE)
    one = counted(ptx, tmp_path / "a.json")
    other = counted(MARKED.format(body=GUARDED_TURNS), tmp_path / "b.json")
    merged = profile.merge([profile.read(one), profile.read(other)])
    assert len(merged.modules) == 2
    merged.write(tmp_path / "all.json")
    assert told(ptx, tmp_path / "all.json") == told(ptx, one)


def test_of_transformed_and_original_code_nothing_is_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ptx, output = MARKED.format(body=RARE), tmp_path / "all.json"
    one, other = counted(ptx, tmp_path / "a.json"), tmp_path / "b.json"
    other.write_text(one.read_text().replace('"transformed": false', '"transformed": true'))
    assert cli.main(["profile", "merge", str(one), str(other), "-o", str(output)]) == 1
    said = capsys.readouterr().err
    assert f"{other}: error: this profile is of transformed code, and others" in said
    assert not output.exists()
    assert cli.main(["profile", "merge", str(other), str(other), "-o", str(output)]) == 0
    assert profile.read(output).is_transformed


def test_the_help_of_merge_has_its_words_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["profile", "merge", "--help"])
    assert "profile [-h] merge FILE [FILE ...] -o FILE\n" in capsys.readouterr().out


def test_what_is_no_profile_is_not_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.json").write_text('{"format": 2, "modules": []}')
    arguments: list[Any] = [tmp_path / "a.json", "-o", tmp_path / "all.json"]
    assert cli.main(["profile", "merge", *map(str, arguments)]) == 1
    assert "its format is 2, not 3" in capsys.readouterr().err
    assert not (tmp_path / "all.json").exists()
