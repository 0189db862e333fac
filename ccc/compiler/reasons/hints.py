"""What reasons advise of which the source tells more: each hint, and how passes word it."""

from __future__ import annotations

import re
from enum import Enum, auto

from ccc.analysis.apart import RESTRICT_ALL
from ccc.analysis.paths.array_hints import ANOTHER_LOOP, IN_PATH
from ccc.analysis.paths.carried_values import (
    BY_ATOMIC,
    READ_BEFORE,
    REDUCTION_HINT,
    SET_IN_LOOP,
    TO_READ_BEHIND,
    TOO_NARROW,
)
from ccc.analysis.paths.continuation import OF_ATOMIC
from ccc.analysis.paths.followers import TO_ANNOTATE
from ccc.analysis.paths.induction import BEFORE_IT, IN_VARIABLES, SUMS, SUMS_HINT, TO_SHARE
from ccc.analysis.paths.leading_out import LEAVES_TURNS
from ccc.analysis.paths.legality import AND_SO, IN_A_VARIABLE, OF_ONE
from ccc.analysis.paths.locate import MARK_KERNEL, MARK_LOOP
from ccc.analysis.paths.parting import BOTH_DECIDE, BY_ONE, DECIDES
from ccc.analysis.paths.promises import RESTRICT_BOTH
from ccc.analysis.paths.waiting import IF_APART
from ccc.analysis.paths.wanted_operations import NOTHING_ELSE, TAKES_NAN
from ccc.compiler.advice import FROM_COUNTER, IF_FROM_COUNTER


class Hint(Enum):
    """What the source may tell more of."""

    REDUCTION = auto()
    """To name what the loop only adds up in a clause."""
    MISUSED = auto()
    """That what clauses name may only be updated; the next two are parts of it."""
    IN_THE_WAY = auto()
    """What it is that does more."""
    FLUSHED = auto()
    """That they are no reductions as numbers are computed, whatever the loop does."""
    TAKES_NAN = auto()
    """That one is none since it takes what is no number."""
    OF_ATOMIC = auto()
    BY_ATOMIC = auto()
    TO_READ_BEHIND = auto()
    """What else a minimum needs, which the clause has to be of."""
    TURNS_ADD_UP = auto()
    """That turns may do nothing else with what they hand on."""
    SUMS = auto()
    """The clause alone."""
    TO_SHARE = auto()
    """That it would let turns be shared out."""
    FROM_COUNTER = auto()
    READ_BEFORE = auto()
    """Of what may be read in the head of the loop."""
    SET_IN_LOOP = auto()
    TOO_NARROW = auto()
    IN_VARIABLES = auto()
    BEFORE_IT = auto()
    LEAVES_TURNS = auto()
    DECIDES = auto()
    IN_PATH = auto()
    ANOTHER_LOOP = auto()
    OF_ONE = auto()
    """What can be done about memory that all iterations use."""
    KEPT = auto()
    """To keep it in a variable, where they only update it."""
    AND_SO = auto()
    """Which other memory is meant, too: that is no advice."""
    OWN_ARRAY = auto()
    """Which memory of the thread is meant: that is no advice."""
    MARKED_AROUND = auto()
    """What a path lies in that might be marked, if it lies in no annotated loop."""
    PROMISE = auto()
    PARAMETERS = auto()
    """That several of a kernel, by their numbers, are to be declared."""
    RESTRICT_BOTH = auto()
    IF_APART = auto()
    """That what lanes look at is to be declared so, if nothing else leads there."""
    TO_ANNOTATE = auto()
    """That loops behind one are to be annotated, too."""
    INLINE = auto()


CLAUSES = (Hint.REDUCTION, Hint.MISUSED)
"""Those that are about the clauses of the loop. A reason has one of them at most."""
PATTERNS = {
    Hint.REDUCTION: (
        f"{re.escape(REDUCTION_HINT)}|"
        + NOTHING_ELSE.format("(?:it|them)", r"((?: ?reduction\(\S+ variables?\))+)")
    ),
    Hint.MISUSED: r"the variable of a reduction \((.*?)\).*?(?=; or ask for strategy|$)",
    Hint.PROMISE: (
        r", or promise noalias\(a, b\) of the pointers read in PTX line ([\d, ]+) "
        r"and written in (\d+(?:, \d+)*)"
    ),
    Hint.AND_SO: AND_SO.format(r"(\d+(?:, \d+)*)"),
    Hint.IF_APART: f"(?:, or, )?{re.escape(IF_APART)}(?:; else )?",
    Hint.TO_ANNOTATE: rf"(?:{'|'.join(TO_ANNOTATE)}), or ([^;]*)",
    Hint.PARAMETERS: RESTRICT_ALL.format(r"(\d+(?: and \d+)+)"),
    Hint.INLINE: (
        "declare (?:it|the function) __forceinline__(?:, and call it directly|, in the same file)?"
    ),
    Hint.MARKED_AROUND: f"{re.escape(MARK_KERNEL)}|{re.escape(MARK_LOOP)}",
    Hint.FROM_COUNTER: f"{re.escape(IF_FROM_COUNTER)}|{re.escape(FROM_COUNTER)}",
    Hint.TO_SHARE: f"(?:; )?{re.escape(TO_SHARE)}",
    Hint.DECIDES: f"{re.escape(BY_ONE)} (?:{DECIDES}|({BOTH_DECIDE}))",
    Hint.READ_BEFORE: f"(?<!as what tells others to end, ){re.escape(READ_BEFORE)}",
    Hint.TO_READ_BEHIND: re.escape(TO_READ_BEHIND).replace(r"\{\}", r" \(PTX line .*?;\)"),
    Hint.TAKES_NAN: rf"{TAKES_NAN}.*? or use \w+(?:, and )?",
    Hint.OWN_ARRAY: re.escape("(an array of the thread's own)"),
    **{
        hint: re.escape(words)
        for hint, words in (
            (Hint.IN_THE_WAY, "in the way is"),
            (Hint.FLUSHED, "minima and maxima of floats are none under -ftz=true"),
            (Hint.OF_ATOMIC, OF_ATOMIC),
            (Hint.OF_ONE, OF_ONE.format("iteration")),
            (Hint.KEPT, IN_A_VARIABLE),
            (Hint.BY_ATOMIC, BY_ATOMIC),
            (Hint.TURNS_ADD_UP, SUMS_HINT),
            (Hint.SUMS, SUMS),
            (Hint.SET_IN_LOOP, SET_IN_LOOP),
            (Hint.TOO_NARROW, TOO_NARROW),
            (Hint.IN_VARIABLES, IN_VARIABLES),
            (Hint.BEFORE_IT, BEFORE_IT),
            (Hint.LEAVES_TURNS, LEAVES_TURNS),
            (Hint.IN_PATH, IN_PATH),
            (Hint.RESTRICT_BOTH, RESTRICT_BOTH),
            (Hint.ANOTHER_LOOP, ANOTHER_LOOP),
        )
    },
}
"""How passes word them; of those that begin at one place the first counts."""
