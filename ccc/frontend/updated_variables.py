"""How annotated statements update variables: as reductions do, or otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ccc.errors import Span
from ccc.frontend import behind, chosen, elements, generators, reductions, updates
from ccc.frontend.classes import type_of_field
from ccc.frontend.comparing import PAIRED, compared_by, compares, is_by_operator
from ccc.frontend.declared_types import is_pair, may_be_floating, type_by_name
from ccc.frontend.first_ones import FirstOne, first_ones
from ccc.frontend.handed import HandedOver, passed_on
from ccc.frontend.lambdas import outermost
from ccc.frontend.marked_statements import MarkedStatements
from ccc.frontend.naming import is_numbered_by
from ccc.frontend.structures import DeclaredStructure, structure_of
from ccc.frontend.syntax import declared_in, function_around, type_of
from ccc.frontend.targets import handed_anyhow, places_led_to
from ccc.frontend.ties import ties_in
from ccc.frontend.uses import in_shared, is_held, may_be_wide, own_of

if TYPE_CHECKING:
    from ccc.frontend.linemap import LineMap
    from ccc.frontend.placement import Placed, Placement
    from ccc.frontend.syntax import Node

_THREAD = (b"threadIdx", b"thread_rank")
"""What tells threads apart."""


class UpdatedVariables(MarkedStatements):
    """The variables that annotated statements update."""

    def __init__(self, placement: Placement, lines: LineMap, position: Callable[[Placed], Span]):
        super().__init__(placement, lines, position)
        self._calls: dict[tuple[Node, tuple[Span, ...]], Sequence[HandedOver]] = {}
        self._made: dict[Node, dict[bytes, set[str | None]]] = {}
        self._misuses: dict[tuple[Node, str, str], Node | None] = {}

    def misused(self, at: Span) -> dict[str, Span | None]:
        """The variables of an annotated loop's reductions with which the loop around a statement
        does more than to update them, as far as its text tells, and where it first does."""
        loops = self._loops(at)
        served = self._served(loops)
        return {
            name: self.misuse(at, name, reductions.written(ptx))
            for loop in loops[-1:]
            for ptx, name in loop.reductions
            if name not in served
        }

    def reductions_around(self, at: Span) -> list[tuple[str, str]]:
        """The operations and variables of the reductions of the annotated loop around a
        statement."""
        every = (one for loop in self._loops(at)[-1:] for one in loop.reductions)
        return [(reductions.written(ptx), name) for ptx, name in every]

    def reduced_by(self, at: Span) -> set[str]:
        """The operations of the reductions of the annotated loop around a statement."""
        every = (ptx for loop in self._loops(at)[-1:] for ptx, _ in loop.pragma.reductions)
        return set(map(reductions.written, every))

    def named_by(self, at: Span, by: str) -> list[str]:
        """The variables that the clauses of the annotated loop around a statement name with an
        operation."""
        return [name for one, name in self.reductions_around(at) if one == by]

    def whole_structures(self, at: Span) -> set[str]:
        """The structures that the clauses of the annotated loop around a statement name."""
        return {name for loop in self._loops(at)[-1:] for name in loop.structures}

    def _loops(self, at: Span) -> list[Placed]:
        """The annotated loops around a statement, or that itself if it has none."""
        placed, loop = self._at(at), self._loop_of(at)
        around = self._placement.loops_around(placed) if placed else []
        return around or ([loop] if loop else [])

    def misuse(self, at: Span, name: str, by: str) -> Span | None:
        """Where the annotated loop around a statement, or that itself if it has none or if that
        declares the variable, does more with it than to update it by an operation, as far as its
        text tells."""
        use = self._misuse(at, name, by)
        return Span(*self._line_of(use)) if use else None

    def _misuse(self, at: Span, name: str, by: str) -> Node | None:
        found = self.statements(at)
        if found is None:
            return None
        path, loop = found
        is_own = name.partition(".")[0].encode() in own_of(loop, loop)
        where = path if is_own else loop
        asked = where, name, by
        if asked not in self._misuses:
            self._misuses[asked] = reductions.misuse(where, name, by, self._handed(where))
        return self._misuses[asked]

    def misused_by_calls(self, at: Span) -> list[str]:
        """Those of the variables of reductions that a loop does more with where a function does
        that which also updates them, so that it cannot be kept out of the loop."""
        found, loops = self.statements(at), self._loops(at)
        handed = self._handed(found[1]) if found else ()
        calls = {one.base.start_byte for one in handed if one.function}
        every = ((ptx, name) for loop in loops[-1:] for ptx, name in loop.reductions)
        uses = {name: self._misuse(at, name, reductions.written(ptx)) for ptx, name in every}
        return [name for name, use in uses.items() if use is not None and use.start_byte in calls]

    def made_more_of(self, at: Span) -> dict[str, Span]:
        """The members that the functions make more of than to update them that a statement calls,
        or that one updates and another one sets, and the calls: no reduction serves those. A state
        of random numbers is none of them."""
        placed = self._at(at)
        calls = self._handed(placed.statement) if placed else []
        every = [(one, call) for call in calls for one in call.updates
                 if b"." in one.name and not call.is_stepped]  # fmt: skip
        updated = {one.name for one, _ in every if one.operator in updates.REDUCING}
        return {
            one.name.decode(errors="replace"): Span(*self._line_of(call.base))
            for one, call in every
            if one.operator == "" or (one.operator is None and one.name in updated)
        }

    def no_reduction(self, at: Span, name: str) -> Span | None:
        """Where the annotated loop around a statement does more with a variable which that updates
        as a reduction does, as ``misuse`` says; of several operations the first counts."""
        placed, around = self._at(at), self._loop_of(at)
        kept = [kept for one in (placed, around) if one for kept in updates.extremes(one.statement)]
        by = next((by for by, one in kept if one == name), self.operation(at, name))
        by = by or (reductions.first(placed.statement, name) if placed else None)
        return self.misuse(at, name, by) if by and by in updates.REDUCING else None

    def compared(self, at: Span, name: str) -> list[str]:
        """The members by which an operator compares a structure of a statement's function; one
        alone if that is all that decides."""
        placed = self._at(at)
        kind = type_of(placed.statement, name.encode()) if placed else None
        if placed is None or kind is None:
            return []
        signs = (b"operator<", b"operator>", b"operator<=", b"operator>=")
        called = (one for sign in signs for one in self._placement.functions(sign))
        mine = [one for one in called if compares(one, kind)]
        is_paired = not mine and is_pair(kind, self._placement.blank)
        if is_paired and is_by_operator(placed.statement, name):
            return PAIRED
        return list(dict.fromkeys(member for one in mine for member in compared_by(one)))

    def class_of_others(self, at: Span, name: str) -> str | None:
        """The class that a variable of a statement's function is of, if that is a template which
        the text does not declare, as ``complex<float>``: nobody knows its members."""
        placed = self._at(at)
        kind = type_of(placed.statement, name.encode()) if placed else None
        if kind is None or b"<" not in kind or structure_of(kind, self._placement.blank):
            return None
        return " ".join(kind.decode(errors="replace").split())

    def structure(self, at: Span, name: str) -> DeclaredStructure | None:
        """The structure that a variable of a statement's function, or a member of one, is, if it
        is known to be one."""
        placed = self._at(at)
        code = self._placement.blank
        kind = type_by_name(placed.statement, name.encode(), code) if placed else None
        method = outermost(placed.statement) if placed and not kind else None
        kind = kind or (type_of_field(method, name.encode()) if method else None)
        return structure_of(kind, self._placement.blank) if kind else None

    def unnamed(self, at: Span, *, around: bool = False) -> list[tuple[str, str]]:
        """The operations and variables that a statement, or the loop around it, updates as a
        reduction does, and no loop names: those that are floating-point, and those that the loop
        updates by what the statement changes."""
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        if placed is None or (around and not loops):
            return []
        statement = loops[-1].statement if around else placed.statement
        made = {base.text for base in updates.changed(placed.statement)} if around else set()
        found = self._unnamed(statement, [*loops, placed], made, self._is_float)
        found = [(by, name) for by, name in found if self.misuse(at, name, by) is None]
        return [one for by, name in found for one in self._nameable(at, by, name)]

    def _nameable(self, at: Span, by: str, name: str) -> list[tuple[str, str]]:
        """What a clause can name of what is updated by an operation: of a structure the members, if
        that has nothing else."""
        whole = self.structure(at, name)
        if whole is None:
            return [(by, name)]
        members = [] if whole.arrays or whole.private else whole.open
        named = {one for loop in self._loops(at) for _, one in loop.reductions}
        return [(by, full) for one in members if (full := f"{name}.{one}") not in named]

    def unnamed_handed_on(self, at: Span, *, beside: bool = True) -> list[tuple[str, str]]:
        """Those of a statement that outlive an iteration, and those beside it that need clauses
        whatever becomes of that."""
        placed = self._at(at)
        own = own_of(placed.statement, self._placement.around(placed)) if placed else set[bytes]()
        every = dict.fromkeys([*self.unnamed(at), *(self.unnamed_beside(at) if beside else ())])
        return [one for one in every if one[1].partition(".")[0].encode() not in own]

    def unnamed_beside(self, at: Span) -> list[tuple[str, str]]:
        """Those of the loop around a statement that are updated by what the statement changes, and
        so need clauses whatever becomes of that."""
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        if placed is None or not loops:
            return []
        made = {base.text for base in updates.changed(placed.statement)}
        found = self._unnamed(loops[-1].statement, loops, made, lambda *_: False)
        every = [one for by, name in found for one in self._nameable(at, by, name)]
        return [one for one in self.unnamed(at, around=True) if one in every]

    def _unnamed(
        self,
        statement: Node,
        loops: Sequence[Placed],
        made: set[bytes | None],
        is_float: Callable[[Node, bytes], bool],
    ) -> list[tuple[str, str]]:
        """The same, also of those that a loop does more with."""
        own = {name.encode() for loop in loops for _, name in loop.reductions}
        own |= {name for name, _ in declared_in(statement)}
        return reductions.unnamed(statement, own, made, self._handed(statement), is_float)

    def extreme(self, at: Span) -> tuple[str, str] | None:
        """The operation and the variable, where a statement keeps the least or the most, and the
        loop around it does nothing else with that."""
        placed = self._at(at)
        every = updates.extremes(placed.statement) if placed else ()
        return next((one for one in every if self.misuse(at, one[1], one[0]) is None), None)

    def led_to(self, at: Span) -> dict[str, str]:
        """What a statement updates through pointers that somebody else made, as ``places_led_to``
        says, and by which operations; by none where that is not known, or several are."""
        placed = self._at(at)
        if placed is None:
            return {}
        found = places_led_to(placed.statement, self._placement.functions)
        return {name: (next(iter(by)) or "" if len(by) == 1 else "") for name, by in found.items()}

    def by_order(self, at: Span) -> tuple[str, str, Span] | None:
        """What a statement hands on that the loop around it updates where it sets the least or the
        most, as ``reductions.by_order`` says, what keeps that, and where it is done."""
        placed, loops = self._at(at), self._loops(at)[-1:]
        if placed is None:
            return None
        for loop in loops:
            for name, by, best, where in reductions.by_order(loop.statement):
                is_inside = placed.statement.start_byte <= where.start_byte
                if is_inside and self.misuse(at, best, by) is None:
                    return name, best, Span(*self._line_of(where))
        return None

    def tie(self, at: Span) -> tuple[list[str], Span, tuple[str, str, str] | None] | None:
        """The variables that decide together what a statement keeps, as ``ties_in`` says, where,
        and the comparison that is enough by itself, if one is."""
        placed, loops = self._at(at), self._loops(at)[-1:]
        every = [one for loop in loops for one in ties_in(loop.statement)] if placed else []
        for one in every:
            if placed and placed.statement.start_byte <= one.branch.start_byte:
                return one.names, Span(*self._line_of(one.branch)), one.alone
        return None

    def first_one(self, at: Span) -> tuple[FirstOne, Span] | None:
        """What a statement keeps where it is the least, or the first, and where."""
        placed, loops = self._at(at), self._loops(at)[-1:]
        for one in (one for loop in loops for one in first_ones(loop.statement)):
            if placed and placed.statement.start_byte <= one.branch.start_byte:
                return one, Span(*self._line_of(one.branch))
        return None

    def goes_with(self, at: Span, name: str) -> tuple[str, str] | None:
        """The operation and the variable, where the loop around a statement keeps the least or the
        most in that, and sets another one in nothing but the branches that do so."""
        loops = self._loops(at)[-1:]
        found = (one for loop in loops for one in reductions.set_along(loop.statement))
        return next(((by, best) for along, by, best in found if name in along), None)

    def chosen_beside(self, at: Span) -> tuple[str, str, str, str] | None:
        """What a statement sets by a choice beside the least or the most that it keeps, as
        ``chosen.chosen_beside`` says."""
        placed = self._at(at)
        return chosen.chosen_beside(placed.statement) if placed else None

    def operation(self, at: Span, name: str, places: Sequence[Span] = ()) -> str | None:
        """The operation by which a statement changes a variable, or else the rest of the iteration,
        or else the function at some places, perhaps one of no reduction; None if there are several,
        or none is known."""
        placed = self._at(at)
        if placed is None:
            return None
        parts = (placed.statement, self._placement.around(placed))
        every = (self._operations(where, name.encode()) for where in parts if where is not None)
        calls = self._handed(placed.statement, places)
        there = {
            u.operator or None for one in calls for u in one.updates if u.name == name.encode()
        }
        made = next(filter(None, every), there)
        return made.pop() if len(made) == 1 else None

    def is_no_reduction(self, at: Span, name: str) -> bool:
        """Whether it is certain, by the text, that no reduction serves a variable of which a
        statement changes the value for later iterations."""
        placed = self._at(at)
        if placed is None or self.goes_with(at, name) is not None:
            return False
        path, loop = placed.statement, (self._loops(at) or [placed])[-1].statement
        by = {one: by for by, one in updates.extremes(path)}.get(name)
        by = by or self.operation(at, name) or reductions.first(path, name)
        if by in updates.REDUCING and self.misuse(at, name, by) is None:
            return False
        if self.is_stepped(at, name) or any(
            one == name or one.startswith(f"{name}.") for one in self.made_more_of(at)
        ):
            return True
        if any(elements.by_element(how) == "" for how in self._operations(path, name.encode())):
            return True  # elements are set to what is no update
        is_set = any(True for _ in updates.changes_of(path, name.encode()))
        return is_set and not behind.is_set_anew(loop, name.encode())

    def _operations(self, where: Node, name: bytes) -> set[str | None]:
        """By what some code changes a variable."""
        if where not in self._made:
            self._made[where] = self._every_operation(where)
        made = self._made[where].get(name, set())
        if made == {None}:
            every = updates.changes(where)
            return {updates.flag(one) for one, base in every if updates.name_of(base) == name}
        return set(made)

    def _every_operation(self, where: Node) -> dict[bytes, set[str | None]]:
        """By what some code changes its variables: of each much is asked."""
        found: dict[bytes, set[str | None]] = {}
        for one, base in updates.changes(where):
            by = None if self._is_of_numbers(one, base) else updates.operator(one)
            found.setdefault(updates.name_of(base), set()).add(by)
        for update in (update for call in self._handed(where) for update in call.updates):
            found.setdefault(update.name, set()).add(update.operator or None)
        for element in self._in_members(where):
            found.setdefault(element.array, set()).add(element.operator)
        return found

    def is_stepped(self, at: Span, name: str) -> bool:
        """Whether a statement, or what it hands it to, makes of a variable what follows from that
        alone, as of a state of random numbers."""
        placed = self._at(at)
        if placed is None or self._is_float(placed.statement, name.encode()):
            return False
        path, turn = placed.statement, self._placement.around(placed) or placed.statement
        others = {one.text or b"" for one in updates.changed(turn)} | own_of(path, turn)
        every = (self._handed(path), self._led_to(path))
        found = ([o for o in of if updates.name_of(o.base) == name.encode()] for of in every)
        calls = next(filter(None, found), [])
        changes = list(updates.changes_of(path, name.encode()))
        by_itself = not changes or updates.is_stepped(changes, others)
        return bool(changes or calls) and by_itself and all(one.is_stepped for one in calls)

    def is_only_counted(self, at: Span, name: str) -> bool:
        """Whether a statement itself changes a variable by nothing but to add to it."""
        placed = self._at(at)
        changes = list(updates.changes_of(placed.statement, name.encode())) if placed else []
        return bool(changes) and all(map(generators.counts, changes))

    def is_needed_behind(self, at: Span, name: str) -> bool:
        """Whether a variable of its function is read behind the annotated loop around a statement,
        or behind that itself if it has none."""
        found = self.statements(at)
        return found is not None and behind.is_needed_behind(found[1], name.encode())

    def counter(self, at: Span) -> str | None:
        """The variable that the annotated loop around a statement counts in; None if it has none,
        or several."""
        loop = self._loop_of(at)
        update = loop.statement.child_by_field_name("update") if loop else None
        found = {updates.name_of(one) for one in updates.changed(update)} if update else set()
        return found.pop().decode(errors="replace") if len(found) == 1 else None

    def is_of_thread(self, at: Span, name: str) -> bool:
        """Whether a variable of a statement's function is made from the number of the thread, so
        that no other thread has the same, as far as its text tells."""
        placed = self._at(at)
        function = function_around(placed.statement) if placed else None
        made = updates.follows_from(function, _THREAD, by_branches=False) if function else set()
        return name.encode() in made

    def _is_of_numbers(self, change: Node, base: Node) -> bool:
        """Whether it is a reduction only of what is a number, which floating-point need not be."""
        is_float = self._is_float(change, updates.name_of(base))
        return is_float and updates.takes_no_number(change)

    def adds_up(self, at: Span, array: str) -> tuple[str, bool] | None:
        """The operation of a reduction by which a statement, or else the iteration around it,
        updates elements of an array of its function, if there is one, and whether each iteration
        computes the number of one; else they are the same in all of them."""
        placed = self._at(at)
        if placed is None:
            return None
        path, name = placed.statement, array.encode()
        turn = self._placement.around(placed) or path
        every = ([one for one in self._elements(placed, part) if one[0].text == name]
                 for part in (path, turn))  # fmt: skip
        found = {by: element for _, by, element in next(filter(None, every), [])}
        by, element = found.popitem() if len(found) == 1 else (None, None)
        return None if by is None or element is None else (by, is_numbered_by(turn, element))

    def in_columns(self, at: Span, array: str) -> list[tuple[str, str]]:
        """The operations by which a statement updates elements of an array, and these as they would
        be in a column for each thread; empty if it does more with some."""
        placed = self._at(at)
        found = self._in_members(placed.statement) if placed else []
        every = [one for one in found if one.array == array.encode()]
        by = [elements.by_element(one.operator) for one in every]
        ways = [elements.in_column(one).decode(errors="replace") for one in every]
        return [(op, way) for op, way in zip(by, ways, strict=True) if op] if all(by) else []

    def _elements(
        self, placed: Placed, part: Node | None = None
    ) -> list[tuple[Node, str | None, Node]]:
        """The arrays that outlive an iteration of which a statement changes elements, or some part
        of the iteration does, how, and these."""
        path = placed.statement
        known = {name for name, is_array in declared_in(function_around(path) or path) if is_array}
        known -= own_of(path, self._placement.around(placed))
        return [one for one in updates.elements(part or path) if one[0].text in known]

    def _in_members(self, where: Node) -> list[elements.Element]:
        """The elements that some code changes of arrays of its function, or of arrays in variables
        of that."""
        every = [one for one in elements.changed(where) if one.base is not None]
        shared = in_shared([one.base for one in every if one.base], self._placement.root)
        return [
            one
            for one in every
            if one.base is not None and one.base not in shared
            if elements.is_own(where, one.base, one.array)
        ]

    def elements(self, at: Span, names: Iterable[str]) -> dict[str, set[str]]:
        """Those of some names that are arrays in variables, of which a statement changes elements,
        and by which operations of reductions; an empty one of none."""
        placed = self._at(at)
        if placed is None:
            return {}
        found = dict[str, set[str]]()
        for one in names:
            made = self._operations(placed.statement, one.encode())
            by = [how for each in made if (how := elements.by_element(each)) is not None]
            if by and len(by) == len(made):
                found[one] = set(by)
        return found

    def _served(self, loops: Sequence[Placed]) -> set[str]:
        return reductions.served(loops, self._handed, self._is_float)

    def _handed(self, tree: Node, places: Sequence[Span] = ()) -> Sequence[HandedOver]:
        """What a tree hands to functions; a loop is asked for each of its variables. Of functions
        of one name those are meant in which some places are, if any is."""
        key = tree, tuple(places)

        def named(name: bytes) -> Sequence[Node]:
            every = self._placement.functions(name)
            meant = [one for one in every if any(self._spans(one, line) for line in places)]
            return meant or every

        if key not in self._calls:
            self._calls[key] = handed_anyhow(tree, named)
        return self._calls[key]

    def _led_to(self, tree: Node) -> Iterator[HandedOver]:
        """The pointers that a tree hands on, to functions that change what these lead to."""
        return passed_on(tree, self._placement.functions)

    def may_hold(self, at: Span, name: str, kind: str) -> bool:
        """Whether a register of a kind may hold a variable, as far as its type tells."""
        placed = self._at(at)
        if placed is None:
            return True
        return is_held(kind, type_by_name(placed.statement, name.encode(), self._placement.blank))

    def wide_of(self, at: Span, names: Sequence[str]) -> Sequence[str]:
        """Those of some variables that may be integers of 64 bits, or pointers, by their types, or
        those of their elements; all if none may."""
        placed = self._at(at)
        if placed is None:
            return names
        kinds = {
            one: type_by_name(placed.statement, one.encode(), self._placement.blank)
            or type_of(placed.statement, one.encode(), is_array=True)
            for one in names
        }
        return [one for one, kind in kinds.items() if not kind or may_be_wide(kind)] or names

    def _is_float(self, statement: Node, name: bytes) -> bool:
        """Whether it is floating-point, or may be, or a structure in one of such numbers alone."""
        code = self._placement.blank
        kind = type_by_name(statement, name, code) if b"." in name else None
        whole = structure_of(kind, code) if kind else None
        every = [b"%s.%s" % (name, one.encode()) for one in whole.open] if whole else [name]
        return all(may_be_floating(statement, one, code) for one in every or [name])
