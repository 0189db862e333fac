"""Reasons as values: what they are about, what they show, and what they advise."""

from __future__ import annotations

import re

import pytest
from reasons import texts, ways_out

from ccc.analysis.paths.carried_values import REDUCTION_HINT, TOO_NARROW
from ccc.compiler.advice import ADVICE, BLOCKS, DECLINED
from ccc.compiler.reasons.hints import PATTERNS, Hint
from ccc.compiler.reasons.reason import Reason
from ccc.compiler.reasons.shown import Shown
from ccc.compiler.reasons.topics import WORDS, Topic
from ccc.frontend.uses import INTEGER

PLACE = "(PTX line 7: add.f32 %f2, %f2, %f1;)"
MATTER = f"the next iteration needs a value that the path computes {PLACE}"
MISUSED = "the variable of a reduction (a or b) may only be updated in the loop, by that operation"


@pytest.mark.parametrize(
    ("instruction", "made"),
    [
        ("add.s32 %r3, %r3, 1", INTEGER),
        ("@%p1 mad.wide.u32 %rd5, %r1, 4, %rd2", INTEGER),
        ("max.s32 %r3, %r3, %r4", INTEGER),
        ("add.rn.f32 %r3, %r3, %r4", "f32"),  # whatever registers are called
        ("fma.rn.f64 %rd3, %rd3, %rd4, %rd5", "f64"),
        ("cvt.rzi.s32.f32 %r3, %f3", ""),
        ("setp.lt.f32 %p1, %f3, %f4", ""),
        ("and.pred %p1, %p2, %p3", ""),
        ("ld.global.u32 %r3, [%rd1]", ""),
        ("ld.global.f32 %f3, [%rd1]", "f32"),
        ("@!%p2 mov.b64 %fd3, %rd1", "f64"),
        ("st.global.f32 [%rd1], %f3", ""),
        ("ret", ""),
    ],
)
def test_what_an_instruction_makes_is_told_by_its_type(instruction: str, made: str) -> None:
    assert Shown(7, f"{instruction};").made == made


def test_a_reason_is_read_once() -> None:
    reason = Reason.read(f"{MATTER}; {REDUCTION_HINT}; else remove the annotation")
    assert reason.topic is Topic.CARRIED
    assert [str(one) for one in reason.shown] == [PLACE]
    assert reason.shown[0].opcode.name == "add"
    assert reason.begins("the next iteration")
    assert reason.clause is not None
    assert (reason.clause.hint, reason.clause.words) == (Hint.REDUCTION, REDUCTION_HINT)
    assert not reason.ends_with(reason.clause)
    assert reason.filled(Hint.REDUCTION, "do so").text() == (
        f"{MATTER}; do so; else remove the annotation"
    )
    assert reason.filled(Hint.MISUSED, "do so") == reason
    assert reason.advising("do so").text() == f"{MATTER}; do so"


def test_what_is_said_of_clauses_goes_to_the_end_but_for_a_strategy_that_serves() -> None:
    advice = f"{MISUSED}; in the way is {PLACE}; {TOO_NARROW}"
    reason = Reason.read(f"{MATTER}; {advice}; or ask for strategy(tile(3))")
    assert reason.clause is not None
    assert (reason.clause.words, reason.clause.given) == (advice, ("a or b",))
    assert [str(one) for one in reason.shown] == [PLACE, PLACE]
    narrow = reason.filled(Hint.TOO_NARROW, "make it an int").text()
    assert narrow == f"{MATTER}; {advice.replace(TOO_NARROW, 'make it an int')}" + (
        "; or ask for strategy(tile(3))"
    )
    for told in (reason.filled(Hint.MISUSED, "do so"), reason.advising_first("do so")):
        assert told.text() == f"{MATTER}; do so; or ask for strategy(tile(3))"


def test_a_reason_of_which_nobody_knows_better_stays_as_it_is() -> None:
    advice = (*ADVICE.values(), *BLOCKS.values(), *DECLINED.values(), *ways_out())
    for text in (*(f"{MATTER}; {one}" for one in advice), *ADVICE, MATTER):
        assert Reason.read(text).text() == text


def test_what_a_reason_is_about_is_told_by_words_that_passes_say() -> None:
    said = [text.replace("hands *", "hands a value") for text in texts()]
    assert not [words for words in WORDS if not any(words in text for text in said)]


@pytest.mark.parametrize(
    "hint", [Hint.MISUSED, Hint.INLINE, Hint.OWN_ARRAY, Hint.IN_THE_WAY, Hint.FLUSHED]
)
def test_hints_that_have_no_name_are_found_by_words_that_passes_say(hint: Hint) -> None:
    assert any(re.search(PATTERNS[hint], text) for text in texts())
