"""The variables that a reason may mean: PTX has registers only."""

from __future__ import annotations

from collections.abc import Sequence

from ccc.analysis.paths.induction import LAST_TURN
from ccc.analysis.paths.legality import EACH_IN_A_VARIABLE
from ccc.analysis.paths.own_columns import OWN_COLUMNS
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.reduction_clauses import KEEPS
from ccc.compiler.reasons.topics import TOO_EARLY, Topic
from ccc.frontend import spellings, updates
from ccc.frontend.syntax import function_around, identifiers_in
from ccc.frontend.uses import INTEGER, handed_on, may_be_at, may_hold
from ccc.ptx.opcodes import ATOMICS

_CHOOSING = ("selp", *KEEPS)
"""What adds nothing up."""
_IN_MEMORY = (Topic.ACCESSED, Topic.WRITTEN)


def names_meant(asked: Inquiry) -> Sequence[str]:
    """The variables that may be meant."""
    reason, topic = asked.reason, asked.reason.topic
    about = _about(asked)
    if topic is None or about is None:
        return []
    made = [one.made for one in reason.shown if one.made]
    kind = next((one for one in made if one != INTEGER), INTEGER if made else "")
    is_early = reason.says(TOO_EARLY)  # which any of the paths beside it may do
    arm, case = ("", None) if is_early else (asked.remark.arm, asked.case)
    is_store = _is_store(asked)
    names = asked.suspects.names(asked.at, about, asked.places, kind, arm, case, is_store=is_store)
    if topic is Topic.CARRIED and any(one.is_product for one in reason.shown[:1]):
        names = [one for one in names if asked.suspects.operation(asked.at, one) == "*"] or names
    if topic is Topic.CARRIED and any(one.is_sum for one in reason.shown[:1]):
        is_any = any(asked.suspects.may_hold(asked.at, one, kind) for one in names)
        names = names if is_any else []  # what it is cannot be told, as behind a pointer
    if topic is Topic.CARRIED and any(one.is_wide_sum for one in reason.shown[:1]):
        names = [*asked.suspects.wide_of(asked.at, names)]
    if topic is Topic.CARRIED:
        names = _as_computed(asked, as_proven(asked, names), kind)
    if topic is Topic.HANDED and any("pred" in one.opcode.modifiers for one in reason.shown):
        names = _flags(asked) or names
    if topic is Topic.HANDED and any(one.opcode.name in _CHOOSING for one in reason.shown[:1]):
        names = _chosen(asked, kind) or names
    if topic in _IN_MEMORY and is_store and not asked.places:  # of a store of two arms
        names = names or _stored_to(asked)
    if topic in _IN_MEMORY:
        names = _of_type(asked, names)
    if reason.says(OWN_COLUMNS):  # of what is read in the loop, too
        names = asked.suspects.read_through(asked.at, names) or names
    if reason.says(LAST_TURN):
        names = _read_outside(asked, names, kind)
    if is_early:  # rests may hand on what they like
        names = [one for one in names if one in asked.suspects.handed_on(asked.at)] or names
    if not names and topic is Topic.UNINITIALISED:
        names = _unset(asked, kind)
    return names


def as_proven(asked: Inquiry, names: Sequence[str]) -> Sequence[str]:
    """Of what nvcc copies on any line, those of some variables of the annotated loop that are
    updated by the operation that PTX tells; all if none is."""
    if not asked.proven or not any(one.opcode.name == "mov" for one in asked.reason.shown[:1]):
        return names
    suspects, by = asked.suspects, asked.proven[0]
    return [one for one in names if suspects.operation(asked.at, one, asked.places) == by] or names


def _as_computed(asked: Inquiry, names: Sequence[str], kind: str) -> list[str]:
    """Of what nvcc copies on any line, what the register holds as other lines tell that compute it,
    if that is handed on; the names where they tell nothing else."""
    first, functions = asked.reason.shown[:1], asked.functions
    if not any(one.opcode.name == "mov" for one in first):
        return [*names]
    numbers = functions.lines_setting(first[0].target, asked.remark.kernel, by_copies=False)
    lines = [span for span in map(asked.lines.of, numbers) if span]
    held = asked.suspects.defined(asked.at, lines, kind)
    is_other = len(held) == 1 and held[0] in asked.suspects.handed_on(asked.at)
    return held if is_other and held[0] not in names else [*names]


def names_told(asked: Inquiry) -> Sequence[str]:
    """The variables that may be meant as users are told of them: if memory is, and nothing of the
    function around the statement, by what the one at fault calls it."""
    if asked.names or not asked.places or asked.reason.topic not in _IN_MEMORY:
        return asked.names
    about, line = _about(asked), asked.lines.of(asked.reason.shown[0].line)
    if about is None or line is None:
        return ()
    return asked.suspects.called_there(
        asked.at, line, is_store=_is_store(asked), is_atomic=about == "atomic"
    )


