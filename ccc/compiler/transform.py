"""The pipeline as a function: marked PTX in, collected PTX out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ccc.analysis.paths.locate import INNER_LOOPS
from ccc.compiler.advice import advised
from ccc.compiler.in_vain import in_vain_by_default
from ccc.compiler.loops_left import loops_around, with_ways_out
from ccc.compiler.module import ModuleContext
from ccc.compiler.other_arms import short_ones_need_nothing, with_others_in_mind
from ccc.compiler.outcome import FunctionOutcome, Outcomes
from ccc.compiler.requests import Requests
from ccc.diagnostics import complaints
from ccc.errors import CccError, render
from ccc.garbage import looking_seldom
from ccc.ir.markers import ARMS, PROMISE, WHOLE_KERNEL, Marker, parse_marker
from ccc.ir.nodes import FunctionText, Module
from ccc.ir.printer import print_function
from ccc.ir.reannotated import Reannotated
from ccc.ir.verify import verify
from ccc.options import AUTO, Options
from ccc.parse import NotRepresentable, parse_module
from ccc.passes import PIPELINE
from ccc.passes.launch_shape import known_block_size
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.registry import SHARING
from ccc.pipeline import InlinedCall, Kernel, KernelRecord, Pass, PathRecord, Record
from ccc.remark import Remark, Report, report

if TYPE_CHECKING:
    from ccc.decisions import MatchedDecisions
    from ccc.profile.instrument import Counting
    from ccc.profile.known import Knowledge
    from ccc.profile.match import Place

NOTHING_INSIDE = "nothing inside is transformed, and a loop over blocks alone only costs"
INSISTS = "; --ccc-strategy=collect insists"
"""Where something inside can be collected."""
NO_PATHS = "nothing inside is annotated, and a loop over blocks alone only costs"

_PROMISED = re.compile(rf"^[^\n]*\w*{PROMISE}\w*\s*=\s*(?:generic\()?([\w$]+)\)?;\n", re.MULTILINE)
_CALL = re.compile(r"\bcall(?:\.uni)?\s+(?:\([^()]*\)\s*,\s*)?([\w$]+)")

Ran = tuple[Kernel, str, list[Record], frozenset[str]]
"""A function over which the passes ran, what is to be shown of it, all records, and the names of
functions inlined in it."""


@dataclass
class Transformed:
    """What :func:`transform` made.

    ``remarks`` say what became of each annotation, by function; ``warnings`` what else there is to
    warn of, and ``hints`` that a profile fits the source no more, which is nobody's fault.
    ``blocks`` are the most threads that a block of each kernel with annotations may have,
    as far as that is known, and ``sizes`` about how many instructions each had. ``printed`` is the
    PTX after the passes named in ``print_after``.
    """

    ptx: str
    remarks: dict[str, list[Remark]] = field(default_factory=dict)
    warnings: list[CccError] = field(default_factory=list)
    hints: list[CccError] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    printed: str = ""

    @property
    def report(self) -> Report:
        """What became of each annotation, as JSON; docs/annotations.md describes it."""
        return report(self.remarks)

    @property
    def complaints(self) -> list[CccError]:
        """What the user should know: each annotation that was left alone, and the warnings."""
        return [*complaints(self.remarks), *self.warnings]

    @property
    def diagnostics(self) -> list[str]:
        """The same as lines to show."""
        told = [*self.complaints, *self.hints]
        return [render("warning", one.message, one.span) for one in told]


@looking_seldom()
def transform(
    ptx: str,
    options: Options | None = None,
    *,
    filename: str = "<ptx>",
    registers: Mapping[str, int] | None = None,
    tried: Mapping[str, tuple[int, int]] | None = None,
    trying: Collection[str] = (),
    keeping: Collection[str] = (),
    crowded: Mapping[str, str] | None = None,
    reannotated: Mapping[str, Reannotated] | None = None,
    places: Mapping[int, Place] | None = None,
    known: Outcomes | None = None,
    case_told: Callable[[Remark], tuple[str, int]] | None = None,
    **asked: Any,
) -> Transformed:
    """Run the pipeline over the functions of a PTX file that hold markers.

    Everything else goes through byte for byte.

    Args:
        ptx: the text of a PTX file.
        options: what is asked for; the default ones if there are none.
        filename: what to call it in messages.
        registers: how many a thread of each kernel takes, by name, as far as that is known.
        tried: the same of the original, and of what was chosen when that was tried.
        trying: the kernels in which it is to be tried what would gain anything, by name.
        keeping: those that are to have the warps that they had where they hide what memory takes.
        crowded: why a kernel had better be left alone where nobody insists, by name.
        reannotated: other annotations of kernels than those that they have, by name.
        places: where the annotations of the source stand, by identifier, if it was read; else what
            the markers tell.
        known: what became of kernels before, with the same options; grows.
        case_told: tells how users know a case, and how many stand before it on its line, for a
            profile, if the source was read.
        asked: fields of :class:`ccc.Options` by name, which go before those of ``options``.

    Raises:
        CccError: the file is not valid PTX, an option is, or (with ``strict``) a path is refused.
        TypeError: there is no option of that name.
    """
    options = _options(options, asked)
    ptx, promised = _promises(ptx)
    if "// ccc." not in ptx:
        return Transformed(ptx)
    module = parse_module(ptx, filename)
    places = places or {}
    knowledge, tuned = _knowledge(module, options, places), _tuned(module, options, places)
    hints = [hint for advice in (knowledge, tuned) if advice for hint in advice.warnings]
    result = Transformed(ptx, hints=hints)
    told = registers or {}, tried or {}, trying, keeping, crowded or {}
    context = ModuleContext(module, options, *told, knowledge, tuned, promised, reannotated or {})
    idle = not options.transforms or context.is_debugged
    passes = () if idle else tuple(kind() for kind in PIPELINE)
    counting = _counting(module, context, options, places, case_told) if options.profile else None
    rewriting = _Rewriting(passes, context, result, None if counting else known or Outcomes())
    outcomes = _without_copies(rewriting.run(module))
    _tell(outcomes, options, counting, result)
    result.ptx = module.text
    return result


def marked_functions(ptx: str, filename: str) -> Iterator[Kernel]:
    """The functions of a PTX file that hold markers, as the first pass gets them.

    Raises:
        CccError: the file is not valid PTX, or a function cannot be read.
    """
    ptx, promised = _promises(ptx)
    module = parse_module(ptx, filename)
    context = ModuleContext(module, Options(), {}, {}, (), (), {}, None, None, promised)
    for piece in module.functions:
        if piece.is_marked:
            yield context.prepare(piece, frozenset(), {})


def _options(options: Options | None, asked: dict[str, Any]) -> Options:
    """The options, with those that were given by name."""
    if isinstance(asked.get("use"), str):
        asked["use"] = (asked["use"],)
    return replace(options or Options(), **asked)


def _tell(
    outcomes: Sequence[FunctionOutcome],
    options: Options,
    counting: Counting | None,
    result: Transformed,
) -> None:
    """Write down what became of all annotations, and have kernels count where that is asked for.

    Raises:
        CccError: with ``strict``, an annotation could not be followed.
    """
    for outcome in outcomes:
        if counting and outcome.kernel:
            counting.add(outcome.kernel.function, outcome.kernel.records)
        result.remarks[outcome.name] = [remark for _, remark in outcome.told]
        result.blocks[outcome.name] = outcome.block
    if options.strict and result.complaints:
        raise result.complaints[0]
    if counting:
        result.warnings += counting.finish()


def _promises(ptx: str) -> tuple[str, frozenset[str]]:
    """PTX without the variables that name the functions of which something is promised; these."""
    promised: set[str] = set()
    if PROMISE not in ptx:
        return ptx, frozenset()

    def take(found: re.Match[str]) -> str:
        promised.add(found[1])
        return ""

    return _PROMISED.sub(take, ptx), frozenset(promised)


@dataclass
class _Rewriting:
    """Runs the passes over all functions that are concerned.

    ``known`` is what became of kernels before; None where more than that is needed of them.
    """

    passes: Sequence[Pass]
    context: ModuleContext
    result: Transformed
    known: Outcomes | None

    def run(self, module: Module) -> list[FunctionOutcome]:
        """Put new text into the module; returns what became of each function."""
        outcomes: list[FunctionOutcome] = []
        declared: dict[str, Sequence[str]] = {}
        for piece in _concerned(module):
            marked = piece.is_marked  # its new text may not be
            self.result.sizes[piece.name] = piece.text.count(";")
            try:
                outcome = self._outcome(piece)
            except NotRepresentable as obstacle:
                self.result.remarks[piece.name] = _left(piece, obstacle)
                continue
            self.result.printed += outcome.printed
            if outcome.text is not None:
                piece.text = outcome.text
                declared[piece.name] = outcome.declarations
            if marked or outcome.inlined:
                outcomes.append(outcome)
        _declare(module, declared)
        return outcomes

    def _outcome(self, piece: FunctionText) -> FunctionOutcome:
        """What becomes of a function, perhaps as it did before."""
        if self.known is None or piece.kind != "entry":
            return self._made(piece)
        key = self.context.key(piece)
        outcome = self.known.find(key, piece)
        if outcome is None:
            outcome = self._made(piece)
            self.known.keep(key, piece, outcome)
        return outcome

    def _made(self, piece: FunctionText) -> FunctionOutcome:
        kernel, printed, records, inlined = self._with_blocks(piece, self._run_as_asked(piece))
        _take_back(kernel, records)
        function = kernel.function
        is_new = any(record.applied for record in records)
        is_called = self.context.is_called(function)
        remarks = [advised(one, kernel.annotations, is_called=is_called) for one in records]
        if kernel.options.strategy == AUTO:
            untouched = cache(partial(self._untouched, piece, kernel, is_new=is_new))
            remarks = [*in_vain_by_default(records, remarks, untouched)]
        remarks = with_ways_out(remarks, loops_around(remarks))
        remarks = with_others_in_mind([*short_ones_need_nothing(records, remarks)])
        both = zip((one.marker for one in records), remarks, strict=True)
        told = _with_informing(tuple(both), kernel.informing)
        if not is_new and self.known is None:  # what is counted is the code as it stays
            kernel = self.context.prepare(piece, frozenset(), {})
        return FunctionOutcome(
            function.name,
            function.kind == "entry",
            print_function(function) if is_new else None,
            tuple(kernel.declarations) if is_new else (),
            printed,
            told,
            inlined,
            known_block_size(function, kernel.options.max_block),
            kernel,
        )

    def _untouched(self, piece: FunctionText, kernel: Kernel, is_new: bool) -> Kernel:
        """A kernel as it was before the passes."""
        return self.context.prepare(piece, frozenset(), {}) if is_new else kernel

    def _with_blocks(self, piece: FunctionText, ran: Ran) -> Ran:
        """The same with each launched block running its own, where nothing needs more of them."""
        if not _needs_no_loop(ran):
            return ran
        again = self._run_as_asked(piece, blocks_stay=True)
        return again if _needs_no_loop(again) else ran

    def _run_as_asked(self, piece: FunctionText, blocks_stay: bool = False) -> Ran:
        """Run the passes over a function until all applies that is still asked for.

        A call that was inlined for paths that were refused in the end has to stay as it was: then
        everything is done again without it, and all is asked for again, since what did not apply
        may do so now. One at a time, the last one first, since what it brought with it may be why
        the paths before it were refused.
        """
        left: list[Record] = []
        names: frozenset[str] = frozenset()
        kept: frozenset[int] = frozenset()
        requests = Requests()
        while True:
            prepare = partial(
                self.context.prepare, piece, kept, requests.withdrawn, blocks_stay=blocks_stay
            )
            kernel, printed = _run(self.passes, prepare)
            while requests.withdraw(kernel):
                kernel, printed = _run(self.passes, prepare)
            names = names.union(*(call.names for call in kernel.inlined))
            last = _last_in_vain(kernel)
            if last is None and requests.begin_anew(kernel):
                left, kept = [], frozenset()
                continue
            requests.answer(kernel, kernel.records)
            if last is None:
                return kernel, printed, [*kernel.annotations, *kernel.records, *left], names
            left += [record for record in kernel.records if record.path.entry in last.labels]
            kept |= {last.line}
            requests.ask_again(kernel)


def _with_informing(
    told: Sequence[tuple[Marker, Remark]], informing: Mapping[Marker, Collection[Marker]]
) -> tuple[tuple[Marker, Remark], ...]:
    """What is told, which of it is why something inside is transformed, if it is in the end."""
    applied = {marker for marker, one in told if one.applied}
    return tuple(
        (marker, replace(one, informs=not applied.isdisjoint(informing.get(marker, ()))))
        for marker, one in told
    )


def _needs_no_loop(ran: Ran) -> bool:
    """Whether a kernel was made a loop over blocks, of which nobody says how it hands them out,
    and all that is done inside is that lanes share turns: of that nothing goes on to a further
    block."""
    records = [record for record in ran[2] if record.applied]
    of_kernel = [record for record in records if isinstance(record, KernelRecord)]
    inside = {record.remark.strategy for record in records if isinstance(record, PathRecord)}
    is_free = of_kernel and ran[0].may_keep_blocks
    return bool(is_free and inside) and inside <= {one.name for one in SHARING}


def _take_back(kernel: Kernel, records: Sequence[Record]) -> None:
    """Leave a kernel whose loop over blocks would serve nothing that is done inside.

    Who insists on what is annotated, and says how blocks are handed out, gets it alone, too.
    """
    of_kernel = [one for one in records if isinstance(one, KernelRecord) and one.applied]
    inside = [one for one in records if isinstance(one, PathRecord)]
    option = kernel.options.strategy
    insists = option not in (AUTO, LEAVE.name) and not any(
        option in one for one in kernel.withdrawn.values()
    )
    if any(one.applied for one in inside):
        return
    is_asked = insists and not inside
    able = any(one.reason is None and _has_room(one) for one in inside)
    nothing = f"{NOTHING_INSIDE}{INSISTS if able else ''}" if inside else NO_PATHS
    for record in of_kernel:
        is_wanted = is_asked and "schedule" in record.marker.clauses
        if kernel.tuned_request(record.marker) is None and not is_wanted:
            record.leave_alone(nothing)


def _has_room(record: PathRecord) -> bool:
    """Whether the stacks of something that might serve a path fit into shared memory."""
    considered = set(record.remark.details.get("considered", ()))
    return not considered or not considered <= set(record.remark.details.get("does_not_fit", ()))


def _tuned(
    module: Module, options: Options, places: Mapping[int, Place]
) -> MatchedDecisions | None:
    """What a file of decisions says of the module's annotations."""
    if not options.decisions or not options.transforms:
        return None
    from ccc.decisions import MatchedDecisions  # noqa: PLC0415 - seldom asked for
    from ccc.passes.strategies.registry import read_request  # noqa: PLC0415 - seldom asked for

    markers = filter(None, map(parse_marker, module.text.splitlines()))
    functions = [piece.name for piece in module.functions]
    return MatchedDecisions(options.decisions, places, list(markers), functions, read_request)


