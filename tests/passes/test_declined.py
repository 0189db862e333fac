"""A strategy that is asked for and does not apply: all is done as if nobody had asked."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from breadth import one_in
from folders import ERRORS, GOLDEN
from goldens import Golden
from test_choice import Arm, kernel

from ccc.compiler.advice import ANOTHER
from ccc.compiler.requests import OF_ANOTHER_KIND
from ccc.compiler.transform import Transformed, transform
from ccc.decisions import AnnotationPlace, TunedDecisions, TunedPath
from ccc.ir.markers import WHOLE_KERNEL
from ccc.options import AUTO, Request
from ccc.passes.strategies.registry import STRATEGY_NAMES
from ccc.remark import Remark

STRATEGIES = [name for name in STRATEGY_NAMES if name not in (AUTO, "collect", "leave")]
NUMBERS = {"bins": 8, "tile": 3, "sub_warp": 8, "refill": 2, "counter": 2}
ASKED = [f"{name}({NUMBERS[name]})" if name in NUMBERS else name for name in STRATEGIES]

FORMS = {
    "if": "context-collection/seldom",
    "two arms": "context-collection/if_else",
    "cases": "context-collection/many_cases",
    "while": "context-collection/while_task",
    "for variable": "context-collection/joined_lists",
    "nested": "context-collection/path_in_while",
    "tasks that lead to others": "small/carried",
    "recursion": "recursion/recursion_narrow",
}


def without_clauses(text: str) -> str:
    return re.sub(r" strategy=\S+", "", text)


@functools.lru_cache(maxsize=len(FORMS))
def of_form(form: str) -> tuple[str, Transformed]:
    """The PTX of a form, which asks for nothing, and what comes out of it."""
    ptx = without_clauses(Golden.read(GOLDEN / f"{FORMS[form]}.ptx").before)
    return ptx, transform(ptx)


def remarks(made: Transformed) -> list[Remark]:
    return [one for mine in made.remarks.values() for one in mine]


def told(made: Transformed) -> list[dict[str, Any]]:
    """All that the report says, but for what was asked."""
    rest = ("asked", "asked_in", "declined", "is_wish")
    return [{k: v for k, v in one.entry().items() if k not in rest} for one in remarks(made)]


def places(made: Transformed) -> list[tuple[str, str]]:
    """The positions and arms of all annotated paths."""
    found = (one for one in remarks(made) if one.arm not in WHOLE_KERNEL)
    return list(dict.fromkeys(map(place_of, found)))


def place_of(one: Remark) -> tuple[str, str]:
    return f"{one.position.line}:{one.position.column}", one.arm


def asking(ptx: str, place: tuple[str, str], strategy: str) -> str:
    position, arm = place
    marker = rf"(// ccc\.{arm} \S+ \S+:{position})(?!\d)"
    return re.sub(marker, rf"\1 strategy={strategy}", ptx)


def is_declined(made: Transformed, place: tuple[str, str], strategy: str) -> bool:
    """Whether no copy of an annotation got what was asked for; that is told then.

    What is melded is told of one of its arms, whichever asked.
    """
    request = Request.read(strategy)
    assert request is not None
    mine = [one for one in remarks(made) if place_of(one) == place]
    here = (one for one in remarks(made) if place_of(one)[0] == place[0])
    if any(one.applied and one.follows(request) for one in (*mine, *(() if mine else here))):
        return False
    assert mine
    assert all(one.complaint for one in mine if one.asked)
    assert made.complaints
    return True


def same(made: Transformed, other: Transformed) -> bool:
    """Whether all is the same, but for the reason why a path is refused whatever is asked for: that
    of what was asked for is told."""
    mine, others = told(made), told(other)
    pairs = list(zip(mine, others, strict=False))
    for one, two in pairs:
        if one["reason"] and two["reason"]:
            one["reason"] = two["reason"]
    return without_clauses(made.ptx) == without_clauses(other.ptx) and mine == others


EVERY = [path for path in sorted(GOLDEN.glob("*/*.ptx")) if "flatten" not in path.parent.name]
PAIRS = [(path, one) for n, path in enumerate(EVERY) for one in ASKED[n % 4 :: 4]]
"""Each file with a quarter of the strategies: all pairs take two cores four minutes."""


@pytest.mark.parametrize(
    ("path", "strategy"),
    one_in(45, PAIRS),
    ids=lambda one: one.stem if isinstance(one, Path) else one,
)
def test_a_clause_that_does_not_apply_changes_nothing(path: Path, strategy: str) -> None:
    golden = Golden.read(path)
    ptx, options = without_clauses(golden.before), replace(golden.options, strategy=AUTO)
    plain = transform(ptx, options)
    for place in places(plain):
        made = transform(asking(ptx, place, strategy), options)
        assert same(made, plain) or not is_declined(made, place, strategy)


def test_what_keeps_calls_from_being_inlined_is_asked_for_no_more() -> None:
    """Once one copy is flattened, the other cannot be inlined; nor the first, behind a call."""
    test_a_clause_that_does_not_apply_changes_nothing(
        GOLDEN / "small/asked_of_copies.ptx", "refill(2)"
    )


LEFT = "a path that is left alone lies in the loop"


@pytest.mark.parametrize(
    ("form", "strategy", "reason"),
    [
        ("if", "engage", OF_ANOTHER_KIND),
        ("two arms", "batch7", f"{LEFT}; remove its annotation, or if it is another arm or case"),
        ("cases", "pool", "there are several paths"),
        ("while", "queue", "the tasks of a loop come back after some turns"),
        ("for variable", "counter(2)", "its iterations need more than their number"),
        ("nested", "flatten", "it is no inner loop"),
        ("tasks that lead to others", "cases", "a path is an inner loop"),
        ("recursion", "batch3", "the path is an inner loop"),
    ],
)
def test_it_is_told_why(form: str, strategy: str, reason: str) -> None:
    ptx, plain = of_form(form)
    place = places(plain)[-1]
    made = transform(asking(ptx, place, strategy))
    assert is_declined(made, place, strategy)
    assert same(made, plain)
    arm = " of path (else)" if form == "two arms" else ""  # the other one was not asked
    assert f"strategy({strategy}){arm} does not apply: {reason}" in made.diagnostics[0]


@pytest.mark.parametrize(("form", "strategy"), one_in(7, product(FORMS, ASKED[::4])))
def test_so_it_is_with_what_was_measured(form: str, strategy: str, tmp_path: Path) -> None:
    ptx, plain = of_form(form)
    for one in remarks(plain):
        file = tmp_path / "decisions.json"
        TunedDecisions([TunedPath(AnnotationPlace.of_remark(one), strategy)]).write(file)
        made = transform(ptx, decisions=str(file))
        assert same(made, plain) or not is_declined(made, place_of(one), strategy)


@pytest.mark.parametrize(("form", "strategy"), one_in(7, product(FORMS, ASKED)))
def test_what_the_option_asks_for_in_vain_changes_nothing(form: str, strategy: str) -> None:
    ptx, plain = of_form(form)
    made = transform(ptx, strategy=strategy)
    if not any(one.is_asked for one in remarks(made)):
        assert same(made, plain)


@pytest.mark.parametrize(
    ("strategy", "done", "why"),
    [
        ("queue", "merge", "its stacks do not fit into shared memory"),
        ("batch7", "merge", "there are several paths; ask for a strategy that serves several"),
        ("engage", "merge", OF_ANOTHER_KIND),
    ],
)
def test_why_a_wish_of_the_command_line_is_not_done_is_in_the_report(
    strategy: str, done: str, why: str
) -> None:
    """Nobody is warned: it asks for all paths, of whatever kind."""
    arm = Arm(300, 0.05)
    made = transform(kernel(arm, arm), strategy=strategy, shared_limit=4096)
    for one in remarks(made):
        assert (one.strategy, one.asked, one.entry()["is_wish"]) == (done, strategy, True)
        assert str(one.declined).startswith(why)
        assert one.complaint is None
        assert Remark.read(one.entry(), one.kernel) == one
    assert made.diagnostics == []
    asked = transform(kernel(arm, arm), strategy=done, shared_limit=4096)
    assert not any("is_wish" in one.entry() or one.declined for one in remarks(asked))


def test_what_is_done_instead_is_told() -> None:
    """And nobody is to ask for another strategy who has got one."""
    (served,) = remarks(transform(kernel(Arm(300, 0.1, clauses="strategy=flatten"))))
    assert str(served.complaint).endswith(f'"ccc for variable"; {served.strategy} is done instead')
    (left,) = remarks(transform(kernel(Arm(8, 0.9, clauses="strategy=flatten"))))
    assert str(left.complaint).endswith(f'"ccc for variable"; {ANOTHER}')


def test_what_is_asked_for_elsewhere_counts_then() -> None:
    ptx = without_clauses(Golden.read(GOLDEN / "context-collection" / "seldom.ptx").before)
    (place,) = places(transform(ptx))
    declined = asking(ptx, place, "engage")
    assert [one.strategy for one in remarks(transform(declined, strategy="merge"))] == ["merge"]
    around = re.sub(r"(// ccc\.for .*)", r"\1 strategy=queue", declined)
    assert [one.strategy for one in remarks(transform(around))] == ["queue"]


def test_what_would_lose_is_left_then() -> None:
    (one,) = remarks(transform(kernel(Arm(8, 0.9, clauses="strategy=engage"))))
    assert (one.applied, one.strategy, one.asked) == (False, "leave", "engage")
    assert one.details["considered"]["queue"] < 1
    assert str(one.declined).startswith(OF_ANOTHER_KIND)
    assert one.note is not None


def test_why_a_strategy_does_not_apply_is_told_where_the_path_is_refused_as_well() -> None:
    """What keeps a path from being collected is seldom what keeps it from being flattened."""
    (path,) = ERRORS.glob("flatten_looks_again.ptx")
    made = transform(Golden.read(path).before)
    (one,) = remarks(made)
    assert str(one.declined).startswith("lanes may wait for one another in the loop around it")
    assert str(one.reason).startswith("the next iteration needs a value that is read after")
    assert [("does not apply" in said) for said in made.diagnostics] == [True, False]


def test_a_tile_that_does_not_apply_says_so() -> None:
    golden = Golden.read(ERRORS / "tile_next_iteration.ptx")
    (place,) = places(transform(golden.before))
    made = transform(asking(golden.before, place, "tile(3)"))
    assert is_declined(made, place, "tile(3)")
    told = (
        "begins with a value that the path computes; if no iteration needs the variable of another"
    )
    assert told in made.diagnostics[0]
    assert made.diagnostics[1:] == transform(golden.before).diagnostics


def test_what_a_strategy_lacks_is_not_what_collection_lacks() -> None:
    """It has no room for what tasks save, and ``flatten`` saves nothing."""
    ptx = without_clauses(Golden.read(ERRORS / "too_large.ptx").before)
    (place,) = places(transform(ptx))
    made = transform(asking(ptx, place, "flatten"))
    assert is_declined(made, place, "flatten")
    assert "does not apply: it is no inner loop" in made.diagnostics[0]


def test_what_does_not_apply_to_one_copy_is_still_asked_of_another() -> None:
    """Also where the first one's call is no longer inlined, and the other gets its name."""
    made = transform(Golden.read(GOLDEN / "small" / "asked_of_copies.ptx").before)
    assert [one.strategy for one in made.remarks["k"] if one.applied] == [
        "grid_stride",
        "sub_warp(8)",
    ]


def on_the_loop(ptx: str, strategy: str) -> str:
    return re.sub(r"(// ccc\.for .*)", rf"\1 strategy={strategy}", ptx)


def test_what_a_loop_asks_for_in_vain_is_told_of_its_paths() -> None:
    ptx, plain = of_form("if")
    made = transform(on_the_loop(ptx, "engage"))
    assert same(made, plain)
    (said,) = made.diagnostics
    assert f"strategy(engage) does not apply: {OF_ANOTHER_KIND}" in said


def test_what_serves_one_path_of_a_loop_need_not_serve_the_others() -> None:
    """The loop asks for those that it can serve, and the others get what is chosen."""
    ptx = without_clauses(Golden.read(GOLDEN / "context-collection/joined_lists.ptx").before)
    made = transform(on_the_loop(ptx, "engage"))
    assert [(one.arm, one.strategy) for one in remarks(made)] == [
        ("then", "leave"),
        ("variable", "engage"),
    ]
    assert not made.diagnostics
