"""What to do about a variable that iterations hand on, and that is no reduction."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ccc.compiler.advice import ALL_MADE
from ccc.compiler.reasons.inquiry import ON_LOOP, REMOVE, Inquiry
from ccc.compiler.reasons.topics import Topic
from ccc.frontend import behind, updates
from ccc.frontend.behind import Where
from ccc.frontend.pragmas import BY_NO_REDUCTION
from ccc.frontend.reductions import clauses_of
from ccc.frontend.updates import REDUCING
from ccc.frontend.uses import MOST_NAMED

_PLAINLY = 'without an "if", and rather by a value that changes nothing than by "?:"'
"""How what a branch leaves behind is used there: nvcc may merge either with the branch."""
_WAYS = {
    Where.INSIDE: (
        "; or if the branch can do without it, have that set another variable, update {} by that "
        f"behind the branch, {_PLAINLY}, and ask there for strategy(tile(3))"
    ),
    Where.ASKED: (
        "; or, if that serves as well, set {} behind the branch to what is known before it"
    ),
    Where.BEHIND: (
        '; or ask at the branch for strategy(tile(3)), and let no "if" behind it set {}'
    ),
}
"""Rests of iterations are run in their order. An ``if`` there may be merged with the path."""
_BY_TILE = (Where.INSIDE, Where.BEHIND)
"""What asks for a strategy that no switch can have of which a case goes on in the next one."""
_OWN = "declare it in the loop"
_ALL_OWN = "declare them in the loop"
_IN_PLACE = "have a variable in its place, declared in the loop"
_ALL_IN_PLACE = "have variables in their place, declared in the loop"
"""Of members, of which others may have to stay."""
_OF_THREAD = " and the number of the thread"
"""Where all threads may count alike."""
_OF_ITERATION = ", from what the iteration is of"
_NO_REDUCTION = (
    "; no reduction serves a variable with which the loop does more than to update it ({}:{})"
)
_EACH_INSIDE = (
    "; or if the branch can do without them, have that set other variables, update {} by those "
    f"behind the branch, {_PLAINLY}, and ask there for strategy(tile(3))"
)
_EACH_BEHIND = (
    "have a branch set a variable for each of {}, update them by those behind the branch, "
    f"{_PLAINLY}, and ask at the branch for strategy(tile(3))"
)
_AS_DECLINED = f"let strategy({{}}) apply, as is told of that, or {REMOVE}"
"""Why the strategy that would serve does not apply stands on a line of its own, with what helps."""
_BEGIN = re.compile("^; (?:or,? |else )?")
"""What joins more to an advice."""
_ELSEWHERE = (
    "if the loop only adds up what comes of it, or keeps the least or the most, say so on the "
    "loop, by the variable's name there: reduction(op: variable)"
)


def without_reduction(asked: Inquiry) -> Inquiry:
    """What would offer reductions, and whom it means, where the loop does more with some than to
    update them: nothing serves as long as it does."""
    suspects, at, names = asked.suspects, asked.at, asked.names
    if asked.reason.topic is not Topic.CARRIED:
        return asked
    if made := next((n for n in names if _hindrance(asked, n)), None):
        by = _hindrance(asked, made) or ""
        told = own(asked, by, made=made)
        return asked.with_clause(or_led_out(asked, told, by, made=[made])).naming([made])
    found = {name: suspects.no_reduction(at, name) for name in names}
    found = {one: use for one, use in found.items() if use and not suspects.ends_loop(at, one)}
    statements = asked.statements
    found = {
        one: use
        for one, use in found.items()
        if statements is None or not behind.is_set_anew(statements[1], one.encode())
    }
    name, use = next(iter(found.items()), ("", None))
    if use is None or suspects.is_stepped(at, name):
        return asked
    more = _NO_REDUCTION.format(use.file, use.line)
    every = [name, *_unserved_beside(asked, name)]
    told = or_led_out(asked, all_own(asked, every), *every, why=more)
    return asked.with_clause(told).naming(every)


def _unserved_beside(asked: Inquiry, name: str) -> list[str]:
    """What else may be meant, if no reduction serves any of that."""
    suspects, at = asked.suspects, asked.at
    others = [one for one in asked.names if one != name]
    is_other = suspects.unnamed(at) or any(
        _is_served(asked, one) or suspects.is_stepped(at, one) or suspects.ends_loop(at, one)
        for one in others
    )
    return [] if is_other or len(asked.names) > MOST_NAMED else others


def elsewhere(asked: Inquiry) -> Inquiry:
    """What would offer reductions, of a path in a function without its annotated loop, where
    variables have other names, or none."""
    if not _is_alone(asked):
        return asked
    return asked.with_clause(_ELSEWHERE + else_remove(asked))


def counted_elsewhere(asked: Inquiry) -> str | None:
    """The same of what an atomic operation gives to the next iteration."""
    return f"{_ELSEWHERE}; else {REMOVE}" if _is_alone(asked) else None


def by_no_atomic(asked: Inquiry) -> str | None:
    """Nothing in place of the advice to use an atomic operation, where the source tells that what
    is done to the variables is none."""
    suspects, at, names = asked.suspects, asked.at, asked.names
    kept = suspects.extreme(at)
    is_one = all(suspects.operation(at, one) in REDUCING for one in names)
    return None if not names or is_one or (kept and [*names] == [kept[1]]) else ""


def own(asked: Inquiry, name: str, *, made: str = "") -> str:
    """What to do about a variable of which there is no reduction, and perhaps of another that is
    made from it."""
    told = f'if no iteration needs "{name}"{_made_from(made) or _set_in(asked, name)} of another'
    if not _is_state(asked, name):
        return f"{told}, {_IN_PLACE if '.' in name else _OWN}{_on_line(asked)}"
    return f"{told}, {_seeded(asked, 'it')}"


def _on_line(asked: Inquiry) -> str:
    """Of which line the loop is, where it is that of a caller."""
    return f" of line {asked.caller.line}" if asked.caller else ""


def _seeded(asked: Inquiry, it: str) -> str:
    """What to do about states of random numbers."""
    suspects, at = asked.suspects, asked.at
    counter, where = suspects.counter(at), _on_line(asked)
    told = f"as of random numbers, declare {it} in the loop{where}, and seed {it} there"
    if counter is None:
        return f"{told}{_OF_ITERATION}"
    return f'{told} from "{counter}"{"" if suspects.is_of_thread(at, counter) else _OF_THREAD}'


def all_own(asked: Inquiry, names: Sequence[str]) -> str:
    """The same of several variables."""
    stepped = [one for one in names if _is_state(asked, one)]
    told = []
    for some in (stepped, [one for one in names if one not in stepped]):
        needs = f"if no iteration needs {all_of(some, 'or')} of another, " if some[1:] else ""
        in_place = _ALL_IN_PLACE if any("." in one for one in some) else _ALL_OWN
        them = _seeded(asked, "them") if some is stepped else f"{in_place}{_on_line(asked)}"
        told += [f"{needs}{them}" if needs else own(asked, one) for one in some[:1]]
    return ", and ".join(told)


def with_own(asked: Inquiry, names: Sequence[str], clauses: Sequence[tuple[str, str]]) -> str:
    """What to do about variables that no reduction serves, and about others."""
    told = all_own(asked, names)
    if clauses:
        beside = all_of([one for _, one in clauses])
        told += f", and if the loop only updates {beside}, {ON_LOOP}: {clauses_of(clauses)}"
    return or_led_out(asked, told, *names)


def or_led_out(
    asked: Inquiry,
    told: str,
    *names: str,
    made: Sequence[str] = (),
    why: str = "",
    led_out: Callable[..., str] | None = None,
) -> str:
    """What to do about variables of which there is no reduction, and how their branch can be
    collected all the same: that alone where one is needed behind the loop, in which it cannot be
    declared then. Others may be made from them."""
    led_out = led_out or (behind_calls if _is_by_calls(asked, names[0]) else way_out)
    way = led_out(asked, *names, *made)
    is_outside = any(stays_outside(asked, name) for name in names)
    if is_outside and why and not (way or asked.reason.begins(ALL_MADE)):
        way = f"; {REMOVE}"
    if not way or not is_outside:
        return told + why + way
    return (f"{why}; " if why else "").removeprefix("; ") + _BEGIN.sub("", way)


def _is_state(asked: Inquiry, name: str) -> bool:
    """Whether a variable may be a state of random numbers."""
    suspects, at = asked.suspects, asked.at
    return suspects.is_stepped(at, name) and not suspects.is_only_counted(at, name)


def stays_outside(asked: Inquiry, name: str) -> bool:
    """Whether a variable is needed behind the loop; a state of random numbers may be another one
    there."""
    return not _is_state(asked, name) and asked.suspects.is_needed_behind(asked.at, name)


def other_way(asked: Inquiry, *names: str) -> str:
    """What is left to do about variables that iterations certainly need of one another."""
    return _BEGIN.sub("", way_out(asked, *names)) or REMOVE


def way_out(asked: Inquiry, *names: str) -> str:
    """How a branch can be collected all the same where iterations hand on a variable, and others
    that are made from it, for the end of advice; and what else, if nothing follows."""
    return _in_strategy(asked, names) + else_remove(asked)


def _is_by_calls(asked: Inquiry, name: str) -> bool:
    """Whether nothing but functions updates a variable, which is no state of random numbers."""
    found, suspects = asked.statements, asked.suspects
    changed = updates.changed(found[1]) if found else ()
    is_plain = any(one.text == name.partition(".")[0].encode() for one in changed)
    return not is_plain and not suspects.is_stepped(asked.at, name)


def behind_calls(asked: Inquiry, *names: str) -> str:
    """The same where it is functions that update variables."""
    return _in_strategy_of_calls(asked, names) + else_remove(asked)


def _in_strategy_of_calls(asked: Inquiry, names: Sequence[str]) -> str:
    """How it can be collected by a strategy then; empty if it cannot."""
    found = asked.statements if asked.suspects.is_branch(asked.at) else None
    if found is None or _is_for_tiles(asked.remark.asked) or behind.goes_on(found[0]):
        return ""
    others = (one for one in _others(asked) if one.partition(".")[0] not in names)
    every = list(dict.fromkeys([*names, *others]))
    if not all(behind.can_follow(*found, one.partition(".")[0].encode()) for one in every):
        return ""
    return (_WAYS[Where.INSIDE] if len(every) == 1 else _EACH_INSIDE).format(all_of(every))


def by_no_reduction(asked: Inquiry, name: str) -> str:
    """What to do about a variable of a branch that is updated by another operation than those of
    reductions: what else that hands on has to be updated where that is."""
    found, names = asked.statements, [name, *_others(asked, name)]
    needed = found and any(behind.is_needed_before(*found, one.encode()) for one in names[1:])
    tiles = asked.remark.asked
    if _is_for_tiles(tiles) and asked.remark.declined:
        return _AS_DECLINED.format(tiles)
    if needed or _is_for_tiles(tiles):
        return REMOVE
    return BY_NO_REDUCTION if len(names) == 1 else _EACH_BEHIND.format(all_of(names))


def _others(asked: Inquiry, *names: str) -> list[str]:
    """What else the annotated statement hands on to later iterations."""
    return [one for one in asked.suspects.handed_on(asked.at) if one not in names]


def all_of(names: Sequence[str], last_by: str = "and") -> str:
    """Variables as they are listed."""
    *most, last = (f'"{one}"' for one in names)
    return f"{', '.join(most)} {last_by} {last}" if most else last


def _is_for_tiles(asked: str | None) -> bool:
    """Whether what was asked for is what would be advised here."""
    return asked is not None and asked.startswith("tile(")


def else_remove(asked: Inquiry) -> str:
    """What else can be done, if no more is advised than a clause."""
    slot = asked.reason.clause
    return f"; else {REMOVE}" if slot and asked.reason.ends_with(slot) else ""


def _in_strategy(asked: Inquiry, names: Sequence[str]) -> str:
    """How it can be collected by a strategy; empty if it cannot."""
    found = asked.statements if asked.suspects.is_branch(asked.at) else None
    where = behind.where_set(*found, names[0].encode()) if found else None
    if found is None or where is None:
        return ""
    if where is Where.BEHIND and _is_in_path(asked, names[0]):
        return ""
    if where in _BY_TILE and (_is_for_tiles(asked.remark.asked) or behind.goes_on(found[0])):
        return ""
    if where is not Where.INSIDE:
        return _WAYS[where].format(all_of(names))
    every = [*names, *_others(asked, *names)]  # what the next iteration needs of a path comes late
    if any(behind.is_needed_before(*found, one.encode()) for one in every):
        return ""
    return (_WAYS[where] if len(every) == 1 else _EACH_INSIDE).format(all_of(every))


def _is_in_path(asked: Inquiry, name: str) -> bool:
    """Whether nvcc keeps what is set behind the path in a register that the path writes."""
    set_behind = asked.suspects.set_behind(asked.at, name)
    first = next(iter(asked.reason.shown), None)
    made = asked.lines.of(first.line) if first else None
    is_elsewhere = set_behind is not None and made is not None and set_behind.line != made.line
    return is_elsewhere and first is not None and first.opcode.name != "mov"


def _made_from(made: str) -> str:
    return f', from which "{made}" is made,' if made else ""


def _set_in(asked: Inquiry, name: str) -> str:
    """Where a variable is set, if that is not the line at fault."""
    span = asked.suspects.set_behind(asked.at, name) if asked.places else None
    is_elsewhere = span is not None and span.line != asked.places[0].line
    return f" (set in {span.file}:{span.line})" if span and is_elsewhere else ""


def _is_alone(asked: Inquiry) -> bool:
    """Whether the path stands in a function without its annotated loop, of which nothing is
    known."""
    found = asked.statements
    return asked.caller is None and found is not None and found[0] == found[1]


def _hindrance(asked: Inquiry, name: str) -> str | None:
    """What a variable is made from that iterations hand on and that no reduction serves, so that
    none would serve the variable, which else one would."""
    found = asked.statements
    if found is None or not _is_served(asked, name):
        return None
    path = asked.suspects.statements(asked.remark.position) if asked.caller else None
    made = behind.made_from(path[0] if path else found[0], found[1], name.encode())
    every = (one.decode(errors="replace") for one in made)
    return next((one for one in every if not _is_served(asked, one)), None)


def _is_served(asked: Inquiry, name: str) -> bool:
    """Whether a reduction would serve a variable, as far as its own updates tell."""
    suspects, at = asked.suspects, asked.at
    return suspects.operation(at, name) in REDUCING and not suspects.no_reduction(at, name)
