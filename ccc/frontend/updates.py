"""How code changes its variables: where, and by which operation of a reduction."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ccc.frontend.called_values import given_by
from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import every_node, names_in, parent_of

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

CHANGES = {"assignment_expression": "left", "update_expression": "argument"}
_PARTS = {"field_expression": "argument", "parenthesized_expression": ""}
_MEMBER = "field_expression"
_NAMED = ("identifier", "field_expression")
_INTO = ("subscript_expression", "field_expression", "pointer_expression")
_OPERATORS = {"++": "+", "--": "+", "-=": "+"} | {
    f"{sign}=": sign for sign in ("+", "*", "/", "%", "&", "|", "^", "<<", ">>")
}
_COMMUTING = ("+", "*", "&", "|", "^")
REDUCING = ("+", "&", "|", "^", "min", "max")
"""What a reduction may be by, as users write it."""
LEAST_OR_MOST = re.compile(
    rb"(?:(?:::)?(?:cuda::)?std)?(?:::)?(?:f|u|ll|ull)?(min|max)f?(?:<[^<>]*>)?"
)
"""The functions of the C++ and CUDA libraries that give the less or the greater of two."""
_FUSED = re.compile(rb"(?:(?:::)?std)?(?:::)?(?:__)?fmaf?(?:_r[nzud])?")
"""The functions that add to a product."""
_DEEPEST = 2
"""Through so many functions that call one another a value is followed."""
CHOICE = ("condition", "consequence", "alternative")
"""The parts of a choice."""
_FLAGS = {b"true": "|", b"1": "|", b"false": "&", b"0": "&"}
_JOINED = {b"||": "|", b"&&": "&"}
_BY_MORE = ("subscript_expression", "call_expression")
"""What brings more into a value than the variables that it names."""
SOUGHT = {b"<": ("min", "max"), b">": ("max", "min")}
"""What is sought where a new value stands on the left of a comparison, or on its right."""


@remembered
def assignments(tree: Node) -> Sequence[Node]:
    """Whatever changes something in a tree."""
    return list(every(tree, lambda node: node.type in CHANGES))


@remembered
def changes(path: Node) -> Sequence[tuple[Node, Node]]:
    """The assignments of a statement to plain variables, or to members of such, and these."""
    every = ((one, one.child_by_field_name(CHANGES[one.type])) for one in assignments(path))
    return [(one, base) for one, place in every if (base := base_of(place)) is not None]


@remembered
def _by_name(path: Node) -> dict[bytes, list[Node]]:
    """The same by what they are spoken of as."""
    found: dict[bytes, list[Node]] = {}
    for change, base in changes(path):
        found.setdefault(name_of(base), []).append(change)
    return found


@remembered
def _by_place(tree: Node) -> dict[bytes, list[Node]]:
    """The assignments of a tree by what they change, ``s`` or ``*s``."""
    found: dict[bytes, list[Node]] = {}
    for node in assignments(tree):
        place = place_of(node)
        if place is not None:
            found.setdefault(text_of(place), []).append(node)
    return found


def changes_of(tree: Node, name: bytes) -> Sequence[Node]:
    """The assignments of a tree to a variable, or to what that leads to."""
    every = [one for text in (name, b"*" + name) for one in _by_place(tree).get(text, ())]
    return sorted(every, key=lambda node: (node.start_byte, -node.end_byte))


def changed(path: Node) -> Iterator[Node]:
    """The variables that a statement changes, where it does."""
    return (base for _, base in changes(path))


def elements(path: Node) -> Iterator[tuple[Node, str | None, Node]]:
    """The arrays, or pointers, of which a statement changes elements, by which operation of a
    reduction, as ``a[i] += x``, or None where that is not told, and these elements."""
    for change in assignments(path):
        element = change.child_by_field_name(CHANGES[change.type])
        if element is not None and element.type == "subscript_expression":
            base = whole(element.child_by_field_name("argument"))
            if base is not None:
                yield base, sign_of(change), element


def sign_of(change: Node) -> str | None:
    """The operation of a reduction by whose sign an assignment is made, whatever it is to."""
    signs = (_OPERATORS.get(child.type) for child in change.children)
    return next((sign for sign in signs if sign in REDUCING), None)


def operation(change: Node) -> str | None:
    """The operation of a reduction that an assignment is, if any, of a whole variable."""
    found = operator(change)
    return found if found in REDUCING else None


def operator(change: Node) -> str | None:
    """How an assignment makes the new value of a whole variable of the old one: ``+`` of sums and
    differences, ``min``, ``*``; None where it makes it of other things, or of more, as ``s ^= s <<
    13`` does."""
    changed = place_of(change)
    if changed is None or _asks_again(change, text_of(changed).lstrip(b"*")):
        return None
    signs = [child.type for child in change.children]
    value = change.child_by_field_name("right")
    if "=" in signs and value is not None:
        return operator_in(text_of(changed), bare(value) or value)
    return next((_OPERATORS[sign] for sign in signs if sign in _OPERATORS), None)


def operator_in(name: bytes, value: Node, depth: int = _DEEPEST) -> str | None:
    """How a value is made of what ``name`` is: by ``min(name, x)``, ``name + x``, or
    ``x < name ? x : name``, or by a function that does so."""
    if value.type == "conditional_expression":
        return _chosen_by(name, *map(value.child_by_field_name, CHOICE))
    if value.type == "call_expression":
        function, listed = (value.child_by_field_name(part) for part in ("function", "arguments"))
        called = LEAST_OR_MOST.fullmatch(text_of(function) if function else b"")
        given = [text_of(one) for one in listed.named_children] if listed else []
        if function and _FUSED.fullmatch(text_of(function)):
            return "+" if given[2:] == [name] else None
        if called or given.count(name) != 1 or not depth:
            return called[1].decode() if called and given.count(name) == 1 else None
        return _by_function(value, given.index(name), depth)
    left, sign, right = sides(value)
    places = (left, right) if sign.decode() in _COMMUTING else (left,)
    is_update = value.type == "binary_expression" and name in places
    return _OPERATORS.get(f"{sign.decode()}=") if is_update else None


def _by_function(call: Node, number: int, depth: int) -> str | None:
    """How what a function gives is made of what it is given at some place."""
    made = given_by(call)
    name = made.names[number] if made else None
    if made is None or name is None:
        return None
    if made.condition is not None:
        return _chosen_by(name, made.condition, made.value, made.other)
    value = bare(made.value) or made.value
    uses = sum(1 for _ in uses_in(value, name)) - (value.type == "conditional_expression")
    return operator_in(name, value, depth - 1) if uses == 1 else None


def flag(change: Node) -> str | None:
    """The operation of a reduction that an assignment is which only ever sets a flag, ``f = true``
    or ``f = f || x``, or only ever clears one."""
    value = bare(change.child_by_field_name("right"))
    is_set = "=" in [child.type for child in change.children] and place_of(change) is not None
    return (_FLAGS.get(text_of(value)) if value and is_set else None) or joined(change)


def joined(change: Node) -> str | None:
    """The same of one that joins what there is with a condition, ``f = f || x``."""
    changed = place_of(change)
    value = bare(change.child_by_field_name("right"))
    if changed is None or value is None or "=" not in [child.type for child in change.children]:
        return None
    left, sign, right = sides(value)
    name = text_of(changed)
    return _JOINED.get(sign) if (left == name) != (right == name) else None


def is_stepped(
    changes: Collection[Node], others: Collection[bytes], own: Collection[bytes] = ()
) -> bool:
    """Whether assignments make of a variable what follows from it, as of a state of random numbers:
    of that alone, or of its ``own`` copies, and of none of some others."""
    return bool(changes) and all(_is_step(change, others, own) for change in changes)


def _is_step(change: Node, others: Collection[bytes], own: Collection[bytes]) -> bool:
    changed = place_of(change)
    value = change.child_by_field_name("right")
    if value is None:
        return is_counted_in(change)
    if changed is None or any(one.type in _BY_MORE for one in every_node(value)):
        return False
    name = text_of(changed).lstrip(b"*")
    keeps = "=" not in [child.type for child in change.children]
    keeps = keeps or any(uses_in(value, name)) or is_made_of(change, own)
    return keeps and not is_made_of(change, {one for one in others if one != name})


def is_counted_in(change: Node) -> bool:
    """Whether numbers are made from a counter where it counts, ``n++ * 0x9E3779B9u``."""
    around = change.parent
    while around is not None and around.type in ("parenthesized_expression", "cast_expression"):
        around = around.parent
    if around is not None and around.type == "argument_list":
        return True
    return around is not None and sides(around)[1] in (b"*", b"^")


def takes_no_number(change: Node) -> bool:
    """Whether a choice takes a new value unless the old one is better, ``old < x ? old : x``: also
    one that is no number, and after that any, so that of such it is no reduction."""
    value, changed = bare(change.child_by_field_name("right")), place_of(change)
    name = text_of(changed) if changed is not None else b""
    if value is not None and value.type == "call_expression" and (made := given_by(value)):
        listed = value.child_by_field_name("arguments")
        given = [text_of(one) for one in listed.named_children] if listed else []
        name = (made.names[given.index(name)] or b"") if name in given else b""
        inner = bare(made.value) or made.value
        kept = made.value if made.condition else inner.child_by_field_name("consequence")
    else:
        kept = value.child_by_field_name("consequence") if value else None
    return kept is not None and bool(name) and text_of(bare(kept) or kept) == name


def is_made_of(change: Node, names: Collection[bytes | None]) -> bool:
    """Whether what a variable is changed by is computed from some others."""
    return not _sources(change).isdisjoint(names)


@remembered
def _sources(change: Node) -> frozenset[bytes | None]:
    """What an assignment, or a declaration, computes a value from."""
    value = change.child_by_field_name("right") or change.child_by_field_name("value")
    return frozenset(names_in(value)) if value is not None else frozenset()


def follows_from(
    tree: Node, names: Collection[bytes | None], *, by_branches: bool = True
) -> set[bytes | None]:
    """Some variables, with those that a tree makes of them, or sets where they say so."""
    found, size = set(names), -1
    while len(found) > size:
        size = len(found)
        found.update(
            base.text
            for change, base in changes(tree)
            if is_made_of(change, found) or (by_branches and is_decided_by(change, found))
        )
        for made in _initialized(tree):
            if is_made_of(made, found):
                found.update(names_in(made.child_by_field_name("declarator") or made))
    return found


@remembered
def _initialized(tree: Node) -> Sequence[Node]:
    """What a tree declares with a value."""
    return list(every(tree, lambda node: node.type == "init_declarator"))


def is_decided_by(change: Node, names: Collection[bytes | None]) -> bool:
    """Whether a branch around an assignment asks for some variables."""
    return not _deciding(change).isdisjoint(names)


@remembered
def _deciding(change: Node) -> frozenset[bytes | None]:
    """What the branches around an assignment ask for."""
    around, found = parent_of(change), set[bytes | None]()
    while around is not None:
        asked = around.child_by_field_name("condition") if around.type == "if_statement" else None
        found |= names_in(asked).keys() if asked is not None else set()
        around = parent_of(around)
    return frozenset(found)


def _chosen_by(
    name: bytes, condition: Node | None, value: Node | None, other_value: Node | None
) -> str | None:
    """What is sought by a choice between a variable and what it is compared with."""
    given = (value, other_value)
    one, sign, other = sides(bare(condition))
    taken, left = (text_of(node) if node else b"" for node in map(bare, given))
    if sign[:1] not in SOUGHT or {taken, left} != {one, other} or name not in (taken, left):
        return None
    return SOUGHT[sign[:1]][(one == name) != (taken == name)]


def sides(node: Node | None) -> tuple[bytes, bytes, bytes]:
    """What stands on the left of an operator, that, and what stands on its right; nothing where
    there is none."""
    names = ("left", "operator", "right")
    parts = [node.child_by_field_name(name) if node else None for name in names]
    left, sign, right = (text_of(bare(part) or part) if part else b"" for part in parts)
    return left, sign, right


def extremes(path: Node) -> Iterator[tuple[str, str]]:
    """What is taken where it is less, or more, than what there is: ``if (x < best) best = x``."""
    return ((operation, name) for operation, name, _ in extreme_branches(path))


@remembered
def extreme_branches(path: Node) -> Sequence[tuple[str, str, Node]]:
    """The same with the branches; none of those that ask for several variables."""
    found: list[tuple[str, str, Node]] = []
    for branch in every(path, lambda node: node.type == "if_statement"):
        kept = kept_by(branch)
        if len({name for _, name in kept}) == 1:
            found += ((by, name, branch) for by, name in kept)
    return found


def kept_by(branch: Node) -> list[tuple[str, str]]:
    """What a branch takes where it is less, or more, than what there is."""
    condition, taken = (branch.child_by_field_name(f) for f in ("condition", "consequence"))
    return kept_where(condition, taken) if condition and taken else []


def kept_where(condition: Node, taken: Node) -> list[tuple[str, str]]:
    """The same where a condition holds."""
    tests = [sides(one) for one in comparisons(condition)]
    given: dict[bytes, set[bytes]] = {}
    for change in assignments(taken) if tests else ():
        place, value = place_of(change), bare(change.child_by_field_name("right"))
        if place is not None and any(child.type == "=" for child in change.children):
            given.setdefault(text_of(place), set()).add(text_of(value) if value else b"")
    found: list[tuple[str, str]] = []
    for one, sign, other in tests:
        if given.get(other) == {one}:
            found.append((SOUGHT[sign[:1]][0], other.decode(errors="replace")))
        elif given.get(one) == {other}:
            found.append((SOUGHT[sign[:1]][1], one.decode(errors="replace")))
    return found


def comparisons(condition: Node) -> list[Node]:
    """Where a condition asks for the less or the more of two, and does not deny that."""
    denials = [one.parent for one in every(condition, lambda node: node.type == "!")]
    found = every(condition, lambda node: node.type == "binary_expression")
    return [
        one
        for one in found
        if sides(one)[1][:1] in SOUGHT
        if not any(no and no.start_byte <= one.start_byte < no.end_byte for no in denials)
    ]


def updated_by(loop: Node, name: str, by: str, handed: Collection[int] = frozenset()) -> set[str]:
    """A variable of which a loop does nothing but to update it by an operation, and what is set
    together with it; nothing if the loop does more with it, as ``misuse`` says."""
    if misuse(loop, name, by, handed) is not None:
        return set()
    taken = (one.child_by_field_name("consequence") for one in _branches(loop, name, by))
    set_there = (base for one in taken if one for base in changed(one))
    return {name, *(name_of(base).decode(errors="replace") for base in set_there)}


def misuse(loop: Node, name: str, by: str, handed: Collection[int] = frozenset()) -> Node | None:
    """Where a loop first does something else with a variable than to update it by an operation, as
    far as its text tells.

    Functions update it so that are ``handed`` what begins at some places.
    """
    text = name.encode()
    branches = _branches(loop, name, by)
    taken = [one.child_by_field_name("consequence") for one in branches]
    updates = [
        change
        for change in _by_name(loop).get(text, ())
        if not is_taken(change)
        if by in (operation(change), flag(change))
        or any(one.start_byte <= change.start_byte < one.end_byte for one in taken if one)
    ]
    known = [*updates, *filter(None, (one.child_by_field_name("condition") for one in branches))]
    others = (
        use
        for use in uses_in(loop, text)
        if use.start_byte not in handed
        if not any(one.start_byte <= use.start_byte < one.end_byte for one in known)
    )
    return min(others, key=lambda use: use.start_byte, default=None)


def is_taken(change: Node) -> bool:
    """Whether what an assignment gives is used, as in ``a[n++]``."""
    around = change.parent
    while around is not None and around.type in ("parenthesized_expression", "comma_expression"):
        around = around.parent
    return around is not None and around.type not in ("expression_statement", "for_statement")


def _branches(loop: Node, name: str, by: str) -> list[Node]:
    """Those that keep the least or the most in a variable."""
    return [branch for op, one, branch in extreme_branches(loop) if (op, one) == (by, name)]


def _asks_again(change: Node, name: bytes) -> bool:
    """Whether an assignment makes what it updates a variable by of that variable, too. A choice
    names it twice, where it compares and where it takes."""
    value = bare(change.child_by_field_name("right"))
    uses = list(uses_in(value, name)) if value else []
    is_choice = value is not None and value.type == "conditional_expression"
    return len(uses) > ("=" in [child.type for child in change.children]) * (1 + is_choice)


def uses_in(tree: Node, name: bytes) -> Iterator[Node]:
    """Where a variable, or a member of one, stands in a tree, or the whole variable does."""
    base = name.partition(b".")[0]
    return (use for use in names_in(tree).get(base, ()) if name_of(use) in (base, name))


def whole(node: Node | None) -> Node | None:
    """The variable of ``s`` or ``(s)``."""
    node = bare(node)
    return node if node is not None and node.type == "identifier" else None


def name_of(base: Node) -> bytes:
    """What is spoken of where a variable stands: that, or a member of it, but for its methods."""
    node, around = base, base.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    while around is not None and around.type == _MEMBER and not is_arrow(around):
        call = around.parent
        if call is not None and call.child_by_field_name("function") == around:
            break
        node, around = around, around.parent
    return text_of(node)


def place_of(change: Node) -> Node | None:
    """What an assignment changes: ``s``, ``s.x``, ``s->x`` or ``*s``, of which base and name are
    plain."""
    inner = place = bare(change.child_by_field_name(CHANGES[change.type]))
    if inner is not None and (inner.type == "pointer_expression" or is_arrow(inner)):
        inner = inner.child_by_field_name("argument")
    is_this = inner is not None and inner.type == "this"
    return place if is_this or base_of(inner) is not None else None


def bare(node: Node | None) -> Node | None:
    """What stands in parentheses."""
    while node is not None and node.type == "parenthesized_expression":
        node = node.named_child(0)
    return node


def text_of(node: Node) -> bytes:
    """What is written there, without blanks, and without the parentheses around a name, which
    macros have."""
    if b"(" in (node.text or b""):
        inner = bare(node)
        if inner is not None and inner != node and inner.type in _NAMED:
            return text_of(inner)
        if node.children:
            return b"".join(map(text_of, node.children))
    return b"".join((node.text or b"").split())


def base_of(node: Node | None) -> Node | None:
    """The variable that ``s``, ``s.x`` or ``(s)`` speak of."""
    while node is not None and node.type in _PARTS:
        inner = node.child_by_field_name("argument") if _PARTS[node.type] else node.named_child(0)
        node = None if is_arrow(node) else inner
    return node if node is not None and node.type == "identifier" else None


def root_of(place: Node | None) -> Node | None:
    """What a place is in, or is reached by: ``s`` of ``s->e[0]``."""
    node = bare(place)
    while node is not None and node.type in _INTO:
        node = bare(node.child_by_field_name("argument"))
    return node


def is_arrow(node: Node) -> bool:
    """Whether it is ``s->x``."""
    return node.type == _MEMBER and any(child.type == "->" for child in node.children)


def every(tree: Node, fits: Callable[[Node], bool]) -> Iterator[Node]:
    """The nodes of a tree that are of some kind."""
    return (node for node in every_node(tree) if fits(node))


def is_changed(use: Node) -> bool:
    """Whether a variable stands where an assignment changes it."""
    around = use.parent
    while around is not None and around.type in _PARTS:
        use, around = around, around.parent
    field = CHANGES.get(around.type) if around else None
    return bool(around and field and around.child_by_field_name(field) == use)
