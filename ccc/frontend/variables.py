"""Which variables of the source a reason may speak of: PTX has registers only."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ccc.errors import Span
from ccc.frontend import behind, pointers, reductions, updates
from ccc.frontend.deciding import arm_of
from ccc.frontend.declared_types import are_two_halves, type_by_name
from ccc.frontend.handed import handed_over
from ccc.frontend.leaving import cases_run
from ccc.frontend.own_arrays import OwnArrays, volatile_in
from ccc.frontend.syntax import (
    declarations,
    declared_in,
    function_around,
    function_name,
    identifiers_in,
    is_field_of_bits,
    parameters_of_kernel,
)
from ccc.frontend.updated_variables import UpdatedVariables
from ccc.frontend.uses import (
    INTEGER,
    accessed,
    by_atomics,
    fitting,
    handed_on,
    in_shared,
    likely_held,
    may_hold,
    of_all,
    only_read,
    own_of,
    referred,
    set_by_calls,
    stored_to,
    uninitialised,
)

if TYPE_CHECKING:
    from ccc.frontend.linemap import LineMap
    from ccc.frontend.placement import Placed, Placement
    from ccc.frontend.syntax import Node

_WIDEST = re.compile(rb"\b__u?int128(?:_t)?\b")
_IN_MEMORY = ("accessed", "written", "shared")


class Suspects(UpdatedVariables):
    """The variables of annotated statements that reasons may speak of."""

    def __init__(self, placement: Placement, lines: LineMap, position: Callable[[Placed], Span]):
        super().__init__(placement, lines, position)
        self._sets: dict[int, list[tuple[Node, tuple[str, int]]]] = {}

    def names(
        self,
        at: Span,
        about: str,
        places: Sequence[Span] = (),
        kind: str = "",
        arm: str = "",
        case: Span | None = None,
        *,
        is_store: bool = False,
    ) -> list[str]:
        """The variables that a reason may speak of; those on the line at fault, if any are there,
        or else on that which calls what this is in.

        Args:
            at: where the annotation stands.
            about: ``carried`` out of an iteration, ``handed`` from turn to turn of a loop,
                ``uninitialised``, ``arrays``, ``accessed``, ``written`` by what is named itself,
                ``shared`` if that is in shared memory, or by what may be an ``atomic`` operation.
            places: the line at fault, as far as that is known, and the calls that it is in.
            kind: the PTX type of what is made there, if that is of floating-point.
            arm: which arm of a branch is meant.
            case: where the case begins that is meant, if one is.
            is_store: whether memory is meant that the line at fault writes.
        """
        placed = self._at(at)
        if placed is None:
            return []
        function = function_around(placed.statement) or placed.statement
        found = self._found(placed, about, places, kind, arm, case)
        every = ([node for node in found if self._is_on(node, line)] for line in places)
        number, here = next(((n, nodes) for n, nodes in enumerate(every) if nodes), (0, []))
        written = stored_to(here, function) if is_store else []
        if number:  # it is done by a function, to what that gets
            kept = [node for node in here if not updates.is_changed(node) and node not in written]
            here = kept if kept or is_store else here
        elif written:
            here = written
        if not here and about == "atomic":
            return self.names(at, "written", places)
        if about in _IN_MEMORY:
            here = self._in_memory(here, function, about, places, is_store=is_store)
        if about == "uninitialised" and not number and places:
            unset = uninitialised(placed.statement, self._placement.around(placed), arrays=True)
            on_line = [node for node in unset if self._is_on(node, places[0])]
            here = stored_to(on_line, function) or here  # not what that is made from
        copies = self._copied(placed, places, here, kind) if about == "carried" else []
        here = here if here or about in _IN_MEMORY else copies or found
        if about == "carried":
            kept = copies or fitting(here, kind) or here
            if kept and not any(may_hold(kind, one) for one in kept):
                kept = self._inside(placed, places, kind) or kept
            return self._spoken_of(placed, kept, places)
        if about == "arrays":
            return OwnArrays(function, self._placement.blank).names(here)
        return _members(here) if about == "handed" else _texts(here)

    def _in_memory(
        self,
        here: Sequence[Node],
        function: Node,
        about: str,
        places: Sequence[Span],
        *,
        is_store: bool,
    ) -> list[Node]:
        """Those of some names of a function by which memory may be meant, or else what others see
        without a pointer on the lines at fault."""
        is_written = is_store or about == "written"
        read = only_read(function, self._placement.blank, is_written=is_written)
        kept = [node for node in here if node.text not in read]
        if kept or (here and not is_written):
            return kept or [*here]
        plain = [*of_all(function, self._placement.root), *referred(function)]
        here = [node for node in plain if any(self._is_on(node, line) for line in places)]
        if not here and is_store:
            return [n for n in set_by_calls(function) if any(self._is_on(n, one) for one in places)]
        return (stored_to(here, function) if is_store else []) or here

    def called_there(
        self, at: Span, line: Span, *, is_store: bool, is_atomic: bool = False
    ) -> list[str]:
        """By what another function than a statement's accesses memory on a line, or stores to it
        there, or changes it by an atomic operation, as it is called in that."""
        placed = self._at(at)
        home = placed.at if placed else 0
        every = updates.every(self._placement.root, lambda one: one.type == "function_definition")
        for one in (f for f in every if self._spans(f, line) and home not in range(*f.byte_range)):
            nodes = by_atomics(one) if is_atomic else accessed(one, None)
            here = [node for node in nodes if self._is_on(node, line)]
            return _texts((stored_to(here, one) if is_store else []) or here)
        return []

    def read_through(self, at: Span, names: Iterable[str]) -> list[str]:
        """Those of some pointers and arrays by which the function around a statement also reads."""
        placed = self._at(at)
        function = function_around(placed.statement) if placed else None
        every = accessed(function, None) if function else []
        written = stored_to(every, function, is_plain=True) if function else []
        read = _texts(node for node in every if node not in written)
        return [one for one in names if one in read]

    def _found(
        self,
        placed: Placed,
        about: str,
        places: Sequence[Span],
        kind: str,
        arm: str,
        case: Span | None,
    ) -> list[Node]:
        """Where the variables stand that a reason may speak of, on whatever lines."""
        path, around = placed.statement, self._placement.around(placed)
        function = function_around(path) or path
        ways: dict[str, Callable[[], Iterable[Node]]] = {
            "carried": lambda: (
                self._carried_behind(placed, places, kind)
                or [one for ran in self._run(path, arm, case) for one in self._carried(placed, ran)]
            ),
            "handed": lambda: self._sums(placed) or self._handed_on(placed),
            "uninitialised": lambda: uninitialised(path, around),
            "arrays": lambda: OwnArrays(function, self._placement.blank).used_in(path),
            "accessed": lambda: accessed(function, around),
            "written": lambda: accessed(function, around),
            "atomic": lambda: by_atomics(function),
            "shared": lambda: in_shared(accessed(function, around), self._placement.root, function),
        }
        return list(ways[about]())

    def _run(self, path: Node, arm: str, case: Span | None) -> list[Node]:
        """What of a statement is run where an arm, or a case, is meant."""
        cases = list(cases_run(path, lambda colon: self._is_on(colon, case))) if case else []
        return cases or [arm_of(path, arm)]

    def _copied(
        self, placed: Placed, places: Sequence[Span], here: Sequence[Node], kind: str
    ) -> list[Node]:
        """What the rest of the iteration sets for later ones of what the line at fault sets, with
        what that sets for them itself, of what a register of a kind may hold; or nothing."""
        path, turn = placed.statement, self._placement.around(placed)
        if turn is None or not places:
            return []
        own = own_of(path, turn)
        is_copy = self._is_on(turn, places[0])  # made where a turn ends, which is its head's line
        every = (i for i in updates.changed(path) if is_copy or self._is_on(i, places[0]))
        made = {i.text for i in every if may_hold(kind, i)} & own
        served = self._served(self._placement.loops_around(placed)) if made else set()
        copied = behind.copies(path, turn, made, own)
        found = [one for one in copied if served.isdisjoint(reductions.spoken_of(one, ()))]
        return [*(one for one in here if may_hold(kind, one)), *found] if found else []

    def _inside(self, placed: Placed, places: Sequence[Span], kind: str) -> list[Node]:
        """What a path changes on the line at fault of what the iteration declares outside of that,
        and a register of a kind may hold: turns of a loop inside hand it on."""
        path = placed.statement
        own = {name for name, _ in declared_in(path)}
        every = [one for one in updates.changed(path) if one.text not in own]
        on_line = [one for one in every if any(self._is_on(one, line) for line in places)]
        return [one for one in on_line if may_hold(kind, one)]

    def without_value(self, at: Span, names: Iterable[str]) -> list[str]:
        """Those of some variables and arrays that the iteration declares without a value."""
        placed = self._at(at)
        turn = self._placement.around(placed) if placed else None
        found = uninitialised(placed.statement, turn, arrays=True) if placed else ()
        unset = {*_texts(found)}
        return [one for one in names if one.partition(".")[0] in unset]

    def set_behind(self, at: Span, name: str) -> Span | None:
        """Where the rest of the iteration sets a variable that nothing before it does."""
        placed = self._at(at)
        turn = self._placement.around(placed) if placed else None
        node = behind.only_there(placed.statement, turn, name.encode()) if placed and turn else None
        return Span(*self._line_of(node)) if node else None

    def set_in(self, at: Span, name: str) -> Span | None:
        """The line on which a statement sets a variable, if there is one."""
        placed = self._at(at)
        found = updates.changed(placed.statement) if placed else ()
        lines = {self._line_of(n) for n in found if updates.name_of(n) == name.encode()}
        return Span(*lines.pop()) if len(lines) == 1 else None

    def _spoken_of(
        self, placed: Placed, nodes: Sequence[Node], places: Sequence[Span]
    ) -> list[str]:
        """What is carried of some variables, but for what reductions serve, if there is more."""
        calls = list(self._handed(self._placement.around(placed) or placed.statement, places))
        every = dict.fromkeys(one for node in nodes for one in reductions.spoken_of(node, calls))
        served = self._served(self._placement.loops_around(placed)) if calls else set()
        return [one for one in every if one not in served] or list(every)

    def handed(self, at: Span, places: Sequence[Span] = ()) -> list[tuple[str, str]]:
        """The variables of its function, no arrays, that a statement uses and whose addresses
        functions get, and these; those on the line at fault, if any are there."""
        placed = self._at(at)
        function = function_around(placed.statement) if placed else None
        if placed is None or function is None:
            return []
        plain = {name for name, is_array in declared_in(function) if not is_array}
        used = {node.text for node in identifiers_in(placed.statement)}
        calls = handed_over(function, self._placement.functions)
        every = [one for one in calls if one.base.text in plain & used]
        on_line = [one for one in every if any(self._is_on(one.base, line) for line in places)]
        named = ((one.base.text or b"", one.function) for one in on_line or every)
        return [
            (name.decode(errors="replace"), by.decode(errors="replace"))
            for name, by in dict.fromkeys(named)
        ]

    def volatile(self, at: Span, places: Sequence[Span]) -> list[str]:
        """The plain variables on the line at fault that a statement uses and that are volatile, if
        it uses no arrays there."""
        placed = self._at(at)
        function = function_around(placed.statement) if placed else None
        if placed is None or function is None:
            return []
        path, blank = placed.statement, self._placement.blank

        def here(nodes: Iterable[Node]) -> list[Node]:
            return [one for one in nodes if any(self._is_on(one, line) for line in places)]

        is_array = bool(here(OwnArrays(function, blank).used_in(path)))
        return [] if is_array else _texts(here(volatile_in(path, function)))

    def _carried_behind(self, placed: Placed, places: Sequence[Span], kind: str) -> list[Node]:
        """The same of the rest of the iteration, where the line at fault lies there, of what that
        may make."""
        path, around = placed.statement, self._placement.around(placed)
        if around is None or not places:
            return []
        found = self._carried(placed, around)
        rest = [n for n in found if n.start_byte >= path.end_byte]
        fit = [n for n in rest if kind != INTEGER or may_hold(kind, n)]
        every = ([n for n in fit if self._is_on(n, line)] for line in places)
        return next(filter(None, every), [])

    def _carried(self, placed: Placed, where: Node) -> list[Node]:
        """What some code changes, or has functions change, for later iterations, but for what
        reductions serve."""
        own = own_of(where, self._placement.around(placed))
        calls = list(self._handed(where))
        arrays = (base for base, *_ in self._elements(placed))
        inner = (one.base for one in self._in_members(where) if one.base is not None)
        changed = (*updates.changed(where), *(one.base for one in calls), *arrays, *inner)
        every = [node for node in changed if reductions.outlives(node, calls, own)]
        served = self._served(self._placement.loops_around(placed))
        every = every or [one.base for one in self._led_to(where) if one.base.text not in own]
        left = [node for node in every if not served.issuperset(reductions.spoken_of(node, calls))]
        return left or every

    def handed_on(self, at: Span) -> list[str]:
        """All that a statement changes, or has functions change, for later iterations, whatever
        serves it."""
        placed = self._at(at)
        if placed is None:
            return []
        path, calls = placed.statement, list(self._handed(placed.statement))
        own = own_of(path, self._placement.around(placed))
        every = (*updates.changed(path), *(one.base for one in calls))
        left = [one for one in every if reductions.outlives(one, calls, own)]
        names = (reductions.spoken_of(one, calls) for one in left)
        return list(dict.fromkeys(one for each in names for one in each))

    def in_caller(
        self, at: Span, places: Sequence[Span], kind: str
    ) -> tuple[Span | None, list[str]]:
        """The annotated loop in another function than a statement's in which what happens at some
        places does so, the innermost first, and the variables there that are handed on so, of those
        that a register of a kind may hold. Where no place is known it is calls of its function."""
        home = self._at(at)
        loops = [one for one in self._placement.placed if one.name == "for" and one != home]
        loops.sort(key=lambda one: one.at, reverse=True)  # what lies in another one comes first
        for number, line in enumerate(places or self._uses_of_function(home)):
            loop = next((one for one in loops if self._spans(one.statement, line)), None)
            if loop is not None:
                is_call = number > 0 or not places
                return self._position(loop), self._carried_on(loop, line, kind, is_call=is_call)
        return None, []

    def _uses_of_function(self, home: Placed | None) -> list[Span]:
        """Where the text names the function that a statement stands in."""
        function = function_around(home.statement) if home else None
        name = function_name(function) if function else None
        every = updates.every(
            self._placement.root, lambda node: node.text == name and not node.children
        )
        return [Span(*self._line_of(one)) for one in every] if name else []

    def _carried_on(self, loop: Placed, line: Span, kind: str, *, is_call: bool) -> list[str]:
        """What a line of an annotated loop changes for later iterations, but for what reductions
        serve; of a call only what it is handed."""
        body = loop.statement.child_by_field_name("body") or loop.statement
        calls = list(self._handed(body))
        changed = () if is_call else updates.changed(body)
        own, served = own_of(loop.statement, None), self._served([loop])
        found = (*changed, *(call.base for call in calls))
        every = [one for one in found if one.text not in own and self._is_on(one, line)]
        mine = [one for one in every if may_hold(kind, one)] or every
        spoken = (name for one in mine for name in reductions.spoken_of(one, calls))
        return [one for one in dict.fromkeys(spoken) if one not in served]

    def promise(self, at: Span, reads: Sequence[Span], writes: Sequence[Span]) -> str | None:
        """The clauses ``noalias(...)`` that tell apart what some lines read and others write; empty
        if all is promised, None if it is not known, or cannot be said.

        Args:
            at: where the annotation of a path stands.
            reads: the lines that read.
            writes: the lines that write.
        """
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        if placed is None or not loops:
            return None
        every = pointers.accesses_in(placed, loops[-1])

        def on(lines: Sequence[Span], *, writes: bool) -> list[list[str]]:
            where = [(span.file, span.line) for span in lines]
            here = {one: [a for a in every if self._line_of(a.node) == one] for one in set(where)}
            return [
                pointers.most_likely(here[one], writes, where.count(one)) for one in sorted(here)
            ]

        named = [on(reads, writes=False), on(writes, writes=True)]
        if not all(name for each in named for name in each):
            return None
        return pointers.clauses_for(loops[-1], *named)

    def defined(
        self, at: Span, lines: Collection[Span], kind: str, *, with_rest: bool = False
    ) -> list[str]:
        """The variables that are given values on some lines and used in an annotated statement.

        Args:
            at: where the annotation stands.
            lines: the lines.
            kind: the PTX type of the register that is meant, which is no variable of another type.
            with_rest: whether the rest of the iteration is meant, too.
        """
        placed = self._at(at)
        if placed is None or not lines:
            return []
        numbers = {(line.file, line.line) for line in lines}
        users = placed.statement, self._placement.around(placed) if with_rest else None
        used = {node.text for user in users if user for node in identifiers_in(user)}
        sets = self._sets_of(placed)
        here = (node for node, line in sets if line in numbers and node.text in used)
        return _texts(likely_held(kind, here))

    def _sets_of(self, placed: Placed) -> list[tuple[Node, tuple[str, int]]]:
        """Where the function of a statement gives values to variables."""
        if placed.id not in self._sets:
            function = function_around(placed.statement) or self._placement.root
            self._sets[placed.id] = [
                (node, self._line_of(node))
                for node in (*declarations(function), *updates.changed(function))
            ]
        return self._sets[placed.id]

    def parameters(self, at: Span) -> list[str]:
        """The names of the parameters of the kernel in which a statement stands itself."""
        placed, code = self._at(at), self._placement.blank
        listed = parameters_of_kernel(placed.statement, code) if placed else []
        names = [next((name for name, _ in declared_in(one)), b"") for one in listed]
        return [one.decode(errors="replace") for one in names] if all(names) else []

    def can_be_restricted(self, at: Span) -> bool:
        """Whether it would be seen that parameters are ``__restrict__``: those of a kernel in which
        the annotated loop stands itself, or may, where none is seen around a statement."""
        placed = self._at(at)
        loops = self._placement.loops_around(placed) if placed else []
        code = self._placement.blank
        return not loops or bool(parameters_of_kernel(loops[-1].statement, code))

    def halves(self, at: Span, names: Iterable[str]) -> dict[str, bool]:
        """Those of some variables that are of half precision, and whether it holds two numbers."""
        placed, code = self._at(at), self._placement.blank
        of = placed.statement if placed else None
        kinds = {one: type_by_name(of, one.encode(), code) for one in names} if of else {}
        return {one: are_two for one, kind in kinds.items()
                if (are_two := are_two_halves(kind or b"")) is not None}  # fmt: skip

    def too_wide(self, at: Span, names: Iterable[str]) -> list[str]:
        """Those of some variables that are integers of 128 bits, of which there is no reduction."""
        placed, code = self._at(at), self._placement.blank
        of = placed.statement if placed else None
        kinds = {one: type_by_name(of, one.encode(), code) for one in names} if of else {}
        return [one for one, kind in kinds.items() if _WIDEST.search(kind or b"")]

    def speaks_of(self, name: str) -> bool:
        """Whether a name stands anywhere in the user's own files."""
        return re.search(rf"\b{re.escape(name)}\b".encode(), self._placement.blank) is not None

    def fields_of_bits(self, names: Iterable[str]) -> list[str]:
        """Those of some members that are so many bits."""
        code = self._placement.blank
        return [one for one in names if "." in one and is_field_of_bits(one.encode(), code)]

    def _handed_on(self, placed: Placed) -> list[Node]:
        """What turns of a loop hand on, but for what that counts in by itself and what reductions
        serve, if there is more."""
        loop = placed.statement
        every, update = handed_on(loop), loop.child_by_field_name("update")
        changes = updates.changes(update) if update else ()
        counters = {base.text for one, base in changes if one.type == "update_expression"}
        served = self._served([placed])
        left = [one for one in every if one.text not in counters]
        left = [one for one in left if updates.name_of(one).decode() not in served]
        return left or every

    def _sums(self, placed: Placed) -> list[Node]:
        """The floating-point variables that a loop adds up, and does not say so."""
        statement = placed.statement
        own = {name for name, _ in declared_in(statement)}
        own |= {name.encode() for _, name in placed.reductions}
        return [
            base
            for change, base in updates.changes(statement)
            if own.isdisjoint((base.text, updates.name_of(base)))
            and updates.operation(change) == "+"
            and self._is_float(statement, updates.name_of(base))
        ]


def _members(bases: Iterable[Node]) -> list[str]:
    """The variables, or the members of them, that are spoken of, each once."""
    return list(dict.fromkeys(updates.name_of(one).decode(errors="replace") for one in bases))


def _texts(nodes: Iterable[Node]) -> list[str]:
    """Their texts, each once."""
    return list(dict.fromkeys((node.text or b"").decode(errors="replace") for node in nodes))
