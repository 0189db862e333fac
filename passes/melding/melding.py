"""Melding: what the arms of a branch have in common, all lanes do together.

Arms that do much the same with other operands need not be run one after the other: where they have
the same instruction, one serves the lanes of both, and its operands are selected. (Coutinho et al.,
"Divergence Analysis and Optimizations", PACT 2011: branch fusion; Saumya, Sundararajah and
Kulkarni, "DARM: Control-Flow Melding for SIMT Thread Divergence Reduction", CGO 2022.)

Before:

            @%p1 bra THEN;
            // ccc.else 2 k.cu:7:5
            add.f32 %f3, %f1, %f2;
            sqrt.rn.f32 %f9, %f3;
            bra JOIN;
    THEN:   // ccc.then 2 k.cu:7:5
            sub.f32 %f4, %f1, %f2;
            mul.f32 %f5, %f4, %f1;
            sqrt.rn.f32 %f9, %f5;
    JOIN:   ...

After:

            add.f32 %a, %f1, %f2;               // either does no harm in lanes of the other arm
            sub.f32 %b, %f1, %f2;
            mul.f32 %c, %b, %f1;
            selp.b32 %chosen, %c, %a, %p1;
            sqrt.rn.f32 %d, %chosen;            // once, for both
            mov.b32 %f9, %d;

The steps of the arms are aligned so that as many issue slots as can be are saved. What stays alone
is done by all lanes, if it only computes, by those of its arm under a guard, or behind a branch,
if it is much. ``strategy(meld)`` asks for it, or a profile speaks for it; no annotated loop is
needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import FoundLoop, FoundPath, LeftPath, PathKey, Refused
from ccc.ir.edit import make_explicit, remove_jumps_to_next
from ccc.ir.nodes import MarkerNote
from ccc.passes.choice.before import counted, details, melding
from ccc.passes.melding.arms import Branch, examine, find_arms, split
from ccc.passes.melding.candidates import Candidate, choose
from ccc.passes.melding.cost import around, slots
from ccc.passes.melding.layout import lay_out
from ccc.passes.thresholds import MELD_GAIN
from ccc.pipeline import Kernel, Pass, PathRecord

MELD = "meld"


class Melding(Pass):
    """Run the arms of a branch as one where that is wanted and gains something."""

    name: ClassVar[str] = "melding"

    def run(self, kernel: Kernel) -> None:
        """Do so for each copy of each annotated branch."""
        done: set[PathKey] = set()
        while paths := _next(kernel, done):
            done.update(path.key for path in paths)
            make_explicit(kernel.function)
            try:
                _meld(kernel, paths)
            except Refused as refusal:
                if _is_asked(kernel, paths):
                    _decline(kernel, paths, str(refusal))
            remove_jumps_to_next(kernel.function)


def _decline(kernel: Kernel, paths: Sequence[FoundPath], reason: str) -> None:
    """Say why; without an annotated loop around them nothing else can be done with the arms."""
    for path in paths:
        left = _left(path, kernel.facts)
        kernel.decline(path.marker, reason)
        if left.loop is None:
            record = PathRecord(kernel.function.name, left)
            record.reason = reason
            kernel.settled.append(record)
            block = kernel.facts.blocks[path.entry]
            block.statements = [
                one
                for one in block.statements
                if not isinstance(one, MarkerNote) or one.marker != path.marker
            ]


def _next(kernel: Kernel, done: set[PathKey]) -> list[FoundPath]:
    """The arms of a branch for which melding is wanted and has not been tried."""
    for paths in sorted(find_arms(kernel.facts), key=lambda arms: _size(arms, kernel.facts)):
        asked = _is_asked(kernel, paths)
        wanted = counted(paths, kernel) is not None if asked is None else asked
        if wanted and not any(path.key in done for path in paths):
            return paths
    return []


def _is_asked(kernel: Kernel, paths: Sequence[FoundPath]) -> bool | None:
    """Whether melding is asked for; None if nothing is asked for."""
    requests = [kernel.request_of(_left(path, kernel.facts)) for path in paths]
    names = [request.name for request in requests if request is not None]
    return MELD in names if names else None


def _size(paths: Sequence[FoundPath], facts: Facts) -> int:
    """How many blocks the arms have: a branch in another one comes first."""
    return sum(len(extent(path, facts)) for path in paths)


def _left(path: FoundPath, facts: Facts) -> LeftPath:
    """The path with the annotated loop around it, whose annotation may ask, too."""
    around = [loop for loop in facts.loops if path.entry in loop.blocks]
    inner = {label: loop for loop in reversed(facts.loops) for label in loop.blocks}
    loops = (
        FoundLoop(marker, loop, ())
        for loop in around
        for label in sorted(loop.blocks)
        for marker in facts.blocks[label].markers
        if marker.kind == "for" and inner[label] is loop
    )
    return LeftPath(**vars(path), reason="", loop=next(loops, None))


def _meld(kernel: Kernel, paths: Sequence[FoundPath]) -> None:
    """Meld the arms of a branch.

    Raises:
        Refused: it cannot be done, or nothing is gained by it.
    """
    facts = kernel.facts
    branch, candidate = _best(paths, facts)
    record = PathRecord(kernel.function.name, _left(paths[0], facts))  # the arms are one now
    if not _is_asked(kernel, paths):
        choice = _choice(kernel, paths, branch, candidate)
        if choice is None:
            return
        record.choice = choice
    bytes_used = lay_out(kernel, branch, candidate)
    record.apply(MELD, _details(branch, candidate, bytes_used))
    kernel.settled.append(record)
    kernel.changed()


def _choice(
    kernel: Kernel, paths: Sequence[FoundPath], branch: Branch, candidate: Candidate
) -> dict[str, Any] | None:
    """What the report says of a branch that a profile speaks for melding; None if it does not."""
    lanes = counted(paths, kernel) or []
    blocks = kernel.facts.blocks
    lengths = [
        sum(slots(i) for label in extent(path, kernel.facts) for i in blocks[label].instructions)
        for path in paths
    ]
    rest = around(branch, kernel.facts)
    expected = melding(lengths, lanes, rest, candidate.after)
    if expected < MELD_GAIN:
        return None
    return details(MELD, expected, lanes, candidate.before)


def _best(paths: Sequence[FoundPath], facts: Facts) -> tuple[Branch, Candidate]:
    """The cheapest way; branches that arms end in may be part of this one.

    Raises:
        Refused: there is none.
    """
    branch = examine(paths, facts)
    inner = split(paths, facts)
    if len(inner) == len(paths):
        return branch, choose(branch, facts)
    found: list[tuple[Branch, Candidate]] = []
    for arms in (paths, inner):
        try:
            branch = examine(arms, facts)
            found.append((branch, choose(branch, facts)))
        except Refused as refusal:
            if arms is inner and not found:
                raise refusal from None
    return min(found, key=lambda one: one[1].after)


def _details(branch: Branch, candidate: Candidate, bytes_used: int) -> dict[str, Any]:
    """What the report says."""
    return {
        "arms": len(branch.arms),
        "instructions": candidate.instructions,
        "aligned": candidate.aligned,
        "selections": candidate.selections,
        "table_bytes": bytes_used,
        "slots_before": candidate.before,
        "slots_after": candidate.after,
    }