def and_so(asked: Inquiry) -> str | None:
    """The other memory that is meant, by its names, or else by where it is used."""
    slot, about = asked.reason.slot(Hint.AND_SO), _about(asked)
    every = [asked.lines.every(int(line)) for line in slot.given[0].split(", ")] if slot else []
    told: dict[str, None] = {}
    for places in every:
        found = asked.suspects.names(asked.at, about, places, is_store=True) if about else []
        if {*found} <= {*asked.names} and bool(found) is bool(asked.names):
            continue  # another of its elements, or members, or what is told of with it
        line = f"line {places[0].line}" if places else "another place"
        told[f'"{found[0]}"' if len(found) == 1 else line] = None
    if not told:
        return "" if asked.names[1:] else ", and the same may hold of other parts of it"
    *most, last = told
    return f", and the same holds of {', '.join(most)}{' and ' * bool(most)}{last}"


def each_kept(asked: Inquiry) -> str | None:
    """That several are to be kept in variables, where all that may be meant are updated."""
    every = updates.elements(asked.statements[0]) if asked.statements else ()
    updated = {(base.text or b"").decode(errors="replace") for base, sign, _ in every if sign}
    return EACH_IN_A_VARIABLE if asked.names[1:] and updated.issuperset(asked.names) else None


def _is_store(asked: Inquiry) -> bool:
    """Whether memory is meant that the line at fault writes."""
    topic, shown = asked.reason.topic, asked.reason.shown[:1]
    stores = topic in _IN_MEMORY and any(one.opcode.name == "st" for one in shown)
    return stores or topic is Topic.WRITTEN


def _about(asked: Inquiry) -> str | None:
    """What variables are asked for."""
    reason = asked.reason
    if reason.topic not in _IN_MEMORY:
        return reason.topic
    if any(one.opcode.name == "call" for one in reason.shown):
        return None  # it is the function's
    if any("shared" in one.opcode.modifiers for one in reason.shown):
        return "shared"
    is_atomic = any(one.opcode.name in ATOMICS for one in reason.shown[:1])
    return "atomic" if is_atomic else reason.topic


def _stored_to(asked: Inquiry) -> list[str]:
    """The arrays and pointers of which the annotated statement changes elements."""
    found = asked.statements
    every = (base.text or b"" for base, *_ in updates.elements(found[0])) if found else ()
    return [one.decode(errors="replace") for one in dict.fromkeys(every)]


def _of_type(asked: Inquiry, names: list[str]) -> list[str]:
    """Those of some variables that an access may be to, by their declarations; all if none is."""
    found = asked.statements
    function = function_around(found[0]) if found else None
    first = next(iter(asked.reason.shown), None)
    if function is None or first is None or not first.opcode.types:
        return names
    kind, is_volatile = first.opcode.types[-1], "volatile" in first.opcode.modifiers
    fitting = [
        one for one in names if may_be_at(one.encode(), function, kind, is_volatile=is_volatile)
    ]
    return fitting or names


def _flags(asked: Inquiry) -> list[str]:
    """The flags that an annotated loop hands from turn to turn, which nvcc may keep in predicates
    that are made on other lines."""
    found = asked.statements
    return spellings.flags_in(found[0]) if found else []


def _chosen(asked: Inquiry, kind: str) -> list[str]:
    """The variables of some type that an annotated loop hands from turn to turn, but for sums."""
    found = asked.statements
    every = handed_on(found[0]) if found else []
    held = (updates.name_of(one).decode(errors="replace") for one in every if may_hold(kind, one))
    return [one for one in dict.fromkeys(held) if asked.suspects.operation(asked.at, one) != "+"]


def _unset(asked: Inquiry, kind: str) -> list[str]:
    """The variables that may be meant where none is declared without a value in the loop: of those
    that the path leaves to later iterations, what the iteration reads outside of it; or arrays."""
    carried = asked.suspects.names(asked.at, Topic.CARRIED, asked.places)
    outside = _read_outside(asked, carried, kind)
    arrays = asked.suspects.names(asked.at, Topic.ARRAYS, asked.places)
    return outside or asked.suspects.without_value(asked.at, arrays)


def _read_outside(asked: Inquiry, names: list[str], kind: str) -> list[str]:
    """Those of some variables that the annotated loop around a statement reads outside of that, and
    that may have some type; all of them if it reads none."""
    found = asked.statements
    if found is None:
        return names
    path, loop = found
    uses = list(identifiers_in(loop))
    read = {u.text for u in uses if not path.start_byte <= u.start_byte < path.end_byte}
    held = {u.text for u in uses if may_hold(kind, u)}
    likely = [one for one in names if one.partition(".")[0].encode() in read & held]
    return likely or names
