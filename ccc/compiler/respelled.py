"""What is said of a variable of which there seems to be no reduction, where another spelling of its
updates would be one, or of which turns could be shared out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import REDUCTION_HINT, TOO_NARROW
from ccc.compiler.advice import FROM_COUNTER, IF_FROM_COUNTER
from ccc.frontend import spellings, updates

if TYPE_CHECKING:
    from ccc.errors import Span
    from ccc.frontend.syntax import Node
    from ccc.frontend.variables import Suspects

MISUSED = re.compile(r"the variable of a reduction \((.*?)\).*?(?=; or ask for strategy|$)")
"""What a reason says where some variables are named already."""
FLUSHED = "are none under -ftz=true"
"""Where a reduction is none whatever the loop does with it."""
_LESS = {"min": "<", "max": ">"}
_FUNCTIONS = {b"float": "f{}f", b"double": "f{}"}


def respelled(suspects: Suspects | None, at: Span, text: str, names: Sequence[str]) -> str:
    """A reason with the spelling that serves, where there is one.

    Args:
        suspects: what is known of the source.
        at: where the annotation stands.
        text: the reason.
        names: the variables that may be meant.
    """
    statements = suspects.statements(at) if suspects else None
    if suspects is None or statements is None:
        return text
    path, loop = statements
    if FROM_COUNTER in text:
        told = _shared_out(path, names)
        return text.replace(IF_FROM_COUNTER, told).replace(FROM_COUNTER, told) if told else text
    if narrow := spellings.narrow_in(path):
        quoted = " or ".join(f'"{name}"' for name in narrow)
        text = text.replace(TOO_NARROW, TOO_NARROW.replace("one of less than 32 bits", quoted))
    text = _with_branch(text, loop, names)
    if not any(suspects.ends_loop(at, name) for name in names):
        text = _with_plain(text, loop, names)
    return _with_order(text, path, names)


def flags(suspects: Suspects, at: Span) -> list[str]:
    """The flags that an annotated loop hands from turn to turn, which nvcc may keep in predicates
    that are made on other lines."""
    statements = suspects.statements(at)
    return spellings.flags_in(statements[0]) if statements else []


def _with_plain(text: str, loop: Node, names: Sequence[str]) -> str:
    """A reason that speaks of reductions, of one of which the loop makes a flag by ``&&`` or
    ``||``, if that may be meant."""
    match = MISUSED.search(text)
    declared = match[1].split(" or ") if match else []
    meant = [one for one in declared if not names or one in names]
    plain = next(filter(None, (spellings.joined(loop, one) for one in meant)), None)
    if match is None or plain is None:
        return text
    return text.replace(match[0], f'nvcc makes branches of "&&" and "||": write "{plain}"')


def _with_branch(text: str, loop: Node, names: Sequence[str]) -> str:
    """A reason that speaks of a minimum or maximum which the iteration is left without."""
    every = spellings.by_leaving(loop)
    found = next((one for one in every if not names or one[3].intersection(names)), None)
    if found is None or FLUSHED in text:
        return text
    by, name, new, _ = found
    hint = (
        f'set "{name}", and what goes with it, in a branch "if ({new} {_LESS[by]} {name})" without '
        '"continue"'
    )
    clause = f", and say so on the loop: reduction({by}: {name})"
    if MISUSED.search(text):
        is_meant = bool(names) or spellings.floating_type(loop, name) is not None
        return MISUSED.sub(lambda _: hint, text) if is_meant else text
    return text.replace(REDUCTION_HINT, hint + clause)


def _with_order(text: str, path: Node, names: Sequence[str]) -> str:
    """A reason that speaks of a minimum or maximum which takes what is no number."""
    found = next((one for one in spellings.unordered(path) if one[1] in names), None)
    kind = spellings.floating_type(path, found[1]) if found else None
    if found is None or kind is None or FLUSHED in text:
        return text
    by, name, new = found
    hint = (
        f'as it is, "{name}" takes a NaN, and then whatever comes next: set it where "{new} '
        f'{_LESS[by]} {name}", or by {_FUNCTIONS[kind].format(by)}'
    )
    if MISUSED.search(text):
        return MISUSED.sub(lambda _: hint, text)
    clause = f", and say so on the loop: reduction({by}: {name})"
    return text.replace(REDUCTION_HINT, hint + clause)


def _shared_out(path: Node, names: Sequence[str]) -> str | None:
    """What serves where turns hand on a value, so that they can be shared out."""
    for by, best in updates.extremes(path):
        if best in names and (others := spellings.set_with(path, best, by)):
            return _for_companions(path, best, others)
    if narrow := [name for name in spellings.narrow_in(path) if name in names]:
        return f'let "{narrow[0]}" be an int'
    flags = (one for one in names if spellings.is_flag(path, one))
    branches = filter(None, (spellings.by_branch(path, one) for one in flags))
    return next((f'set it by a branch: "{one}"' for one in branches), None)


def _for_companions(path: Node, best: str, others: Sequence[str]) -> str:
    """What serves where the least or the most goes with something: who was first counts."""
    merge = f'strategy(merge) keeps the order of turns, by which "{others[0]}" is chosen'
    if len(others) > 1 or spellings.floating_type(path, best):
        return merge
    return (
        f'{merge}; or keep both in one integer of 64 bits, "{best}" in its upper half, and the '
        "least or the most of that"
    )
