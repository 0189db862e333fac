"""One source for one architecture: marked, compiled, transformed, and what there is to say of it.

An annotation none of whose paths was transformed is compiled again without its markers, so that its
code is as the compiler makes it; unless it can be seen that the markers changed nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from ccc.compiler import lines
from ccc.compiler.launched import large_blocks
from ccc.compiler.learned import as_marked, learned
from ccc.compiler.made import INSTEAD, NOTHING, why_not
from ccc.compiler.names_of_file import as_in
from ccc.compiler.refused import carried_in, held_by, paths_of, refused_in, standing
from ccc.compiler.said import SEVERITIES, DevicePass, Remarks
from ccc.errors import CccError, Span, render
from ccc.files import read_text
from ccc.frontend import marking as source
from ccc.frontend.annotations import Annotation
from ccc.frontend.syntax import Home
from ccc.ir.arm_markers import as_comments
from ccc.ir.markers import WHOLE_KERNEL, identifiers, with_code
from ccc.options import Options
from ccc.remark import DECLINED, LEFT, OF_ALL_PATHS, Remark

if TYPE_CHECKING:
    from ccc.compiler.blame import Blame
    from ccc.compiler.earlier import Earlier
    from ccc.profile.match import Place

LTO_REFUSED = (
    "link-time optimisation stores code that ccc does not see; "
    "leave out -dlto (-lto, code=lto_*), or give --ccc-off"
)
NEVER_TAKEN = (
    "no code is left of this path: the compiler found that it is never taken; remove the annotation"
)
NOTHING_INSIDE = (
    "no annotated path stands inside this loop, nor in what it calls, so that there is nothing to "
    "collect; mark a branch or a loop in it, or remove this"
)
NOWHERE = "no code is left of this: nothing runs it on the device, or it has no effect"


class CompilerError(Exception):
    """The compiler refuses a source."""


def translate(
    annotated: source.Annotated,
    compiler: Callable[[str, bool], str],
    options: Options,
    done: DevicePass,
    *,
    output: str = "<ptx>",
    keeps_lines: bool = True,
    begin: Callable[[str], None] | None = None,
) -> str:
    """CUDA -> transformed PTX; what there is to say is added to ``done``.

    Args:
        annotated: CUDA, preprocessed or not.
        compiler: makes PTX of marked CUDA; the second argument says that it did so before, with
            more markers, so that what it warns of is known.
        options: of the command.
        done: takes the remarks and the diagnostics.
        output: what to call the PTX in messages.
        keeps_lines: whether the table of lines, where the compiler makes one, stays in the PTX.
        begin: lets the compiler begin with what it is likely to be asked for next.

    Raises:
        CccError: an annotation is wrong, or (with ``strict``) one could not be followed.
        CompilerError: raised by ``compiler``, unless an earlier result can be kept.
    """
    unit = _Unit(annotated, compiler, options, done, output, keeps_lines, begin)
    values: frozenset[int] = frozenset()
    all_marked: str | None = None
    unmarked: str | None = None
    while True:
        now = unit.tried(values, again=bool(unit.left), compiled=unmarked)
        all_marked = all_marked or now.before
        if more := now.carried - values:
            other = unit.with_values(values | more, now)
            if other.refused <= now.refused and other.missed < now.missed:
                now, values = other, values | more
            elif other.refused == now.refused:
                now = replace(now, done=learned(now.done, other.done, strict=options.strict))
        done.take(now.done)
        check_strict(options, done)
        if options.mark_only or not now.refused or options.profile:
            done.original = unit.known_original
            if done.remarks:
                done.remarks = _as_it_came(done.remarks)
            _add_alternatives(all_marked, output, options, unit.places, done)
            return unit.final(now)  # what is left alone is counted all the same
        unmarked = now.without_refused
        unit.left |= now.refused


@dataclass
class _Unit:
    """A source that is compiled, perhaps several times: fields as the arguments of ``translate``.

    ``left`` are the annotations that are marked no more; ``places`` is where all of them stand;
    ``known`` is what became of kernels so far, and ``first`` the PTX that was made first.
    """

    annotated: source.Annotated
    compiler: Callable[[str, bool], str]
    options: Options
    done: DevicePass
    output: str
    keeps_lines: bool
    begin: Callable[[str], None] | None
    left: set[int] = field(default_factory=set)
    places: dict[int, Place] = field(default_factory=dict)
    known: Earlier | None = None
    known_original: str = ""
    first: str = ""

    def mark(self, values: Collection[int]) -> source.Marked:
        """The source with markers, and values for the variables of some loops."""
        return self.annotated.mark(without=self.left, values=values)

    def original(self) -> str:
        """What the compiler makes of the source without annotations."""
        if not self.known_original:
            ptx = self._compiled(source.strip(self.annotated.text), again=True)
            self.known_original = ptx if self.keeps_lines else lines.split(ptx)[0]
        return self.known_original

    def _compiled(self, text: str, *, again: bool) -> str:
        """What the compiler makes of a source, with the names that it made at first."""
        ptx = self.compiler(text, again)
        self.first = self.first or ptx
        return as_in(self.first, ptx)

    def tried(self, values: frozenset[int], again: bool, compiled: str | None = None) -> _Tried:
        """Compile and transform it as it is marked; ``compiled`` is what comes of it, if known."""
        options, trial, marked = self.options, replace(self.done), self.mark(values)
        if compiled is None and self.known:
            self.known.forget()
        compiled = compiled or as_comments(self._compiled(marked.text, again=again))
        ptx, table = compiled, lines.LineTable(compiled)
        if not self.keeps_lines:
            ptx, table = lines.split(compiled)
        if not again and not options.off:
            gone = _without_code(marked, ptx, self.annotated.filename)
            warn([*marked.warnings, *gone], options, trial)
        asks = options.profile or options.use or options.decisions or options.alternatives
        if not self.places and asks:
            self.places.update(_places(marked.annotations))  # later some may be left out
        before = ptx
        if marked.annotations and not options.mark_only:
            from ccc.compiler.blame import Blame  # noqa: PLC0415 - as transform below
            from ccc.compiler.earlier import Earlier  # noqa: PLC0415

            foresee = partial(self._foresee, marked, compiled, values)
            self.known = replace(self.known or Earlier(), foresee=foresee)
            ptx = _transform(
                ptx,
                self.output,
                options,
                trial,
                self.places,
                Blame(table, marked, ptx),
                self.original,
                self.known,
            )
            large = large_blocks(self.annotated, trial.remarks)
            told = [render("warning", one.message, one.span) for one in large]
            trial.hints = list(dict.fromkeys([*trial.hints, *told]))
        trial.remarks = _without_advice(trial.remarks, {one.span for one in marked.warnings})
        return _Tried(marked, compiled, before, ptx, trial)

    def _foresee(
        self, marked: source.Marked, compiled: str, values: frozenset[int], remarks: Remarks
    ) -> None:
        """Begin to compile what is asked for next, if no more is refused once that is weighed."""
        refused = refused_in(marked.annotations, remarks, compiled)
        is_last = not refused or self.options.profile or carried_in(marked.annotations, remarks)
        if self.begin and not is_last and _without_markers(compiled, refused) is None:
            self.begin(self.annotated.mark(without=self.left | refused, values=values).text)

    def final(self, now: _Tried) -> str:
        """The PTX after all passes, in which what none of these has changed is as the compiler
        makes it without annotations."""
        told = chain.from_iterable(now.done.remarks.values())
        if self.options.profile or not any(one.applied for one in told):
            return now.ptx  # nothing is marked any more, or all is counted
        from ccc.compiler.baseline import as_without  # noqa: PLC0415 - as transform below

        return as_without(now.before, now.ptx, self.original)

    def with_values(self, values: frozenset[int], before: _Tried) -> _Tried:
        """The same with values for more variables; what was tried before, if that is nothing new or
        cannot be compiled."""
        try:
            same = self.mark(values).text == before.marked.text
            return before if same else self.tried(values, again=True)
        except (CccError, CompilerError):
            return before


@dataclass(frozen=True, slots=True)
class _Tried:
    """What came of one way to mark a source: what the compiler made of it, the PTX before and after
    all passes, and what there is to say."""

    marked: source.Marked
    compiled: str
    before: str
    ptx: str
    done: DevicePass

    @property
    def refused(self) -> set[int]:
        """The annotations that no copy of their code could be transformed for."""
        return refused_in(self.marked.annotations, self.done.remarks, self.compiled)

    @property
    def without_refused(self) -> str | None:
        """What the compiler would make of it without the markers of those; None if it has to be
        asked."""
        return _without_markers(self.compiled, self.refused)

    @property
    def missed(self) -> int:
        """How many copies of annotated code, such as the two arms of a branch, cannot be served."""
        every = [remark for mine in self.done.remarks.values() for remark in mine]
        return sum(remark.reason is not None for remark in every)

    @property
    def carried(self) -> frozenset[int]:
        """The loops of paths that were left since the next iteration seems to need a value."""
        return carried_in(self.marked.annotations, self.done.remarks)


def _without_advice(remarks: Remarks, warned: Collection[Span | None]) -> Remarks:
    """What became of annotations, without why nothing is gained by those of kernels that are warned
    of for having no effect."""

    def told(one: Remark) -> Remark:
        is_warned = one.arm in WHOLE_KERNEL and one.position in warned
        return replace(one, advice=None) if is_warned else one

    return {kernel: list(map(told, mine)) for kernel, mine in remarks.items()}


def transform_file(done: DevicePass, options: Options) -> str:
    """Transform the PTX file that ``done.unit`` names; what there is to say is added to ``done``.

    Raises:
        OSError: the file cannot be read.
    """
    from ccc.parse import check_file  # noqa: PLC0415 - a source of CUDA needs none of it

    name = done.unit[0]
    try:
        text = read_text(name)
        check_file(text, name)
        what = why_not(text)
        if what is not None:
            kept = CccError(f"{what}; it stays as it is, and {INSTEAD}", Span(name))
            if what == NOTHING:
                warn([kept], options, done)
            else:  # annotations were followed as it was made
                _hint([kept], done)
        ptx = _transform(text, name, options, done) if what is None else text
        check_strict(options, done)
        _add_alternatives(text, name, options, {}, done)
    except CccError as error:
        done.error = str(error)
        return ""
    return ptx


def check_strict(options: Options, done: DevicePass) -> None:
    """With ``strict``, what was said so far is an error.

    Raises:
        CccError: it is.
    """
    if options.strict and done.diagnostics:
        raise CccError("not every annotation could be followed, which --ccc-strict demands")


def _add_alternatives(
    ptx: str, output: str, options: Options, places: Mapping[int, Place], done: DevicePass
) -> None:
    """Say which strategies apply to each annotation, where that is asked for."""
    if options.alternatives and options.transforms and not options.mark_only:
        from ccc.compiler import alternatives  # noqa: PLC0415 - seldom asked for

        found = alternatives.find_alternatives(ptx, options, output)
        done.remarks = alternatives.with_alternatives(done.remarks, found, places.values())


def _without_code(marked: source.Marked, ptx: str, name: str) -> list[CccError]:
    """Of each path that left no code, although its annotated loop did, of whole functions, and of
    loops that seemed to serve paths of functions.

    Headers may well hold functions that a source has no use for.
    """
    annotations = marked.annotations
    kept = with_code(ptx)
    used = {a.home for a in annotations if a.id in identifiers(ptx)}
    gone = [a for a in annotations if a.id not in kept]
    found = [CccError(f"{NEVER_TAKEN}{_in(a.home)}", a.span) for a in gone if a.loop in kept]
    firsts = {a.home: a for a in reversed(annotations) if a.span.file == name}
    found += [
        CccError(_unused(home), first.span)
        for home, first in firsts.items()
        if home is not None and home not in used
    ]
    nowhere = (a for a in gone if a.home is None and a.loop is None and a.span.file == name)
    found += [CccError(NOWHERE, a.span) for a in nowhere]
    found += [CccError(NOTHING_INSIDE, a.span) for a in _idle(annotations, kept, ptx)]
    return sorted(found, key=lambda one: one.span.line if one.span else 0)


def _idle(annotations: Sequence[Annotation], kept: Collection[int], ptx: str) -> list[Annotation]:
    """The loops that hold no path, by the text and in the PTX."""
    loops = [a for a in annotations if a.directive == "for" and a.id in kept]
    empty = [loop for loop in loops if not held_by(loop, annotations)]
    paths = [a.id for a in paths_of(annotations)]
    try:
        return [loop for loop in empty if not standing(ptx).may_hold(loop.id, paths)]
    except CccError:  # that it cannot be read is told elsewhere
        return []


def _in(home: Home | None) -> str:
    """The function that is spoken of, as reasons name it."""
    return f" [in {home.name}]" if home else ""


def _unused(home: Home) -> str:
    """Why a function with annotations is not in the PTX."""
    if home.is_host:
        return "this function is compiled for the host, where annotations have no effect"
    if home.is_kernel:
        return "no code is left of this: nothing in the file uses this kernel, or it has no effect"
    return "no code is left of this: no kernel of the file calls this function, or it has no effect"


def warn(warnings: Sequence[CccError], options: Options, done: DevicePass) -> None:
    """Add warnings to what there is to say."""
    said = _rendered(warnings, options)
    done.diagnostics = list(dict.fromkeys([*done.diagnostics, *said]))


def _rendered(warnings: Iterable[CccError], options: Options) -> list[str]:
    severity = SEVERITIES[options.strict]
    return [render(severity, w.message, w.span, w.source_line) for w in warnings]


def _hint(hints: Iterable[CccError], done: DevicePass) -> None:
    """Add warnings that no annotation is to blame for."""
    said = [render("warning", hint.message, hint.span) for hint in hints]
    done.hints = list(dict.fromkeys([*done.hints, *said]))


def _places(annotations: Sequence[Annotation]) -> dict[int, Place]:
    """By what annotations are found again in the source when that was edited."""
    from ccc.profile.match import Place  # noqa: PLC0415 - seldom asked for

    return {
        one.id: Place.at(one.span, one.directive, one.home.name if one.home else "", one.statement)
        for one in annotations
    }


def _transform(
    ptx: str,
    output: str,
    options: Options,
    done: DevicePass,
    places: Mapping[int, Place] = MappingProxyType({}),
    blame: Blame | None = None,
    original: Callable[[], str] | None = None,
    known: Earlier | None = None,
) -> str:
    """Transform, and add what was said to ``done``.

    ``blame`` knows the source, ``original`` makes the PTX that there is without markers, and
    ``known`` is what became of kernels when the same source was compiled before.
    """
    # A pass that fails earlier needs none of it.
    from ccc.compiler.earlier import Earlier  # noqa: PLC0415
    from ccc.compiler.transform import transform  # noqa: PLC0415
    from ccc.compiler.weighing import measured, weighed  # noqa: PLC0415

    told = replace(options, strict=False)  # all that was missed is to be seen, not the first alone
    known = known or Earlier()
    transformed = partial(
        transform, ptx, told, filename=output, places=places, known=known.outcomes,
        case_told=blame.cases.told if blame else None,
    )  # fmt: skip
    result = weighed(transformed, ptx, told, known, original)
    if blame:
        result.remarks = as_marked(blame.tell(result.remarks), done.remarks)
    made = result.remarks
    if options.measure and any(one.applied for mine in made.values() for one in mine):
        made = measured(original() if original else ptx, result, options)
    done.remarks = _merged(done.remarks, made)
    kept = _without_declined(done.diagnostics, result.remarks)
    done.diagnostics = _without_stale(kept, result.remarks, result.complaints, options)
    warn(_anew(result.complaints, options, done), options, done)
    _hint(result.hints, done)
    done.printed = result.printed
    return result.ptx


def _without_declined(diagnostics: Sequence[str], remarks: Remarks) -> list[str]:
    """Without what was said, when more was marked, of strategies that do not apply to paths of
    which there is to be said anew."""
    places = {str(one.position) for mine in remarks.values() for one in mine}
    told = tuple(f"{place}: {severity}: " for place in places for severity in SEVERITIES)
    return [one for one in diagnostics if not (one.startswith(told) and DECLINED in one)]


def _without_stale(
    diagnostics: Sequence[str], remarks: Remarks, complaints: Iterable[CccError], options: Options
) -> list[str]:
    """Without what was said, when more was marked, of paths that are marked still and of which that
    is not so any more: one may be collected now."""
    places = tuple(f"{one.position}: " for mine in remarks.values() for one in mine)
    told = {_but_numbers(one) for one in _rendered(complaints, options)}
    return [
        one
        for one in diagnostics
        if not (one.startswith(places) and LEFT in one and _but_numbers(one) not in told)
    ]


def _anew(complaints: Sequence[CccError], options: Options, done: DevicePass) -> list[CccError]:
    """Without what was said of the same place, when more was marked, but for numbers: those of then
    hold where all of that is there."""
    said, severity = set(map(_but_numbers, done.diagnostics)), SEVERITIES[options.strict]
    return [
        one
        for one in complaints
        if _but_numbers(render(severity, one.message, one.span, one.source_line)) not in said
    ]


def _but_numbers(diagnostic: str) -> tuple[str, str]:
    """A diagnostic by its place, and what it says there."""
    place, sign, text = diagnostic.partition(": ")
    return place, re.sub(rf"\d+|{OF_ALL_PATHS}", "", text) if sign else text


def _without_markers(ptx: str, left: Collection[int]) -> str | None:
    from ccc.compiler.unmarking import without_markers  # noqa: PLC0415 - loaded by transform

    return without_markers(ptx, frozenset(left))


def _as_it_came(remarks: Remarks) -> Remarks:
    from ccc.compiler.as_it_came import as_it_came  # noqa: PLC0415 - loaded by transform

    return as_it_came(remarks)


def _merged(old: Remarks, new: Remarks) -> Remarks:
    """The new remarks, and those of paths that were refused before and are not tried any more."""
    merged = dict(new)
    for name, before in old.items():
        now = merged.get(name, [])
        known = {remark.position for remark in now}
        missed = [one for one in before if not one.applied and one.position not in known]
        merged[name] = sorted([*now, *missed], key=_place)
    return merged


def _place(remark: Remark) -> tuple[str, int, int]:
    return remark.position.file, remark.position.line, remark.position.column