def _knowledge(module: Module, options: Options, places: Mapping[int, Place]) -> Knowledge | None:
    """What the profiles that the options name say of the module's annotations."""
    if not options.use or not options.transforms:
        return None
    from ccc.profile.known import Knowledge  # noqa: PLC0415 - seldom asked for

    markers = filter(None, map(parse_marker, module.text.splitlines()))
    functions = [piece.name for piece in module.functions]
    return Knowledge(options.use, places, list(markers), functions)


def _counting(
    module: Module,
    context: ModuleContext,
    options: Options,
    places: Mapping[int, Place],
    case_told: Callable[[Remark], tuple[str, int]] | None,
) -> Counting:
    """What adds code that counts."""
    from ccc.profile.instrument import Counting  # noqa: PLC0415 - seldom asked for

    file, transformed = options.profile or "", options.transforms
    return Counting(
        module, context.load, file, transformed=transformed, places=places, case_told=case_told
    )


def _run(passes: Sequence[Pass], prepare: Callable[[], Kernel]) -> tuple[Kernel, str]:
    """Run the passes over one function."""
    kernel = prepare()
    return kernel, _run_passes(passes, kernel)


def _last_in_vain(kernel: Kernel) -> InlinedCall | None:
    """The last call that was inlined for paths none of which was collected."""
    applied = {record.path.entry for record in kernel.records if record.applied}
    idle = [call for call in kernel.inlined if applied.isdisjoint(call.labels)]
    return idle[-1] if idle else None


