"""What is said of a variable of which there seems to be no reduction, where another spelling of its
updates would be one, or of which turns could be shared out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import TOO_NARROW
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import ON_LOOP, Inquiry
from ccc.compiler.reasons.misused import declared_in
from ccc.compiler.reasons.reduction_clauses import naming_all
from ccc.frontend import spellings, updates
from ccc.frontend.reductions import clauses_of

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_LESS = {"min": "<", "max": ">"}
_FUNCTIONS = {b"float": "f{}f", b"double": "f{}"}


def respelled(asked: Inquiry) -> Inquiry:
    """With the spelling that serves, where there is one, in place of what is said of clauses."""
    found = asked.statements
    if found is None:
        return asked
    path, loop = found
    told = _by_branch(asked, loop) or _by_plain(asked, loop)
    if told:
        return asked.filled(Hint.TAKES_NAN, "").with_clause(told)
    plain = _by_order(asked, loop if asked.reason.slot(Hint.TAKES_NAN) else path)
    return _by_function(asked) if plain is asked else plain


def named_narrow(asked: Inquiry) -> str | None:
    """Which variables of less than 32 bits are meant."""
    found = asked.statements
    narrow = spellings.narrow_in(found[0]) if found else []
    quoted = " or ".join(f'"{name}"' for name in narrow)
    return TOO_NARROW.replace("one of less than 32 bits", quoted) if narrow else None


def shared_out(asked: Inquiry) -> str | None:
    """What serves where turns hand on a value, so that they can be shared out."""
    found = asked.statements
    if found is None:
        return None
    path, names = found[0], asked.names
    for by, best in updates.extremes(path):
        if best in names and (others := spellings.set_with(path, best, by)):
            return _for_companions(path, best, others)
    if narrow := [name for name in spellings.narrow_in(path) if name in names]:
        return f'let "{narrow[0]}" be an int'
    flags = (one for one in names if spellings.is_flag(path, one))
    branches = filter(None, (spellings.by_branch(path, one) for one in flags))
    return next((f'set it by a branch: "{one}"' for one in branches), None)


def _by_plain(asked: Inquiry, loop: Node) -> str | None:
    """Of the variable of a reduction of which the loop makes a flag by ``&&`` or ``||``, if that
    may be meant."""
    if any(asked.suspects.ends_loop(asked.at, name) for name in asked.names):
        return None
    meant = [one for one in declared_in(asked) if not asked.names or one in asked.names]
    plain = next(filter(None, (spellings.joined(loop, one) for one in meant)), None)
    return f'nvcc makes branches of "&&" and "||": write "{plain}"' if plain else None


def _by_branch(asked: Inquiry, loop: Node) -> str | None:
    """Of a minimum or maximum which the iteration is left without."""
    names = asked.names
    every = spellings.by_leaving(loop)
    found = next((one for one in every if not names or one[3].intersection(names)), None)
    if found is None or asked.reason.slot(Hint.FLUSHED):
        return None
    by, name, new, _ = found
    if asked.misused and not names and spellings.floating_type(loop, name) is None:
        return None
    hint = (
        f'set "{name}", and what goes with it, in a branch "if ({new} {_LESS[by]} {name})" without '
        '"continue"'
    )
    return hint + _clause(asked, by, name)


def _by_order(asked: Inquiry, where: Node) -> Inquiry:
    """Of a minimum or maximum which takes what is no number."""
    every = [one for one in spellings.unordered(where) if one[1] in asked.names]
    proven = [one for one in every if [one[0]] == asked.proven[:1]]
    found = next(iter(proven or every), None)
    kind = spellings.floating_type(where, found[1]) if found else None
    if found is None or kind is None or asked.reason.slot(Hint.FLUSHED):
        return asked
    by, name, new = found
    hint = (
        f'as it is, "{name}" takes a NaN, and then whatever comes next: set it where "{new} '
        f'{_LESS[by]} {name}", or by {_FUNCTIONS[kind].format(by)}'
    )
    told = asked.filled(Hint.TAKES_NAN, "").with_clause(hint + _clause(asked, by, name))
    return told.naming([name])


def _by_function(asked: Inquiry) -> Inquiry:
    """The same of one which a function updates, so that the text does not tell how, if that can be
    but one."""
    taker, suspects, at = asked.reason.slot(Hint.TAKES_NAN), asked.suspects, asked.at
    found = asked.statements
    if taker is None or found is None:
        return asked
    by = next(one for one in _LESS if f"f{one}" in taker.words)
    others = spellings.by_library(found[1])
    if declared := [one for one in suspects.named_by(at, by) if one not in others]:
        return asked.naming(declared) if len(declared) == 1 else asked
    names = [one for one in asked.names if one not in others] or suspects.handed_on(at)
    made = [one.made for one in asked.reason.shown[:1]]
    fit = [one for one in names if all(suspects.may_hold(at, one, kind) for kind in made)]
    fit = [one for one in fit if one not in others and suspects.operation(at, one) in (None, by)]
    if len(fit) != 1 or suspects.structure(at, fit[0]) or suspects.class_of_others(at, fit[0]):
        return asked
    told = naming_all(_clauses(asked, by, fit[0]))
    if asked.misused:  # which held that
        told = f"{taker.words.removesuffix(', and ')}, and {told}"
    return asked.settled(told).naming(fit)


def _clause(asked: Inquiry, by: str, name: str) -> str:
    """The clauses that are needed besides, where the loop does not have them."""
    clauses = clauses_of(_clauses(asked, by, name))
    return f", and {ON_LOOP}: {clauses}" if clauses else ""


def _clauses(asked: Inquiry, by: str, name: str) -> list[tuple[str, str]]:
    """The same, as operations and variables."""
    others = [one for one in asked.suspects.unnamed_handed_on(asked.at) if one[1] != name]
    return [(by, name)] * (name not in declared_in(asked)) + others


def _for_companions(path: Node, best: str, others: Sequence[str]) -> str:
    """What serves where the least or the most goes with something: who was first counts."""
    merge = f'strategy(merge) keeps the order of turns, by which "{others[0]}" is chosen'
    if len(others) > 1 or spellings.floating_type(path, best):
        return merge
    return (
        f'{merge}; or keep both in one integer of 64 bits, "{best}" in its upper half, and the '
        "least or the most of that"
    )
