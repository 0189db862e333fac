"""Which strategies apply to each annotation: found by trying each of them on the PTX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ccc.compiler.transform import transform
from ccc.decisions import AnnotationPlace
from ccc.options import Options
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.registry import MAY_LACK, NUMBERED, STRATEGY_NAMES
from ccc.passes.thresholds import TRIED_NUMBERS
from ccc.profile.match import Place
from ccc.remark import Remark

Alternatives = Mapping[AnnotationPlace, Sequence[str]]
"""The strategies that apply, by annotation, from the one that is preferred on."""


def find_alternatives(ptx: str, options: Options, filename: str) -> Alternatives:
    """Try all strategies on the functions of a file.

    Args:
        ptx: with markers.
        options: of the command.
        filename: what to call the text in messages.
    """
    told = replace(options, strict=False, decisions=None, use=(), print_after=())
    found: dict[AnnotationPlace, list[str]] = {}
    for name in (options.strategy, *_names()):
        made = transform(ptx, replace(told, strategy=name), filename=filename)
        for remark in (remark for mine in made.remarks.values() for remark in mine):
            tried = found.setdefault(AnnotationPlace.of_remark(remark), [])
            if remark.applied and remark.strategy is not None and remark.strategy not in tried:
                tried.append(remark.strategy)
    return found


def with_alternatives(
    remarks: Mapping[str, Sequence[Remark]], found: Alternatives, places: Iterable[Place]
) -> dict[str, list[Remark]]:
    """The remarks, for the report of which strategies apply.

    Args:
        remarks: what became of the annotations.
        found: the strategies.
        places: those of the source, by which decisions find their annotations again.
    """
    known = {(place.file, place.line, place.column): place for place in places}

    def more(remark: Remark) -> Remark:
        mine = list(found.get(AnnotationPlace.of_remark(remark), ()))
        bare = Place.at(remark.position, remark.annotation)
        place = known.get((bare.file, bare.line, bare.column), bare)
        told = {"function": place.function, "statement": place.statement}
        return replace(remark, details={**remark.details, "alternatives": mine, **told})

    return {name: [more(remark) for remark in mine] for name, mine in remarks.items()}


def _names() -> Iterator[str]:
    """The strategies, some with a few of their numbers."""
    for name in STRATEGY_NAMES[1:]:
        numbers = TRIED_NUMBERS.get(name) or NUMBERED.get(name)
        numbers = None if name in MAY_LACK else numbers
        if name != LEAVE.name:
            yield from [name] if numbers is None else (f"{name}({number})" for number in numbers)
