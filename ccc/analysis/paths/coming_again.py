"""Whether several iterations of a thread come to one place, which they compute.

    and.b32 %r8, %r5, 7;                    // h[i & 7][threadIdx.x]
    shl.b32 %r9, %r8, 8;
    add.s32 %r10, %r9, %r2;                 // and h + 4 * threadIdx.x
    ld.shared.f32 %f1, [%r10];

Some iterations are gone through as a thread would, until the loop ends, with numbers for what is
only known when the kernel runs: in blocks of several sizes, with small parameters, with large ones,
and with powers of two. A loop that ends before a place comes again tells nothing where others of
these numbers have it go on. What is read is taken to be the same each time. So this is no proof,
and serves for what users are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from zlib import crc32

from ccc.analysis.constant_trip_count import only_exit, stays_if
from ccc.analysis.defuse import Definition, only_maker, trace
from ccc.analysis.facts import Facts
from ccc.analysis.paths.callee_accesses import operand_of
from ccc.analysis.paths.model import PlacedPath, instructions_of
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register, Special, Symbol
from ccc.ptx.opcodes import CARRIES_ON, LOADS
from ccc.ptx.operations import OF_BITS, OF_INTEGERS, RELATIONS, UNSIGNED
from ccc.ptx.types import TYPES, number_of_type

TURNS = 256
"""So many iterations are gone through: rows of as many places are often known to be long enough."""
SHORT = 64
"""So many places make a short row."""
FEW = 8
"""Fewer of them tell nothing."""
_LAUNCH = {"%tid.x": 5, "%tid.y": 0, "%tid.z": 0, "%ctaid.x": 3, "%nctaid.x": 40, "%laneid": 5}
"""What a thread finds in a usual launch; 1 elsewhere."""
_FIRST = {"%tid.x": 0, "%laneid": 0}
"""The first of its block, beside whose number there is room for what ``thread << 4 | i`` counts."""
_IN_ROWS = {**_LAUNCH, "%ntid.x": 128}
"""The same in blocks of one row."""
_ROWS, _PLANES = ((128,), (256,), (1024,)), ((32, 8), (16, 16))
"""Blocks of kernels that say nothing of theirs, and of those that ask for a second number."""
_NEXT = 4
"""So many iterations may lie between one that writes and one that reads."""
_DRAWS = 12
"""So often numbers are drawn until a loop does not end early."""
_DRAWN: tuple[Callable[[int], int], ...] = (
    lambda number: 4 + number % 1024,
    lambda number: 10**6 + number % 10**7,
    lambda number: 1 << 3 + number % 10,
)
"""Numbers that a kernel may find: small, large, and powers of two."""
_MANY = lambda number: 10**8 + number % 10**7  # noqa: E731
"""Numbers of which a loop goes through many."""
_ADDRESSES = ("to", "global", "shared", "const", "local", "param")
_SHIFTS = ("shl", "shr")
_KNOWN = {*OF_INTEGERS, *OF_BITS, "selp", "setp"}
_KINDS = {
    "mul": ("lo", "hi", "wide"),
    "mad": ("lo", "wide"),
    "setp": (*RELATIONS, *UNSIGNED),
    "bfind": ("", "shiftamt"),
}
"""The modifiers of those that have some, beside their types."""
_OTHER = "?"


class _Unknown(Exception):
    """A number that nothing is known of."""


def comes_again(
    access: Instruction, path: PlacedPath, facts: Facts, reads: Sequence[Instruction] = ()
) -> bool:
    """Whether a thread comes to the address of an access in several iterations of a loop.

    Args:
        access: an access in a path, which all of these iterations take.
        path: the path.
        facts: the function's analyses.
        reads: if there are any, one of them must read there, in whichever iteration.
    """
    limits = facts.function.limits
    said = limits.get("reqntid") or limits.get("maxntid")
    told = 0
    every = instructions_of(facts.blocks, facts)
    has_rows = any(each.name.endswith(".y") for one in every for each in one.specials())
    for block in (said,) if said else _PLANES if has_rows else _ROWS:
        launch = {**_LAUNCH, **{f"%ntid.{'xyz'[at]}": size for at, size in enumerate(block)}}
        for drawn, thread in zip(_DRAWN, ({}, {}, _FIRST), strict=True):
            try:
                again = _in_a_long_loop(access, reads, path, facts, {**launch, **thread}, drawn)
            except (_Unknown, ArithmeticError, RecursionError):
                return False
            if again is False:
                return False
            told += again is not None
    return told > 0


def _in_a_long_loop(
    access: Instruction,
    reads: Sequence[Instruction],
    path: PlacedPath,
    facts: Facts,
    launch: Mapping[str, int],
    drawn: Callable[[int], int],
) -> bool | None:
    """Whether a thread comes to an address again, where that is read if there are reads, in a loop
    that goes on, as far as numbers can be drawn with which it does; None where it hardly begins."""
    again = None
    for salt in range(_DRAWS):
        count = 0
        once, twice, read = set[int](), set[int](), set[int]()
        for place, others in _places(access, reads, _Thread(path, facts, launch, drawn, salt=salt)):
            count += 1
            (twice if place in once else once).add(place)
            read |= others
            if count >= FEW and twice and not (reads and twice.isdisjoint(read)):
                return True
        if count >= FEW:
            again = False
        if count == TURNS:
            break
    return again


def is_read_later(access: Instruction, read: Instruction, path: PlacedPath, facts: Facts) -> bool:
    """Whether one of the next iterations, the same with all numbers, reads where each one writes,
    which is elsewhere each time.

    Args:
        access: the store, which all iterations come to.
        read: the load.
        path: the path.
        facts: the function's analyses.
    """
    behind: set[int | None] = set()
    try:
        for drawn, salt in product(_DRAWN, range(_DRAWS)):
            thread = _Thread(path, facts, _IN_ROWS, drawn, salt=salt)
            found = list(_places(access, [read], thread, FEW + _NEXT))
            if len(found) == FEW + _NEXT:
                behind.add(_later(found))
    except (_Unknown, ArithmeticError, RecursionError):
        return False
    return len(behind) == 1 and None not in behind


def _later(found: Sequence[tuple[int, set[int]]]) -> int | None:
    """How many iterations later each place is read; None if it is not, or is no other one."""
    places = [place for place, _ in found]
    if len({*places}) < len(places):
        return None
    for later in range(1, _NEXT + 1):
        pairs = zip(places, found[later:], strict=False)
        if all(place in read for place, (_, read) in pairs):
            return later
    return None


def is_of_rows(access: Instruction, path: PlacedPath, facts: Facts) -> bool:
    """Whether the thread beside comes to the same address where it reads one less: what is read
    is where a row begins, and threads have their columns of it. Of memory of each thread's own they
    would come to one place.

    Args:
        access: an access in a path, at an address made of what is read.
        path: the path.
        facts: the function's analyses.
    """
    try:
        here = _Thread(path, facts, _IN_ROWS, _DRAWN[0]).place(access)
        beside = _beside(_IN_ROWS)
        return here == _Thread(path, facts, beside, _DRAWN[0], less=1).place(access)
    except (_Unknown, ArithmeticError, RecursionError):
        return False


def has_few_places(access: Instruction, path: PlacedPath, facts: Facts) -> bool:
    """Whether threads take iterations in turn, as many as there are, and each has a short row of
    places for them, or a column of shared memory.

    Args:
        access: an access in a path, at an address made of what is read.
        path: the path.
        facts: the function's analyses.
    """
    (size,) = {TYPES[one].bits // 8 for one in access.types}
    limits = facts.function.limits
    said = limits.get("reqntid") or limits.get("maxntid") or _ROWS[0]
    launch = {**_LAUNCH, **{f"%ntid.{'xyz'[at]}": size for at, size in enumerate(said)}}
    try:
        rows: set[int] = set()
        for drawn in (*_DRAWN, _MANY):
            here, next_to = (_Thread(path, facts, one, drawn) for one in (launch, _beside(launch)))
            rows.add(next_to.place(access) - here.place(access))
            if not here.begins_elsewhere(next_to):
                return False
        (row,) = rows
        is_short = size < row <= SHORT * size or access.space == "shared"
        return is_short and len([*_places(access, (), here, most=SHORT)]) == SHORT
    except (_Unknown, ArithmeticError, RecursionError, ValueError):
        return False


def is_one_of_warps(access: Instruction, path: PlacedPath, facts: Facts) -> bool:
    """Whether the lanes of a warp, as far as some of them tell, all come to one address.

    Args:
        access: an access in the loop of a path, at an address that is made of nothing read.
        path: the path.
        facts: the function's analyses.
    """
    lanes = [{**_IN_ROWS, "%tid.x": lane, "%laneid": lane} for lane in (0, 5, 31)]
    try:
        return len({_Thread(path, facts, one, _DRAWN[0]).place(access) for one in lanes}) == 1
    except (_Unknown, ArithmeticError, RecursionError):
        return False


def _beside(launch: Mapping[str, int]) -> dict[str, int]:
    """What the next thread finds."""
    return {**launch, **{name: launch[name] + 1 for name in ("%tid.x", "%laneid")}}


def _places(
    access: Instruction, reads: Sequence[Instruction], thread: _Thread, most: int = TURNS
) -> Iterator[tuple[int, set[int]]]:
    """The address of an access in the iterations of a loop, or in the first of them, each with
    those where some others read in it."""
    for _ in range(most):
        if thread.asks_before(access) and not thread.goes_on():
            break
        yield thread.place(access), {*map(thread.place, reads)}
        if not thread.asks_before(access) and not thread.goes_on():
            break
        thread.go_on()


class _Thread:
    """What a thread computes in an iteration that takes a path, as all do, in a launch; ``drawn``
    makes of a number one that the kernel may find, another for each ``salt``, and what the loop
    reads is so much ``less``."""

    def __init__(
        self,
        path: PlacedPath,
        facts: Facts,
        launch: Mapping[str, int],
        drawn: Callable[[int], int],
        less: int = 0,
        salt: int = 0,
    ):
        self._path, self._facts, self._launch, self._of = path, facts, launch, drawn
        self._loop, self._less, self._salt = path.loop.loop, less, salt
        loop, branch = self._loop, only_exit(self._loop, facts)
        if branch is None:
            raise _Unknown
        self._branch, self._end = branch, facts.homes[branch]
        around = (one.blocks for one in facts.loops if loop.header in one.blocks)
        self._around = frozenset[str]().union(*around) - loop.blocks
        written = {r for i in instructions_of(loop.blocks, facts) for r in i.defined()}
        self._carried = facts.liveness.live_in(loop.header) & written
        self._begins: dict[Register, int] = {}
        """What the iteration has of the one before, as far as it was asked for."""
        self._chased: dict[Register, bool] = {}
        """Whether what the loop hands on in a register is what it has read as it is, or where the
        last one leads to."""
        self._made: dict[tuple[Instruction, Register], int | None] = {}
        """What the iteration has computed, None where that is not over."""

    def asks_before(self, access: Instruction) -> bool:
        """Whether the loop may end in an iteration before an access."""
        home = self._facts.homes[access]
        return self._end != home and self._facts.dominators.dominates(self._end, home)

    def goes_on(self) -> bool:
        """Whether the loop does not end in this iteration."""
        assert self._branch.guard is not None
        asked = self.read(self._branch.guard.register, self._branch)
        return bool(asked) == stays_if(self._branch, self._loop)

    def begins_elsewhere(self, other: _Thread) -> bool:
        """Whether it begins to count the loop's iterations with another number."""
        self.goes_on()
        other.goes_on()
        return self._begins != other._begins

    def go_on(self) -> None:
        """Begin the next iteration."""
        (latch,) = self._loop.latches
        later: dict[Register, int] = {}
        while waiting := self._begins.keys() - later.keys():
            for one in waiting:
                last = self._behind_the_path(self._facts.reaching.at_bottom(latch, one))
                if not all(each.label in self._loop.blocks for each in last):
                    raise _Unknown  # not in every iteration
                if one not in self._chased:
                    self._chased[one] = self._is_read(last) or self._is_chased(one, last)
                if self._chased[one]:
                    raise _Unknown  # what was read ahead, or the next node of a list
                later[one] = self._made_by(last, one)
        self._begins = later
        self._made.clear()

    def _behind_the_path(self, makers: Sequence[Definition]) -> Sequence[Definition]:
        """Those of some definitions that count behind the path, as far as it always makes them."""
        mine = [one for one in makers if one.label in self._path.blocks]
        always = self._facts.post_dominators
        is_sure = all(always.dominates(one.label, self._path.entry) for one in mine)
        return mine if mine and is_sure else makers

    def _is_read(self, makers: Sequence[Definition]) -> bool:
        """Whether a definition is one of a load, or of a copy of what it gives."""

        def is_load(maker: Instruction | None) -> bool:
            while maker is not None and maker.name in CARRIES_ON:
                maker = only_maker(maker.operands[1], self._facts.makers)
            return maker is not None and maker.name in LOADS and maker.space != "param"

        return any(is_load(one.instruction) for one in makers)

    def _is_chased(self, register: Register, makers: Sequence[Definition]) -> bool:
        """Whether the loop reads what some definitions give in a register where that leads to."""
        worklist = [(one.instruction, False) for one in makers]
        seen = {*worklist}
        while worklist:
            maker, is_read = worklist.pop()
            home = self._facts.homes[maker]
            if home not in self._loop.blocks:
                continue
            is_read |= maker.name in LOADS and maker.space != "param"
            if is_read and register in maker.used():
                return True
            made = self._facts.reaching.of_uses(home)
            every = (each for one in maker.used() for each in made.get((maker, one), ()))
            more = {(each.instruction, is_read) for each in every} - seen
            seen |= more
            worklist += more
        return False

    def place(self, access: Instruction) -> int:
        """Where an access goes."""
        address = operand_of(access, "addr")
        if not isinstance(address, Address):
            return self.read(address, access)
        return self.read(address.base, access) + address.offset

    def read(self, operand: Operand, reader: Instruction) -> int:
        """What an operand is where an instruction reads it."""
        if isinstance(operand, Immediate) and operand.integer is not None:
            return operand.integer
        if isinstance(operand, Special):
            return self._launch.get(operand.name, 1)
        if isinstance(operand, Symbol):
            return self._drawn(operand.name) + operand.offset
        if not isinstance(operand, Register):
            raise _Unknown
        made = self._facts.reaching.of_uses(self._facts.homes[reader])
        return self._made_by(made[reader, operand], operand)

    def _made_by(self, makers: Sequence[Definition], register: Register) -> int:
        """A register, which some definitions may have made."""
        before = self._facts.reaching.at_top(self._loop.header, register)
        if register in self._carried and {*makers} == {*before}:
            if register not in self._begins:
                first = [one for one in before if one.label not in self._loop.blocks]
                self._begins[register] = self._made_by(first, register)
            return self._begins[register]
        makers = self._behind_the_path(makers)
        if len(makers) > 1:  # of turns, what counts iterations is what the first one has
            makers = [one for one in makers if one.label not in self._around] or makers
        if len(makers) == 1 and makers[0].instruction.guard is None:
            return self._computed(makers[0].instruction, register)
        found = trace([register], self._facts.makers, _parts) or ()
        if not self._carried.isdisjoint(found):  # as the number of the iteration that reads it
            computed = trace([register], self._facts.makers, _computed_from) or ()
            differs = any(isinstance(one, Special) for one in computed)
            if differs or not self._carried.isdisjoint(computed):
                raise _Unknown
        return self._drawn(register.name)

    def _computed(self, maker: Instruction, register: Register) -> int:
        key = maker, register
        if key not in self._made:
            self._made[key] = None
            self._made[key] = self._result(maker, register)
        found = self._made[key]
        if found is None:
            raise _Unknown
        return found

    def _result(self, maker: Instruction, register: Register) -> int:
        """What an instruction makes of what it reads."""
        if maker.name in LOADS:
            if maker.space == "param":
                return self._drawn(str(maker.operands[1]))
            is_inside = self._facts.homes[maker] in self._loop.blocks
            return self._drawn(register.name) - (self._less if is_inside else 0)
        kinds = [one for one in maker.modifiers if one not in (*maker.types, *_ADDRESSES)]
        (kind,) = kinds if len(kinds) == 1 else ["" if not kinds else _OTHER]
        if kind not in _KINDS.get(maker.name, ("",)) or maker.name not in _KNOWN:
            raise _Unknown
        if not maker.types or any(TYPES[name].kind not in "bus" for name in maker.types):
            raise _Unknown
        values = [self.read(one, maker) for one in maker.operands[1:]]
        if maker.name == "selp":
            return values[0 if values[2] else 1]
        read = [number_of_type(one, maker.types[-1]) for one in values]
        if maker.name == "setp":
            return int(RELATIONS[UNSIGNED.get(kind, kind)](*read[:2]))
        if maker.name in OF_BITS:
            width = TYPES[maker.types[0]].bits
            found = OF_BITS[maker.name](read[0], width)
            return width - 1 - found if kind and read[0] else found
        if maker.name in _SHIFTS:
            read[1] = min(number_of_type(values[1], "u32"), 64)
        if kind == "wide":
            return OF_INTEGERS[maker.name](*read[:2], *values[2:])
        found = OF_INTEGERS[maker.name](*read)
        if kind == "hi":
            found >>= TYPES[maker.types[-1]].bits
        return number_of_type(found, maker.types[0])

    def _drawn(self, name: str) -> int:
        """A number that the kernel finds under a name."""
        return self._of(crc32(name.encode()) * (2 * self._salt + 1) >> self._salt)


def _parts(maker: Instruction, _: Register) -> list[Operand]:
    return [*maker.used(), *maker.specials()]


def _computed_from(maker: Instruction, register: Register) -> list[Operand]:
    """What a value is made from that is not read."""
    return [] if maker.name in LOADS else _parts(maker, register)
