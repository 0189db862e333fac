"""Inner loops of random kernels whose turns are special: long, by odd steps, over a stack, in time.

All end after some tens of turns at most, whatever is in them.
"""

from __future__ import annotations

from ccc.tools.fuzz.expressions import Scope
from ccc.tools.fuzz.statements import StatementWriter
from ccc.tools.fuzz.tree import TYPES, Block, Stmt

_COUNTERS = (
    ("i", "int {j} = 2147483647 - (int)({n}); {j} < 2147483647; ++{j}"),
    ("i", "int {j} = -2147483647 - 1 + (int)({n}); {j} > -2147483647 - 1; --{j}"),
    ("i", "int {j} = 0; {j} < (int)({n}) * 50000000; {j} += 50000000"),
    ("i", "int {j} = (int)({n}); {j} > 0; {j} -= 1"),
    ("u", "unsigned {j} = 0u - {n}; {j} != 0; ++{j}"),
    ("u", "unsigned {j} = ({n}) * 100000007u; {j} >= 100000007u; {j} -= 100000007u"),
    ("u", "unsigned {j} = ({n}) * 2147483649u; {j} != 0; {j} -= 2147483649u"),
    ("q", "long long {j} = 0; {j} < (long long)({n}) * 3000000019ll; {j} += 3000000019ll"),
    ("q", "long long {j} = (long long)({n}) * 4294967297ll; {j} > 0; {j} -= 4294967297ll"),
    ("q", "long long {j} = -9223372036854775807ll - 1 + (long long)({n}); "
        "{j} > -9223372036854775807ll - 1; --{j}"),
    ("l", "unsigned long long {j} = ({n}) * 4294967296ull; {j} != 0; {j} -= 4294967296ull"),
    ("l", "unsigned long long {j} = 0ull - ({n}); {j} != 0; ++{j}"),
    ("s", "short {j} = (short)(32767 - (int)({n})); {j} < 32767; ++{j}"),
)  # fmt: skip
"""How turns are counted, ``{n}`` of them, and the type of the counter ``{j}``."""

_LISTS = (
    ("i", "int {j} = (int)({b}); {j} < (int)({e}); {j} += {s}"),
    ("u", "unsigned {j} = {b}; {j} < {e}; {j} += {s}"),
    ("u", "unsigned {j} = {e}; {j} > {b}; --{j}"),
    ("q", "long long {j} = {b}; {j} < (long long)({e}); {j} += {s}"),
    ("l", "unsigned long long {j} = {b}; {j} != {e}; ++{j}"),
    ("q", "long long {j} = (long long)({e}) - 1; {j} >= (long long)({b}); {j} -= {s}"),
)
"""The type of what counts, and a loop through a list from ``{b}`` up to ``{e}`` or down from it, in
steps of ``{s}``."""

_LENGTHS = ("$1 % 5", "$1 % 40", "(($1 & 7) ? $1 % 4 : 30 + $1 % 90)", "($1 % 16 == 0) * 120u")
"""How long lists are: short, or some of them long."""

_TURNS = ("$0 % 40", "($0 & 3) * 11", "$0 % 9", "($0 & 7) * 3", "($0 % 5 == 0) * 37u")

_STEPS = {
    "l": ("3000000019ull", "4294967296ull", "0x8000000000000001ull", "18446744073709551611ull"),
    "q": ("-3000000019ll", "4294967297ll", "2147483648ll", "-4294967296ll", "-1ll"),
    "u": ("2147483648u", "4294967295u", "3000000019u", "7u"),
    "i": ("30000001", "-30000001"),
    "f": ("0.5f", "-1.25f"),
}
"""By what a variable of each type grows from turn to turn. None that is signed overflows."""

_SHOWN = {
    "l": "atomicAdd(&sums[1], {s} >> 3);\n",
    "q": "atomicAdd(&sums[2], (unsigned long long){s} * 5);\n",
    "u": "atomicXor(&counters[9], {s} * 3);\n",
    "i": "atomicXor(&counters[10], (unsigned){s} * 7);\n",
}
"""How every turn shows such a variable."""