def _without_copies(outcomes: Sequence[FunctionOutcome]) -> list[FunctionOutcome]:
    """A device function whose paths are in kernels, and collected there, has none of its own."""
    inlined = frozenset().union(*(outcome.inlined for outcome in outcomes))
    applied = {marker for o in outcomes for marker, remark in o.told if remark.applied}

    def left(outcome: FunctionOutcome) -> FunctionOutcome:
        if outcome.is_kernel:
            return outcome
        own = {marker for marker, _ in outcome.told} - applied
        kept = set() if outcome.name in inlined else own
        if outcome.kernel:
            paths = outcome.kernel.records
            paths[:] = [record for record in paths if record.marker in kept]
        return replace(outcome, told=tuple(one for one in outcome.told if one[0] in kept))

    return [left(outcome) for outcome in outcomes]


def _concerned(module: Module) -> list[FunctionText]:
    """The functions that hold markers, and those that call such, themselves or through others."""
    found = {piece.name for piece in module.functions if piece.is_marked}
    device = {piece.name for piece in module.functions if piece.is_marked and piece.kind == "func"}
    calls = {p.name: set(_CALL.findall(p.text)) for p in module.functions} if device else {}
    size = 0
    while size < len(found):
        size = len(found)
        found |= {name for name, called in calls.items() if not called.isdisjoint(found)}
    return [p for p in module.functions if p.name in found and (p.is_marked or p.kind == "entry")]


