"""Variables that code updates through pointers that only ever lead to them.

Acc acc, *p = &acc; ... p->sum += x; push(p, x);
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ccc.frontend import lambdas, updates
from ccc.frontend.handed import HandedOver, Update, by_own_methods, handed_over, passed_on
from ccc.frontend.remembered import remembered
from ccc.frontend.syntax import declared_in, identifiers_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from ccc.frontend.syntax import Node


def handed_anyhow(tree: Node, functions: Callable[[bytes], Sequence[Node]]) -> list[HandedOver]:
    """What a tree hands to functions, as an argument, as their object, or through pointers."""
    ways = (handed_over, by_own_methods, through_pointers)
    return [one for way in ways for one in way(tree, functions)]


@remembered
def led_to(function: Node) -> dict[bytes, bytes]:
    """The pointers of a function that it declares with the address of a variable, or of a member
    of one, and never changes, and what each leads to."""
    found: dict[bytes, bytes] = {}
    for made in updates.every(function, lambda node: node.type == "init_declarator"):
        pointer, value = (made.child_by_field_name(part) for part in ("declarator", "value"))
        name = pointer.child_by_field_name("declarator") if pointer else None
        place = value.child_by_field_name("argument") if value else None
        is_pointer = pointer is not None and pointer.type == "pointer_declarator"
        is_address = value is not None and _is_address(value) and updates.base_of(place) is not None
        if is_pointer and is_address and name is not None and place is not None:
            found[name.text or b""] = updates.text_of(place)
    declared = [name for name, _ in declared_in(function)]
    moved = {updates.name_of(base) for base in updates.changed(function)}
    moved |= {
        updates.text_of(one)[1:]
        for one in updates.every(function, lambda node: node.type == "pointer_expression")
        if _is_address(one)
    }
    return {
        name: place
        for name, place in found.items()
        if name not in moved and declared.count(name) == 1
    }


def _made_in(tree: Node, known: dict[bytes, bytes]) -> Iterator[tuple[Node, bytes]]:
    """The variables of which a tree gives the addresses to such pointers as it declares them, where
    it does, and what these lead to."""
    for made in updates.every(tree, lambda node: node.type == "init_declarator"):
        pointer, value = (made.child_by_field_name(part) for part in ("declarator", "value"))
        name = pointer.child_by_field_name("declarator") if pointer else None
        base = updates.base_of(value.child_by_field_name("argument")) if value else None
        if name is not None and base is not None and name.text in known:
            yield base, known[name.text or b""]


def _is_address(node: Node) -> bool:
    return node.type == "pointer_expression" and node.children[0].type == "&"


def through_pointers(tree: Node, named: Callable[[bytes], Sequence[Node]]) -> Iterator[HandedOver]:
    """What a statement does to variables through such pointers, by itself or by functions; the
    base is the pointer."""
    known = led_to(lambdas.outermost(tree) or tree)
    uses = [use for use in identifiers_in(tree) if use.text in known] if known else []
    if not uses:
        return
    found = [*_directly(tree, known)]
    for one in passed_on(tree, named):
        if one.base.text in known:
            changed = tuple(
                update._replace(name=_renamed(update.name, one.base, known))
                for update in one.updates
            )
            found.append((range(one.base.start_byte, one.base.end_byte), one, changed))
    updated = {update.name for *_, changed in found for update in changed}
    for _, one, changed in found:
        yield one._replace(updates=changed)
    every = tuple(update for *_, changed in found for update in changed)
    for base, place in _made_in(tree, known):  # where the pointer is made
        mine = tuple(one for one in every if one.name.startswith(place + b".") or one.name == place)
        if mine:
            yield HandedOver(base, b"", mine)
    uses = [use for use in uses if use.parent is None or use.parent.type != "pointer_declarator"]
    for use in uses:
        place = known[use.text or b""]
        names = [one for one in updated if one == place or one.startswith(place + b".")]
        if names and not any(use.start_byte in where for where, *_ in found):
            more = tuple(Update(name, "", frozenset()) for name in sorted(names))
            yield HandedOver(use, b"", more)


def places_led_to(
    tree: Node, named: Callable[[bytes], Sequence[Node]]
) -> dict[str, set[str | None]]:
    """What a statement updates through pointers that somebody else made, by itself or by functions,
    and by which operations: places as they are written, ``p->sum`` or ``*p``."""
    own, known = {name for name, _ in declared_in(tree)}, led_to(lambdas.outermost(tree) or tree)
    kept = {name: by for by, name in updates.extremes(tree)}
    found: dict[str, set[str | None]] = {}
    for change in updates.assignments(tree):
        place = updates.bare(change.child_by_field_name(updates.CHANGES[change.type]))
        root = updates.root_of(place)
        is_led = place is not None and (place.type == "pointer_expression" or _is_led(place))
        if place is None or root is None or not is_led or root.text in own | known.keys():
            continue
        name = updates.text_of(place).decode(errors="replace")
        by = kept.get(name) or updates.operator(change) or updates.sign_of(change)
        found.setdefault(name, set()).add("" if updates.is_taken(change) else by)
    for one in passed_on(tree, named):
        if one.base.text not in own | known.keys():
            for update in one.updates:
                found.setdefault(update.name.decode(errors="replace"), set()).add(update.operator)
    return found


def _is_led(place: Node) -> bool:
    """Whether a member is of what a pointer leads to, other than this object's own."""
    node: Node | None = place
    while node is not None and node.type == "field_expression":
        inner = updates.bare(node.child_by_field_name("argument"))
        if updates.is_arrow(node) and inner is not None and inner.type != "this":
            return True
        node = inner
    return False


def _directly(
    tree: Node, known: dict[bytes, bytes]
) -> Iterator[tuple[range, HandedOver, tuple[Update, ...]]]:
    """What it changes by itself, and where it names that."""
    kept: dict[bytes, tuple[str | None, Node]] = {}
    for sought, name, branch in updates.extreme_branches(tree):
        kept[name.encode()] = sought, branch
    for change in updates.assignments(tree):
        place = updates.place_of(change)
        base = updates.root_of(place)
        if place is None or base is None or base.text not in known:
            continue
        text = updates.text_of(place)
        by, where = kept[text] if text in kept else (updates.operator(change), change)
        used = frozenset(one.text for one in identifiers_in(change)) - {base.text}
        update = Update(_renamed(text, base, known), "" if updates.is_taken(change) else by, used)
        yield range(where.start_byte, where.end_byte), HandedOver(base, b"", ()), (update,)


def _renamed(name: bytes, base: Node, known: dict[bytes, bytes]) -> bytes:
    """How the function calls what is named by a pointer."""
    pointer = base.text or b""
    for way in (pointer + b"->", b"(*%s)." % pointer):
        if name.startswith(way):
            return known[pointer] + b"." + name.removeprefix(way)
    return known[pointer] if name in (pointer, b"*" + pointer) else name
