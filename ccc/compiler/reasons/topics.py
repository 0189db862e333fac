"""What reasons are about, by which the variables are found that they may mean."""

from __future__ import annotations

from enum import Enum

from ccc.analysis.paths.induction import LAST_TURN
from ccc.analysis.paths.own_columns import OWN_COLUMNS
from ccc.analysis.paths.seen_late import SEEN_LATE


class Topic(str, Enum):
    """What a reason is about, as ``Suspects.names`` calls it."""

    UNINITIALISED = "uninitialised"
    CARRIED = "carried"
    HANDED = "handed"
    ACCESSED = "accessed"
    WRITTEN = "written"
    ARRAYS = "arrays"


TOO_EARLY = "begins with a value that the path computes"
"""Of what heads of iterations may not wait for."""
WORDS = {
    "may be uninitialised": Topic.UNINITIALISED,
    "needs a value that the path computes": Topic.CARRIED,
    TOO_EARLY: Topic.CARRIED,
    "needs what its iterations make": Topic.CARRIED,
    "needs a clock or counter": Topic.CARRIED,
    "an iteration hands a value": Topic.CARRIED,
    "its turns hand on a value": Topic.HANDED,
    LAST_TURN: Topic.HANDED,
    "its lane computes all of it": Topic.CARRIED,
    "an accumulator of a reduction is set in the path": Topic.CARRIED,
    "needs a value that is read after the path": Topic.ACCESSED,
    "needs a value that is read in the path": Topic.ACCESSED,
    SEEN_LATE: Topic.ACCESSED,
    OWN_COLUMNS: Topic.ACCESSED,
    "use the same memory": Topic.WRITTEN,
    "may access the same memory": Topic.ACCESSED,
    "may use the shared memory": Topic.ACCESSED,
    "a lock may ": Topic.ACCESSED,
    "its turns look at what others may write": Topic.ACCESSED,
    "its turns may wait for one another": Topic.ACCESSED,
    "lanes may wait ": Topic.ACCESSED,
    "lanes wait ": Topic.ACCESSED,
    "lanes have iterations until ": Topic.ACCESSED,
    "threads may wait for one another": Topic.ACCESSED,
    "what a lane waits for": Topic.ACCESSED,
    "local memory (an array of the thread's own)": Topic.ARRAYS,
}
"""By words of reasons; the first that a reason has counts."""


def topic_of(text: str) -> Topic | None:
    """What a reason is about, by its words."""
    return next((topic for words, topic in WORDS.items() if words in text), None)
