"""What a run of the fuzzer covered: a fuzzer whose paths are all left alone proves nothing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from ccc.options import AUTO
from ccc.passes.strategies.registry import STRATEGY_NAMES
from ccc.remark import Remark
from ccc.tools.fuzz.comparison import Verdict
from ccc.tools.fuzz.tree import Block, RandomKernel, walk

FEATURES = {
    "loop in an outer loop": r"r\d+ = 0",
    "several annotated loops": r"(?s)#pragma ccc for\b(?! var).*#pragma ccc for\b(?! var)",
    "reduction": r"reduction\(",
    "grid_stride": r"ccc grid_stride",
    "function template": r"template <int MODE",
    "inlined function": r"__forceinline__ unsigned f_t\d",
    "function called": r"__noinline__ unsigned f_[tr]\d",
    "else if": r"else if",
    "switch": r"\bswitch \(",
    "do while": r"(?m)^\s*do \{",
    "continue": r"\bcontinue;",
    "break out of a loop": r"if \(.*\) break;",
    "return before the loop": r"(?m)^    if \(.*\) return;",
    "64 bits, double": r"\b(long long|double) v",
    "16 bits": r"\bshort v",
    "array of the thread's own": r"k\d+\[",
    "array handed to a function": r"f_(fill|new|total|at|keep)\(&?k\d",
    "alloca": r"__builtin_alloca",
    "array of structures": r"struct ",
    "addresses in an array": r"\*m\d+\[2\]",
    "stack or ring of a traversal": r"k\d+\[(--s\d|c\d+ & 3)",
    "out parameters": r"f_two\(",
    "return after a loop": r"(?m)^        return;",
    "long steps": r"\bs\d+ \+= -?\d{9}",
    "counter at the edge of its type": r"(2147483647|4294967296ull|9223372036854775807ll)",
    "time": r"clock64\(\)|f_(wait|pause|ticks)\(",
    "tasks fetched": r"atomicAdd\(work",
    "ends in a function": r"f_leave\(",
    "symbol named like ccc's": r"\bccc_\w+[\[(]|f_named\(",
    "lanes that wait": r"\) < \(unsigned\)\(size",
    "critical section": r"f_locked\(|atomicCAS\(work",
    "small reduction": r"(bool|unsigned char|unsigned short) x\d",
    "system call": r"\b(assert|printf|malloc)\(",
    "shared memory": r"\btable\[",
    "dynamic shared memory": r"\bdynamic\[",
    "atomics in shared memory": r"&bins\[",
    "carried register": r"\bc\d+ \+= 1",
    "strategy asked for": r"#pragma ccc (?!for strat).*strategy\(",
    "strategy for all paths": r"#pragma ccc for .*strategy\(",
    "loop without annotation around a path": r"\bd\d+ = 0;",
    "loop until a variable has some value": r">> 27\) > ",
    "arms alike": r"\bz\d+ = 1\.5f",
    "list, and a sum over it": r"\bn\d+ = (.*\n){2,}.*\bx\d+ \* 9",
}
"""What to look for in the text of a kernel."""

_LOOP = re.compile(r"(?m)^#pragma ccc for(?! v)")
_PATH = re.compile(r"(?m)^#pragma ccc (if|switch|while|for variable|recursion)")


def _in_both_arms(block: Block) -> bool:
    """Whether an annotated loop stands in each arm of a branch."""
    return any(
        one.form == "if ($0) @0 else @1"
        and all(any(_LOOP.search(s.form) for s in walk(body)) for body in one.bodies)
        for one in block
    )


def levels(block: Block) -> int:
    """How deep paths are nested in a block."""
    return max(
        (bool(_PATH.search(one.form)) + max(map(levels, one.bodies), default=0) for one in block),
        default=0,
    )


@dataclass(slots=True)
class Coverage:
    """Counts paths by directive, reason and strategy, and kernels by what is in them."""

    kernels: int = 0
    paths: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    details: Counter[tuple[str, str]] = field(default_factory=Counter)
    served: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    declined: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)

    def add(self, kernel: RandomKernel, verdict: Verdict) -> None:
        """Count one kernel."""
        self.kernels += 1
        for remark in verdict.remarks:
            directive = _directive(remark)
            self.paths[directive, _without_place(remark.reason)] += 1
            if remark.asked:
                self.asked[_name(remark.asked)] += 1
                self.declined[_name(remark.asked)] += remark.declined is not None
            if remark.strategy:
                self.served[_name(remark.strategy), directive] += 1
            if remark.applied:
                for detail in ("continuation", "compressed"):
                    self.details[directive, detail] += bool(remark.details.get(detail))
        text = kernel.cuda("k")
        found = {name for name, pattern in FEATURES.items() if re.search(pattern, text)}
        if _in_both_arms(kernel.body):
            found.add("annotated loops in both arms")
        found.add(f"paths {max(levels(kernel.body), levels(kernel.functions))} deep")
        if verdict.table:
            found.add("jump table")
        self.features.update(found)
        if verdict.applied:
            self.applied.update(found)

    @property
    def collected(self) -> int:
        """How many paths were transformed."""
        return sum(count for (_, reason), count in self.paths.items() if reason is None)

    def show(self, console: Console) -> None:
        """Print the tables."""
        for table in (self._directives(), self._strategies(), self._reasons(), self._features()):
            console.print(table)

    def _directives(self) -> Table:
        columns = ("continuation", "compressed")
        table = _table("path", "copies", "collected", *columns, "left alone")
        for directive in sorted({directive for directive, _ in self.paths}):
            counts = {r: n for (d, r), n in self.paths.items() if d == directive}
            details = [self.details[directive, column] for column in columns]
            done, total = counts.get(None, 0), sum(counts.values())
            table.add_row(directive, *map(str, (total, done, *details, total - done)))
        return table

    def _strategies(self) -> Table:
        """Each strategy that there is, or that served a path, under the name without its number."""
        table = _table("strategy", "asked for", "declined", "paths", "of")
        seen = (*self.asked, *(name for name, _ in self.served))
        for name in dict.fromkeys((*STRATEGY_NAMES, *sorted(seen))):
            if name == AUTO:
                continue
            mine = {d: count for (s, d), count in sorted(self.served.items()) if s == name}
            words = ", ".join(f"{directive} {count}" for directive, count in mine.items())
            figures = (self.asked[name], self.declined[name], sum(mine.values()))
            table.add_row(name, *map(str, figures), words)
        return table

    def _reasons(self) -> Table:
        reasons: Counter[str] = Counter()
        places: dict[str, list[str]] = {}
        for (directive, reason), count in sorted(self.paths.items(), key=lambda item: -item[1]):
            if reason is not None:
                reasons[reason] += count
                places.setdefault(reason, []).append(f"{directive} {count}")
        table = _table("left alone because", "copies", "of")
        for reason, count in reasons.most_common():
            table.add_row(reason, str(count), ", ".join(places[reason]))
        return table

    def _features(self) -> Table:
        table = _table("kernels with", "all", "with a collected path")
        for name, count in sorted(self.features.items()):
            table.add_row(name, str(count), str(self.applied[name]))
        return table


def _table(*headings: str) -> Table:
    table = Table(*headings, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _name(strategy: str) -> str:
    """A strategy's name without its number."""
    return strategy.partition("(")[0]


def _directive(remark: Remark) -> str:
    arm = remark.arm if remark.arm in ("then", "else") else ""
    return f"{remark.annotation}: {arm}" if arm else remark.annotation


def _without_place(reason: str | None) -> str | None:
    """A reason without what differs from kernel to kernel."""
    if reason is None:
        return None
    said = re.sub(r" \((?:[^()]*, )?PTX line .*$|; .*$|: .*$|^\S+: ", "", reason)
    return re.sub(r"_Z\w+", "NAME", re.sub(r"\b\d+\b", "N", said))