def _declare(module: Module, declared: Mapping[str, Sequence[str]]) -> None:
    """Put what functions need before them, by their names, unless the module has it already."""
    present = {piece for piece in module.pieces if isinstance(piece, str)}
    pieces: list[str | FunctionText] = []
    for piece in module.pieces:
        if isinstance(piece, FunctionText):
            needed = [text for text in declared.get(piece.name, ()) if text not in present]
            present.update(needed)
            pieces += needed
        pieces.append(piece)
    module.pieces[:] = pieces


def _left(piece: FunctionText, obstacle: NotRepresentable) -> list[Remark]:
    """Of a function that cannot be read, and is left as it was with all its annotations."""
    reason = f"{obstacle.span}: {obstacle.message}"
    markers = filter(None, map(parse_marker, piece.text.splitlines()))
    told = (*WHOLE_KERNEL, *ARMS, *INNER_LOOPS)
    return [Remark.missed_at(m, piece.name, reason) for m in markers if m.kind in told]


def _run_passes(passes: Sequence[Pass], kernel: Kernel) -> str:
    """The code after those passes that the user names for that.

    Checked after each pass that has told of a change, and after the last one, whoever told.
    """
    printed, checked = "", None
    for one in passes:
        one.run(kernel)
        if kernel.facts is not checked or one is passes[-1]:
            verify(kernel.function)
            checked = kernel.facts
        if one.name in kernel.options.print_after:
            printed += f"// after {one.name}\n{print_function(kernel.function)}\n"
    return printed
