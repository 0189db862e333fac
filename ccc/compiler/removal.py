"""Advice to remove annotations: where that is all there is to do, and which are to go, is read from
its words here, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ccc.analysis.paths.continuation import TOO_SHORT

_ALONE = re.compile(
    r"(?:it is too short to gain anything: )?"
    r"remove (?:this|the) annotation(?:, too)?(?::[^;]*|, or tell [^;]*)?"
)
_AMONG_OTHERS = re.compile(
    rf"(?:{TOO_SHORT}|remove (?:the|this) annotations?(?:: at best [^;]*)?)(?=$|; )"
)
_OF_OTHERS = re.compile(
    r"remove (?:that|those) on lines? \d+(?:(?:, | and )\d+)*(?!\d|(?:, | and )\d| of )"
)
"""Those of the same file: what stands in another one is told with its name."""


def is_removal(advice: str) -> bool:
    """Whether it leaves nothing to do but to remove the annotation, as long as nobody knows
    more."""
    return _ALONE.fullmatch(advice) is not None


def without_removal(text: str, instead: str) -> str:
    """What is said of an annotation, with other words where it would have that removed."""
    return _AMONG_OTHERS.sub(instead, text)


def lines_removed(text: str) -> set[int]:
    """The lines of the other annotations of the file that are to go."""
    return {line for found in _OF_OTHERS.finditer(text) for line in _lines(found)}


def of_others_removed(text: str, told: Callable[[str, set[int]], str]) -> str:
    """What is said, with other words where other annotations are to go.

    Args:
        text: what is said.
        told: the words, by those that stand there and the lines of the annotations.
    """
    return _OF_OTHERS.sub(lambda found: told(found[0], _lines(found)), text)


def _lines(found: re.Match[str]) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", found[0])}
