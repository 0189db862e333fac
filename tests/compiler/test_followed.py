"""What there would be to say once advice is followed is said at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from ccc.analysis.paths.carried_values import AS_WHILE, UNINITIALISED
from ccc.compiler.as_it_came import as_it_came
from ccc.compiler.followed import followed
from ccc.compiler.said import Remarks
from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.ir.reannotated import Reannotated, supposed
from ccc.remark import Remark

UNSET = f"needs it; {UNINITIALISED}"
REMOVE = "poor; remove the annotation"
WHILE = Reannotated(marked={"LOOP": "while"})
VARIABLE = Reannotated(marked={"LOOP": "variable"})


def place(line: int) -> Span:
    return Span("k.cu", line, 1)


def left(line: int, advice: str, *ways: Reannotated) -> Remark:
    marker = Marker("then", line, place(line))
    return replace(Remark.not_worth_it(marker, "k", advice, {}), ways=ways)


def refused(line: int, reason: str, *ways: Reannotated) -> Remark:
    return replace(Remark.missed_at(Marker("then", line, place(line)), "k", reason), ways=ways)


def applied(line: int) -> Remark:
    return Remark.applied_to(Marker("then", line, place(line)), "k", "queue", {})


def gone(*lines: int) -> Reannotated:
    return Reannotated(frozenset(map(place, lines)))


def told(
    remarks: list[Remark], later: Mapping[Reannotated, list[Remark]], size: int = 10
) -> list[str]:
    """What is said of a kernel of that size, by what there would be to say with other
    annotations."""

    def again(others: Mapping[str, Reannotated]) -> Remarks:
        found = (later.items(), others["k"])
        return {"k": next(mine for other, mine in found[0] if other == found[1])}

    (every,) = followed({"k": remarks}, again, {"k": size}).values()
    return [one.reason or one.advice or "" for one in every]


def test_a_large_kernel_is_looked_at_once() -> None:
    """What that tells is told, and what else there may be is not looked for."""
    later = {gone(1): [left(2, "poor, too; remove the annotation"), left(3, "fair")]}
    remarks = [left(1, REMOVE), left(2, "fair; tell with a profile"), left(3, "good")]
    with pytest.raises(StopIteration):  # it would be looked at once more
        told(remarks, later)
    assert told(remarks, later, size=8000) == [
        REMOVE,
        "poor, too; remove the annotation",
        "good",
    ]


def test_what_is_to_go_once_another_is_gone_is_to_go_at_once() -> None:
    later = {gone(1): [left(2, "poor, too; remove the annotation")]}
    assert told([left(1, REMOVE), left(2, "fair; tell with a profile")], later) == [
        REMOVE,
        "poor, too; remove the annotation",
    ]


def test_what_serves_once_another_is_gone_says_so() -> None:
    remarks = [left(1, REMOVE), left(2, "fair; tell with a profile")]
    assert told(remarks, {gone(1): [applied(2)]}) == [
        REMOVE,
        "fair; remove that on line 1, without which this one serves",
    ]


def test_of_two_that_are_in_the_way_of_each_other_the_one_that_serves_stays() -> None:
    remarks = [left(line, "fair; tell with a profile") for line in (1, 2, 3)]
    later = {
        gone(2, 3): remarks[:1],
        gone(1, 3): [applied(2)],
        gone(3): remarks[:2],
        gone(1): [applied(2), remarks[2]],
    }
    assert told(remarks, later) == [
        "fair; remove this annotation: that on line 2 serves without it",
        "fair; remove that on line 1, without which this one serves",
        "fair; tell with a profile",
    ]


def test_an_annotation_of_another_file_is_told_with_that() -> None:
    elsewhere = Span("k.cuh", 6)
    first, other = left(6, "fair; tell"), replace(left(6, "fair; tell"), position=elsewhere)
    (file,) = {one.file for one in (first.position,)}
    later = {Reannotated(frozenset({elsewhere})): [applied(6)], gone(6): [other]}
    assert told([first, other], later) == [
        "fair; remove that on line 6 of k.cuh, without which this one serves",
        f"fair; remove this annotation: that on line 6 of {file} serves without it",
    ]
    alone = replace(
        other, advice=f"remove this annotation: that on line 6 of {file} serves without it"
    )
    assert as_it_came({"k": [applied(6), alone]})["k"][1] == alone
    applied_there = replace(applied(6), position=elsewhere)
    assert as_it_came({"k": [applied_there, alone]})["k"][1].advice == "remove the annotation"


def test_no_loop_is_to_be_marked_if_that_would_be_in_vain() -> None:
    remarks = [refused(1, "in a loop; mark that", VARIABLE, WHILE)]
    later = {VARIABLE: [refused(1, f"clash; {AS_WHILE}")], WHILE: [left(1, REMOVE)]}
    assert told(remarks, later) == [
        "in a loop; remove this annotation: with others, too, nothing would be gained by it"
    ]
    later[VARIABLE] = [refused(1, "sum; say so on the loop: reduction(+: s)")]
    assert told(remarks, later) == ["in a loop; mark that"]


@pytest.mark.parametrize(
    ("later", "advice"),
    [
        ("fair; tell with a profile", "mark that instead"),
        (REMOVE, "remove this annotation: with others, too, nothing would be gained by it"),
        (
            "poor; remove the annotation, or tell with prob(share)",
            "remove this annotation, or tell with prob(share): with others, too, nothing would be "
            "gained as far as is known",
        ),
    ],
)
def test_what_is_annotated_in_place_of_a_path_is_followed_too(later: str, advice: str) -> None:
    way = replace(WHILE, without=frozenset({place(1)}))
    marker = Marker("while", -1, supposed("LOOP"))
    remarks = [refused(1, "in a loop; mark that instead", way)]
    assert told(remarks, {way: [Remark.not_worth_it(marker, "k", later, {})]}) == [
        f"in a loop; {advice}"
    ]


def test_nothing_is_told_of_what_does_not_serve_after_all() -> None:
    alone = left(2, "fair; remove this annotation: that on line 1 serves without it")
    assert as_it_came({"k": [applied(1), alone]})["k"][1] == alone
    (_, other) = as_it_came({"k": [left(1, REMOVE), alone]})["k"]
    assert other.advice == "fair; remove the annotation"


def test_copies_of_which_different_things_are_advised_say_what_serves_most() -> None:
    instead = replace(WHILE, without=frozenset({place(1)}))
    remarks = [refused(1, "in a loop; mark it", VARIABLE), refused(1, "in two; mark both", instead)]
    marker = Marker("while", -1, supposed("LOOP"))
    kept = [Remark.applied_to(marker, "k", "queue", {}), refused(1, "in two; mark both", instead)]
    later = {
        VARIABLE: kept,
        instead: kept[:1],
        replace(VARIABLE, without=frozenset({place(1)})): kept[1:],
    }
    assert told(remarks, later) == ["in two; mark both"] * 2
    later = {VARIABLE: [*kept[:1], applied(1)], instead: kept[:1]}
    assert told(remarks, later) == ["in a loop; mark it"] * 2


def test_a_loop_that_serves_alone_is_to_be_marked_in_place_of_a_path() -> None:
    """And not what it has room beside, nor what may be worth more."""
    both = Reannotated(
        marked={"LOOP": "variable", "OUTER": "variable"}, ends={"LOOP": " (in)", "OUTER": " (out)"}
    )
    alone = replace(both.only(["OUTER"]), without=frozenset({place(1)}))
    markers = [Marker("while", -at, supposed(name)) for at, name in enumerate(("LOOP", "OUTER"), 1)]
    outer = Remark.applied_to(markers[1], "k", "merge", {"considered": {"merge": 1.6}})
    inner = Remark.not_worth_it(markers[0], "k", REMOVE, {"considered": {"queue": 0.5}})
    refusal = refused(1, "in a loop (in); mark it, and the loop around it", both)
    later = {both: [outer, inner, left(1, REMOVE)], alone: [outer]}
    (only,) = told([refusal], later)
    assert only == (
        'in a loop (out); mark it "ccc for variable", if its turns are independent, in place of '
        "this annotation; else remove this annotation"
    )
    behind = replace(both, ends={})  # what follows the loop is to be annotated, too
    (only,) = told([replace(refusal, ways=(behind,))], later)
    assert "in place of this annotation" not in only
    flatten = "; or ask for strategy(flatten): expected 2.6"
    (only,) = told([replace(refusal, reason=f"{refusal.reason}{flatten}")], later)
    assert only.endswith(f"else remove this annotation{flatten}")
    open_ = replace(inner, advice="fair; tell with a profile", details={"considered": {"merge": 2}})
    assert told([refusal], {both: [outer, open_, left(1, "fair; tell")]}) == [refusal.reason]


def test_turns_that_hand_on_what_no_reduction_is_of_are_not_independent() -> None:
    """As is said of one of their copies that was not to be marked."""
    whole = Reannotated(marked={"LOOP": "for"}, entered={"LOOP": ["ABOVE"]})
    remarks = [refused(1, 'in a loop; mark it "ccc for"', whole), refused(1, UNSET)]
    carried = "needs it; if the loop only adds it up, say so on the loop: reduction(+: variable)"
    vain = "remove this annotation: with others, too, nothing would be gained by it"
    later = {whole: [refused(1, carried), refused(1, UNSET)]}
    assert told(remarks, later) == [f"in a loop; {vain}", f"needs it; {vain}"]
    summed = carried.replace("variable", "%r1")
    assert told(remarks, {whole: [refused(1, summed)]})[0] == 'in a loop; mark it "ccc for"'


def test_copies_are_advised_nothing_by_which_others_would_be_lost() -> None:
    refusal = refused(1, "in a loop; mark it", VARIABLE)
    kept = "in a loop; leave it as it is, since the annotation serves other copies"
    assert told([applied(1), refusal], {VARIABLE: [refused(1, "full; " + REMOVE)]}) == ["", kept]
    assert told([applied(1), refusal], {VARIABLE: [applied(1)]}) == ["", refusal.reason]


def test_what_it_takes_in_one_way_says_enough_of_another() -> None:
    """Where that is refused for what its reader has to mend first."""
    remarks = [refused(1, "in a loop; mark that", VARIABLE, WHILE)]
    poor = replace(left(1, REMOVE), details={"considered": {"merge": 0.6}})
    later = {VARIABLE: [refused(1, "same memory; promise noalias")], WHILE: [poor]}
    assert told(remarks, later) == [
        "in a loop; remove this annotation: with others, too, nothing would be gained by it"
    ]
    later[WHILE] = [refused(1, "same memory; promise noalias")]
    assert told(remarks, later) == ["in a loop; mark that"]


def test_what_loses_a_path_that_is_transformed_and_wins_none_is_in_vain() -> None:
    way = replace(WHILE, without=frozenset({place(2)}))
    marker = Marker("while", -1, supposed("LOOP"))
    loop = Remark.not_worth_it(marker, "k", "fair; tell with a profile", {})
    remarks = [applied(1), refused(2, "in a loop; mark that instead", way)]
    vain = "in a loop; remove this annotation: with others, too, nothing would be gained by it"
    assert told(remarks, {way: [left(1, "fair; tell"), loop]}) == ["", vain]
    assert told(remarks, {way: [applied(1), loop]}) == ["", "in a loop; mark that instead"]