class TurnWriter(StatementWriter):
    """Writes loops inside iterations."""

    def turns(self, scope: Scope, kind: str, pragma: str) -> Stmt:
        """A loop of any form that is marked with ``kind``."""
        if kind == "while" and self.likes("traversal", 0.15):
            return (self._traversal if self.chance(0.5) else self._ring)(scope, pragma)
        if kind == "while" and self.likes("time", 0.04):
            return self._until(scope, pragma)
        if self.likes("steps", 0.2):
            return self._steps(scope, pragma)
        if kind == "for variable" and self.likes("lists", 0.3):
            return self._list(scope, pragma)
        return self.loop(scope, 2, pragma, size=3)

    def _steps(self, scope: Scope, pragma: str) -> Stmt:
        """A loop in which variables grow by constants of their own."""
        name = self.fresh("j")
        kind, counter = _COUNTERS[self.below(len(_COUNTERS))]
        words = {"j": name, "n": _TURNS[self.below(len(_TURNS))]}
        parts, names = [self.value(scope, "u")], [name]
        before = shown = after = ""
        inner = scope.declare(name, kind)
        for _ in range(1 + self.below(3)):
            grows = "llquif"[self.below(6)]
            grown, steps = self.fresh("s"), _STEPS[grows]
            parts.append(self.value(scope, "u"))
            start = f"({TYPES[grows]})${len(parts) - 1}"
            if grows == "i":  # far enough from both ends for some forty steps
                start = f"(int)(${len(parts) - 1} >> 3)"
            before += f"{TYPES[grows]} {grown} = {start};\n"
            after += f"{grown} += {steps[self.below(len(steps))]};\n"
            if grows in _SHOWN and self.chance(0.5):
                shown += _SHOWN[grows].format(s=grown)
            names.append(grown)
            inner = inner.declare(grown, grows)
        if self.in_turns and self.chance(0.6):  # nothing that what follows would need
            body: Block = (self.store(inner),)
        else:
            body = self.block(inner, 3, 1, "b" if self.likes("jumps", 0.1) else "")
        first, last = (after, "") if self.chance(0.5) else ("", after)
        head = f"{before}{pragma}for ({counter.format(**words)})"
        text = f"{{\n{head} {{\n{first}{shown}@0\n{last}}}\n}}"
        return Stmt(text, tuple(parts), (body,), binds=tuple(names))

    def _list(self, scope: Scope, pragma: str) -> Stmt:
        """A loop through a list, short or long, whose end may be read in each turn; perhaps a sum
        over it."""
        name, begin, length, sum_ = (self.fresh(prefix) for prefix in ("j", "s", "n", "x"))
        kind, counter = _LISTS[self.below(len(_LISTS))]
        lengths = _LENGTHS[self.below(len(_LENGTHS))]
        end = f"({begin} + {length})"
        if self.chance(0.4):  # by nvcc in each turn, where stores might change it
            end = f"({begin} + (a[{length} & 255] & 31))"
        words = {"j": name, "b": begin, "e": end, "s": (1, 1, 2, 3, 7)[self.below(5)]}
        inner = scope.declare(name, kind)
        out: list[Stmt] = []
        sums = self.chance(0.4)
        if sums:
            out.append(Stmt(f"{sum_} += $0;", (self.value(inner, "u"),), names=(sum_,)))
        body = (*out, *(self.block(inner, 2, 1) if self.chance(0.5) else (self.store(inner),)))
        before = f"const unsigned {begin} = $0 & 63, {length} = {lengths};\nunsigned {sum_} = 0;\n"
        shown = f"\natomicXor(&counters[11], {sum_} * 9);" if sums else ""
        text = f"{{\n{before}{pragma}for ({counter.format(**words)}) @0{shown}\n}}"
        parts = (self.value(scope, "u"), self.value(scope, "u"))
        return Stmt(text, parts, (body,), binds=(name, begin, length, sum_))

    def walk(self, scope: Scope, pragma: str, state: str) -> Stmt:
        """A loop until a variable that it draws from has some value."""
        turn = self.fresh("c")
        body = self.block(scope.declare(turn, "u"), 2, 1)
        head = f"({state} >> 27) > {1 + self.below(16)} && {turn} < {8 + self.below(25)}"
        text = (
            f"{{\nunsigned {turn} = 0;\n{pragma}while ({head}) {{\n"
            f"{state} = {state} * 1664525u + 1013904223u;\n++{turn};\n@0\n}}\n}}"
        )
        return Stmt(text, (), (body,), names=(state,), binds=(turn,))

    def _traversal(self, scope: Scope, pragma: str) -> Stmt:
        """A loop over what lies on a stack of the thread's own, of at most so many turns."""
        stack, top, turn, node = (self.fresh(prefix) for prefix in ("k", "s", "c", "j"))
        inner = scope.declare(node, "u")
        body = self.block(inner, 3, 1, "cb" if self.likes("jumps", 0.1) else "")
        push = f"if ($1 && {top} < 15) {stack}[{top}++] = $2;"
        another = f"\nif ($3 && {top} < 15) {stack}[{top}++] = $4;" if self.chance(0.5) else ""
        text = (
            f"{{\nunsigned {stack}[16], {top} = 1, {turn} = 0;\n{stack}[0] = $0;\n"
            f"{pragma}while ({top} && {turn} < {4 + self.below(14)}) {{\n"
            f"const unsigned {node} = {stack}[--{top}];\n++{turn};\n{push}{another}\n@0\n}}\n}}"
        )
        parts = [self.value(scope, "u"), self.condition(inner), self.value(inner, "u")]
        parts += [self.condition(inner), self.value(inner, "u")] if another else []
        return Stmt(text, tuple(parts), (body,), binds=(stack, top, turn, node))

    def _ring(self, scope: Scope, pragma: str) -> Stmt:
        """A loop that keeps what its last four turns computed, and no array before it."""
        ring, turn, state = self.fresh("k"), self.fresh("c"), self.fresh("s")
        inner = scope.declare(state, "u")
        body = self.block(inner, 2, 1)
        variables = [v for v, kind in scope.variables if v[0] == "v" and kind == "u"]
        read = f"{ring}[({turn} + {state}) & 3]"
        use = f"y[{self.slot} * 3 + 1] ^= {read};"
        if variables and self.chance(0.7):
            use = f"{variables[self.below(len(variables))]} += {read};"
        text = (
            f"{{\nunsigned {ring}[4], {turn} = 0, {state} = $0;\n"
            f"{pragma}while (({state} & 15) && {turn} < 30) {{\nif ({turn} >= 4) {use}\n"
            f"{ring}[{turn} & 3] = $1;\n{state} = {state} * 1664525u + 1013904223u;\n"
            f"{state} ^= {state} >> 13;\n++{turn};\n@0\n}}\n}}"
        )
        names = (*self.slot_names, *(v for v in variables if f"{v} +=" in use))
        parts = (self.value(scope, "u"), self.value(inner, "u"))
        return Stmt(text, parts, (body,), names=names, binds=(ring, turn, state))

    def _until(self, scope: Scope, pragma: str) -> Stmt:
        """A loop until a time has come. How many turns that takes is nowhere to be seen."""
        until, turn = self.fresh("s"), self.fresh("c")
        text = (
            f"{{\nconst long long {until} = clock64() + $0 % 7 * 20;\nint {turn} = 0;\n"
            f"{pragma}while (clock64() < {until}) ++{turn};\n"
            f"y[{self.slot} * 3] += {turn} >= 0 ? 5 : 7;\n}}"
        )
        return Stmt(text, (self.value(scope, "u"),), names=self.slot_names)
