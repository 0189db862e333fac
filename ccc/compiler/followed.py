"""Advice is followed before it is given: what there would be to say of annotations once others were
gone, or loops were marked, is said at once.

What nvcc makes of a source with other markers may differ a little from its code without these, so
that this is no proof; nothing but advice rests on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, product
from typing import NamedTuple, TypeAlias, TypeVar

from ccc.analysis.paths.carried_values import AS_WHILE, REDUCTION_HINT, UNINITIALISED
from ccc.analysis.paths.locate import on_line, those_on
from ccc.analysis.paths.unmarked_turns import mark_instead
from ccc.compiler.advice import parts_of, with_rest
from ccc.compiler.as_it_came import SERVES_WITHOUT
from ccc.compiler.other_arms import LEAVE_IT
from ccc.compiler.removal import is_removal
from ccc.compiler.said import Remarks
from ccc.errors import Span
from ccc.ir.markers import WHOLE_KERNEL
from ccc.ir.reannotated import Reannotated, is_supposed, supposed
from ccc.passes.choice.chosen import GATHERED
from ccc.passes.thresholds import MOST_ADVISED, MOST_FOLLOWED, MOST_LOOKED_THROUGH
from ccc.remark import Remark, silent_among

_OTHERWISE = "remove this annotation: with others, too, nothing would be gained by it"
_UNLESS_TOLD = (
    "remove this annotation, or {}: with others, too, nothing would be gained as far as is known"
)
_TELLING = re.compile(r", or (tell [^;]*)$")
_SERVES = "without which this one serves"
_OF_TURNS = (REDUCTION_HINT, UNINITIALISED)
"""What is advised of values that turns may hand on, where nothing is known of them."""

Places = frozenset[Span]
"""Where annotations stand."""
_Found = TypeVar("_Found")
_Steps: TypeAlias = Generator[Reannotated, Sequence[Remark], _Found]


def followed(
    remarks: Remarks,
    again: Callable[[Mapping[str, Reannotated]], Remarks],
    sizes: Mapping[str, int],
) -> Remarks:
    """The remarks, with advice that holds when that of others is followed.

    Args:
        remarks: what there is to say of annotations, by kernel.
        again: the same if kernels had other annotations; it is asked for all of them at once, since
            the module around them is gone through each time.
        sizes: about how many instructions each kernel has.
    """
    told, asked = dict(remarks), dict[str, Reannotated]()
    following = {name: _Follower(mine, sizes.get(name, 1)).told() for name, mine in remarks.items()}

    def go_on(name: str, answer: Sequence[Remark] | None = None) -> None:
        steps = following[name]
        try:
            asked[name] = next(steps) if answer is None else steps.send(answer)
        except StopIteration as end:
            told[name] = end.value

    for name in following:
        go_on(name)
    while asked:
        answers, before = again(dict(asked)), [*asked]
        asked.clear()
        for name in before:
            go_on(name, answers.get(name, ()))
    return told


def may_serve_alone(remarks: Remarks) -> bool:
    """Whether there may be paths that serve once others are gone: what is left is not known yet."""
    return any(1 < len(_left(mine)) <= MOST_FOLLOWED for mine in remarks.values())


class _Follower:
    """Follows what is said of the annotations of one kernel. Its steps yield other annotations, and
    are sent what there would be to say with these.

    Args:
        remarks: what there is to say of them.
        size: about how many instructions it has.
    """

    def __init__(self, remarks: list[Remark], size: int):
        self._remarks = remarks
        self._left = _left(remarks)
        self._partly = _applied(remarks) & {one.position for one in remarks if one.ways}
        self._size = size
        self._found: dict[Span, list[Remark]] = {}
        self._serving, self._ways = Places(), dict[Span, str]()
        self._looks = 0
        self._seen: dict[Reannotated, Sequence[Remark]] = {Reannotated(): remarks}

    def told(self) -> _Steps[list[Remark]]:
        """The remarks; of what there is nothing else to do about but to remove it in the end, what
        there would be to say then, and other ways out where these serve."""
        number = len(self._left | self._partly)
        if not 0 < number <= MOST_FOLLOWED:
            return self._remarks
        self._looks = max(1, MOST_LOOKED_THROUGH // (number * self._size))
        with suppress(_EnoughError):
            yield from self._follow()
        remarks = [_with_way_out(one, self._ways.get(one.position)) for one in self._remarks]
        hopeful = self._serving | self._that_may_serve()
        remarks = [replace(one, serves_alone=one.position in hopeful) for one in remarks]
        return _with_others(remarks, self._found)

    def _follow(self) -> _Steps[None]:
        """Look as far as that does not take long; what is transformed by it comes first."""
        gone, told = Places(), self._remarks
        while True:
            in_vain = yield from self._in_vain(told, gone)
            more = (_to_go(told) | in_vain.keys()) & self._left - gone
            if not more:
                break
            for place in more - _to_go(self._remarks):
                mine = [one for one in told if one.position == place]
                way = None if place in _to_go(told) else in_vain[place]
                self._found[place] = [_with_way_out(one, way) for one in mine]
            gone |= more
            told = [*(yield from self._look(Reannotated(gone)))] if gone < self._left else []
        able = self._left - gone
        self._serving, self._ways = yield from self._that_serve(able, gone, told)
        yield from self._agree(told, gone)
        yield from self._keep(gone)

    def _that_may_serve(self) -> Places:
        """Branches that may be worth more once nvcc is free to unroll a loop in them that is to
        go."""
        priced = [one for one in self._remarks if one.advice]
        return Places(
            branch.position
            for branch, inside in product(priced, priced)
            if _text(inside).endswith(GATHERED.format(on_line(branch.position, inside.position)))
        )

    def _in_vain(self, told: Sequence[Remark], gone: Places) -> _Steps[dict[Span, str]]:
        """Those of which no annotations that are advised would serve, and what is to be done."""
        found: dict[Span, str] = {}
        asking = {one.position for one in told if one.ways} & self._left - gone
        for place in sorted(asking, key=_place):
            ways = dict.fromkeys(way for one in told if one.position == place for way in one.ways)
            answer = yield from self._why_all_in_vain(place, ways, Reannotated(gone), MOST_ADVISED)
            if (yield from self._find_instead(place, ways, told, Reannotated(gone))):
                continue
            if answer and answer != _NOT_KNOWN:
                found[place] = answer.instead
        return found

    def _find_instead(
        self,
        place: Span,
        ways: Iterable[Reannotated],
        told: Sequence[Remark],
        done: Reannotated,
    ) -> _Steps[bool]:
        """Find a loop around a path, of those to be marked in some ways, that serves in its place,
        while this, and others of them, would not."""
        serving: dict[str, list[str]] = {}
        for way in ways:
            heard = self._seen.get(done.then(way), ())
            if place in _applied(heard):
                return False
            header = _alone_served(place, way, heard)
            if header is None or header not in way.ends:
                continue  # it does not lie around the path
            if way.marked[header] in serving.get(header, ()):
                continue
            less = replace(way.only([header]), without=way.without | {place})
            if supposed(header) in _applied((yield from self._look(done.then(less)))):
                serving.setdefault(header, []).append(way.marked[header])
        if not serving:
            return False
        header, kinds = next(iter(serving.items()))
        mine = [one for one in told if one.position == place]
        self._found[place] = [_with_loop(one, header, kinds) for one in mine]
        return True

    def _why_all_in_vain(
        self, place: Span, ways: Iterable[Reannotated], done: Reannotated, most: int
    ) -> _Steps[_InVain | None]:
        """What is to be done about a path that none of some ways serves once others are done; None
        about another.

        What it takes in one way says enough of another one, in which it cannot be served as it is.
        """
        answers: list[_InVain] = []
        for way in ways:
            answer = yield from self._why_in_vain(place, done.then(way), most)
            if answer is None:
                return None
            answers.append(answer)
        if _NOT_KNOWN in answers and not any(one.is_priced for one in answers):
            return _NOT_KNOWN
        known = [one for one in answers if one != _NOT_KNOWN]
        return min(known, key=lambda one: one.instead == _OTHERWISE)  # what may be told first

    def _why_in_vain(self, place: Span, way: Reannotated, most: int) -> _Steps[_InVain | None]:
        """What is to be done about a path that could not be served if that were done, or not as it
        is then; None about another. So many advices are followed in a row."""
        told = yield from self._look(way)
        is_silent = silent_among(told)
        mine = [one for one in told if _concerns(one, place, way) and not is_silent(one)]
        lost = _applied(self._remarks) - _applied(told) - way.without
        is_lost = lost and not any(one.applied for one in mine)  # and nothing is won
        if is_lost or any(AS_WHILE in _text(one) for one in mine):  # that way is asked for, too
            return _InVain(_OTHERWISE)
        lasting = [one for one in mine if not (_is_to_go(one) or one.gains_nothing)]
        if any(_hands_on(one, way) for one in lasting):
            lasting = [one for one in lasting if parts_of(_text(one))[2] not in _OF_TURNS]
        if not mine or any(one.applied or one.advice for one in lasting):
            return None
        if lasting:
            more = dict.fromkeys(one for remark in lasting for one in remark.ways)
            if most == 1 or not all(one.ways for one in lasting):
                return _NOT_KNOWN
            return (yield from self._why_all_in_vain(place, more, way, most - 1))
        telling = (found[1] for one in mine if (found := _TELLING.search(_text(one))))
        instead = next((_UNLESS_TOLD.format(one) for one in telling), _OTHERWISE)
        return _InVain(instead, any(one.gains_nothing for one in mine))

    def _agree(self, told: Sequence[Remark], gone: Places) -> _Steps[None]:
        """Let copies of a path of which different annotations are advised tell what serves best of
        these."""
        for place in sorted({one.position for one in told} - gone, key=_place):
            mine = [one for one in told if one.position == place]
            advices = {tuple(one.ways): one for one in mine if one.ways}
            if len(advices) < 2 or place in self._found:
                continue
            worths: dict[tuple[int, int], Remark] = {}
            for ways, one in advices.items():
                for way in ways:
                    worth = yield from self._worth(place, Reannotated(gone).then(way))
                    worths.setdefault(worth, one)
            every = dict.fromkeys(chain(*advices))
            if (yield from self._find_instead(place, every, told, Reannotated(gone))):
                continue
            best = worths[max(worths)]
            self._found[place] = [
                replace(one, reason=best.reason, ways=best.ways) if one.ways else one
                for one in mine
            ]

    def _keep(self, gone: Places) -> _Steps[None]:
        """Advise nothing for copies by which others would be lost that are transformed."""
        for place in sorted(self._partly, key=_place):
            mine = [one for one in self._remarks if one.position == place]
            ways = dict.fromkeys(way for one in mine for way in one.ways)
            answer = yield from self._why_all_in_vain(place, ways, Reannotated(gone), MOST_ADVISED)
            if answer and answer != _NOT_KNOWN:
                way = LEAVE_IT.format("other copies")
                self._found[place] = [_with_way_out(one, way if one.ways else None) for one in mine]

    def _worth(self, place: Span, way: Reannotated) -> _Steps[tuple[int, int]]:
        """How many paths are transformed once something is done, and, to be counted from the least
        on, how many of what that is about are not."""
        told = yield from self._look(way)
        served = _applied(told)
        about = {one.position for one in told if is_supposed(one.position)} | {place}
        return len(served), -len(about - way.without - served)

    def _that_serve(
        self, able: Places, gone: Places, told: Sequence[Remark]
    ) -> _Steps[tuple[Places, dict[Span, str]]]:
        """Those that serve if others are removed, too, of which nothing but its price speaks
        against; and what is to be done about them, and about the others."""
        able -= {one.position for one in self._remarks if one.reason}
        if served := _applied(told) & able:
            return served, {one: f"remove {those_on(gone, one)}, {_SERVES}" for one in served}
        for one in sorted(able, key=_place):
            others = self._left - gone - {one}
            if not others or not (yield from self._serves(one, gone | others)):
                continue
            for other in sorted(others, key=_place):  # those that are not in its way
                if (yield from self._serves(one, (gone | others) - {other})):
                    others -= {other}
            ways = {other: SERVES_WITHOUT.format(those_on([one], other)) for other in others}
            return Places([one]), {**ways, one: f"remove {those_on(others, one)}, {_SERVES}"}
        return Places(), {}

    def _serves(self, place: Span, gone: Places) -> _Steps[bool]:
        """Whether one would be transformed without others."""
        return place in _applied((yield from self._look(Reannotated(gone))))

    def _look(self, annotations: Reannotated) -> _Steps[Sequence[Remark]]:
        """What there would be to say with other annotations."""
        if annotations not in self._seen:
            if len(self._seen) > self._looks:
                raise _EnoughError
            self._seen[annotations] = yield annotations
        return self._seen[annotations]


class _InVain(NamedTuple):
    """What there is to do about a path that would not be served, and whether that is known from
    what it would take."""

    instead: str
    is_priced: bool = False


_NOT_KNOWN = _InVain("")
"""Of a path that cannot be served as it is then, but may be once its code is another."""


def _with_loop(remark: Remark, header: str, kinds: Iterable[str]) -> Remark:
    """The remark of a path in a loop that is to be marked in its place, where that may be another
    one than is told."""
    ends = next((one.ends for one in remark.ways if header in one.ends), {})
    head, _, said = parts_of(_text(remark))
    if ends:
        head = head.replace(next(iter(ends.values())), ends[header])
    return replace(remark, reason=f"{head}; {with_rest(mark_instead(kinds), said)}")


def _alone_served(place: Span, way: Reannotated, heard: Iterable[Remark]) -> str | None:
    """The one loop of those to be marked that is served then, if neither the path is nor the
    others are, nor may be worth more."""
    about = {supposed(header): header for header in way.marked}
    served = [one for one in heard if one.applied and one.position in about]
    left = [one for one in heard if one.position in {*about, place} and not one.applied]
    if len({one.position for one in served}) != 1 or not left:
        return None
    most = max(one.most_expected for one in served)
    open_ = [one for one in left if one.advice and not _is_to_go(one)]
    is_open = any(one.most_expected > most for one in open_)
    return None if is_open else about[served[0].position]


class _EnoughError(Exception):
    """To look at more would take too long."""


def _concerns(remark: Remark, place: Span, way: Reannotated) -> bool:
    """Whether it is of a path, or of what is annotated in its place."""
    is_instead = place in way.without
    return is_supposed(remark.position) if is_instead else remark.position == place


def _hands_on(remark: Remark, way: Reannotated) -> bool:
    """Whether turns of loops that were to be marked "ccc for" are not independent: they hand on a
    value that is no accumulator of a known operation."""
    return bool(way.entered) and parts_of(_text(remark))[2] == REDUCTION_HINT


def _left(remarks: Sequence[Remark]) -> Places:
    """The paths that are left, by the place of their annotation."""
    paths = {one.position for one in remarks if one.arm not in WHOLE_KERNEL}
    return Places(paths - _applied(remarks))


def _applied(remarks: Iterable[Remark]) -> Places:
    return Places(one.position for one in remarks if one.applied)


def _to_go(remarks: Sequence[Remark]) -> Places:
    """Those of which nothing can be done but to remove their annotation."""
    is_silent = silent_among(remarks)
    telling = [one for one in remarks if not is_silent(one)]
    return _left(telling) - {one.position for one in telling if not _is_to_go(one)}


def _is_to_go(remark: Remark) -> bool:
    """Whether nothing can be done but to remove its annotation."""
    head, _, way_out = parts_of(_text(remark))
    return is_removal(way_out or head)


def _text(remark: Remark) -> str:
    return remark.reason or remark.advice or ""


def _with_way_out(remark: Remark, way: str | None) -> Remark:
    """The remark with another way out, if there is one, in place of what it says; not of another
    strategy, which may serve all the same."""
    if way is None:
        return remark
    head, _, said = parts_of(_text(remark))
    told = f"{head}; {with_rest(way, said)}"
    return replace(remark, reason=told) if remark.reason else replace(remark, advice=told)


def _with_others(remarks: Sequence[Remark], found: Mapping[Span, list[Remark]]) -> list[Remark]:
    """The remarks, with those that are found of some places where the first of each stood."""
    told: dict[Span, None] = {}
    every: list[Remark] = []
    for one in remarks:
        if one.position not in found:
            every.append(one)
        elif one.position not in told:
            told[one.position] = None
            every += found[one.position]
    return every


def _place(span: Span) -> tuple[str, int, int]:
    return span.file, span.line, span.column
