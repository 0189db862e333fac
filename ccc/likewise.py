"""What is said of the cases, arms and copies of one annotation: in full of the first only.

What differs of copies by its figures alone is said once, with all of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence

_CLAUSE = re.compile(r"(?<=[,;:]) ")
"""Between the clauses of a sentence."""
_OR = re.compile("^or ")
"""How the last thing begins of several that may be done."""
_ELSE = re.compile(r"; else [^;]*$")
"""What there may be at the end besides what is as of another."""
_NUMBER = r"\d+(?:\.\d+)?"
_ROOM = re.compile(
    r"(?P<least>\b\d+(?= fit\b| threads have room))|(?<=--ccc-shared-limit=)(?P<most>\d+)"
)
"""What paths may differ by that are to have room: the least size of blocks serves all."""
_LIMIT = re.compile(r"; (?:or|say) --ccc-shared-limit=\d+(?:, and [^;]*)?")
"""The way to more shared memory."""
_FIGURE = re.compile(
    rf"{_ROOM.pattern}|\b{_NUMBER}(?: to {_NUMBER})?"
    "(?= machine instruction| times as fast| bytes | and gets )"
)
"""What copies of one path may differ by."""
_GAIN = re.compile(rf"expected (?:{_NUMBER} to )?({_NUMBER}) times as fast")
_MANY = re.compile(r"\b(machine instruction)s?\b")


def likewise(first: str, other: str, whose: str) -> str:
    """What another sentence says that the ``first`` one does not; the rest is as of ``whose``.

    >>> likewise("7 steps: expected 0.8 times; tell", "9 steps: expected 0.8 times; tell", "case 0")
    '9 steps; else as case 0'
    >>> likewise("lanes meet in it, here", "lanes meet in it, here", "case 0")
    'as case 0'
    >>> likewise("7 steps", "9 steps", "a")
    '9 steps'
    >>> likewise("read (ld %f1, [x];); cut it out", "read (ld %f2, [x];); cut it out", "a")
    'read (ld %f2, [x];); else as a'
    >>> likewise("slow; cut it; or go, so that it rests", "used; go, so that it rests", "a")
    'used; else as a'
    >>> likewise("slow: leave it", "used; cut it; else short: leave it", "a")
    'used; cut it; else as a'
    >>> likewise("slow; leave it as it is", "used; cut it; else keep it as it is", "a")
    'used; cut it; else keep it as it is'
    >>> likewise("slow; if it is, go; or stop at it", "used; if it was, go; or stop at it", "a")
    'used; if it was, go; else as a'
    """
    theirs, mine = (list(_clauses(text)) for text in (first, other))
    alike = 0
    for my, their in zip(reversed(mine), reversed(theirs), strict=False):
        if _OR.sub("", my) != _OR.sub("", their):
            break
        alike += 1
    cuts = range(len(mine) - alike, len(mine))
    cut = next((cut for cut in cuts if _may_end(mine[:cut])), None)
    if cut is None:
        return other
    rest = _ELSE.sub("", " ".join(mine[:cut]).rstrip(",;:"))
    return min(f"{rest}; else as {whose}" if rest else f"as {whose}", other, key=len)


def _may_end(clauses: Sequence[str]) -> bool:
    """Whether a sentence can be cut behind some clauses: what is advised is told to its end."""
    *before, last = clauses or [""]
    in_advice = any(one.endswith(";") for one in before)
    return not in_advice or last.endswith(";") or last.startswith("else ")


def _clauses(text: str) -> Iterator[str]:
    """The clauses of a sentence; what stands in parentheses is in one."""
    clause = ""
    for part in _CLAUSE.split(text):
        clause = f"{clause} {part}" if clause else part
        if clause.count("(") <= clause.count(")"):
            yield clause
            clause = ""
    if clause:
        yield clause


def joined(told: Mapping[int, str], count: int, place: re.Pattern[str]) -> tuple[str, str]:
    """What is said of some of ``count`` copies, by their numbers, in one sentence, and of which;
    nothing if the same is said of all. A ``place`` in it is not the same in any.

    >>> nowhere = re.compile("@")
    >>> joined({1: "7 bytes take room", 2: "9 bytes take room"}, 2, nowhere)
    ('2 copies', '7 to 9 bytes take room')
    >>> joined({1: "0.61 times as fast", 2: "0.60 to 0.946 times as fast"}, 2, nowhere)
    ('2 copies', '0.600 to 0.946 times as fast')
    >>> joined({1: "short", 2: "long; so", 3: "short"}, 4, nowhere)
    ('copies 1, 3 of 4', 'short; copy 2: long; so')
    >>> joined({1: "large; cut it, or go", 2: "large; split it", 3: "large; go"}, 3, nowhere)
    ('copy 1 of 3', 'large; cut it, or go; copy 2: split it; copy 3: go')
    >>> joined({1: "large", 2: "slow; rewrite all of it", 3: "far; rewrite all of it"}, 3, nowhere)
    ('copy 1 of 3', 'large; copy 2: slow; rewrite all of it; copy 3: far; else as copy 2')
    """
    alike: dict[str, dict[int, str]] = {}
    for number, text in _with_one_reason(told).items():
        alike.setdefault(_without_figures(place.sub("", text)), {})[number] = text
    first, *others = alike.values()
    numbers, text, more, known = list(first), _with_all(first), [], [first]
    for same in others:
        ways = [_besides(_with_all(one), _with_all(same), _numbered(one), place) for one in known]
        if ways[0] == f"as {_numbered(first)}":  # and less than of these
            numbers += same
        else:
            more.append(f"{_numbered(same)}: {min(ways, key=len)}")
            known.append(same)
    if more or len(told) < count:
        which = f"{_numbered(sorted(numbers))} of {count}"
    else:
        which = "" if len(set(_figures(told.values(), _FIGURE))) == 1 else f"{count} copies"
    return which, "; ".join([text, *more])


def _besides(text: str, other: str, whose: str, place: re.Pattern[str]) -> str:
    """What is said of other copies than the first, whose reason is not told again."""
    theirs, mine = (place.sub("", one).split("; ") for one in (text, other))
    if theirs[0] != mine[0]:
        return likewise(text, other, whose)
    while mine and theirs and mine[0] == theirs[0]:
        del mine[0], theirs[0]
    return likewise("; ".join(theirs), "; ".join(mine), whose)


def _with_one_reason(told: Mapping[int, str]) -> Mapping[int, str]:
    """What copies would gain, with what speaks against the one that would gain most: more than one
    thing cannot be done about one annotation.

    >>> told = {1: "expected 0.8 times as fast, too short; no", 2: "expected 1.2 times as fast; so"}
    >>> _with_one_reason(told)
    {1: 'expected 0.8 times as fast; so', 2: 'expected 1.2 times as fast; so'}
    """
    gains = {number: match for number, text in told.items() if (match := _GAIN.search(text))}
    if len(gains) < len(told):
        return told
    most = max(gains.values(), key=lambda gain: float(gain[1]))
    reason = most.string[most.end() :]
    return {number: f"{gain.string[: gain.end()]}{reason}" for number, gain in gains.items()}


def without_room(text: str) -> str:
    """What is said, for whatever sizes of blocks.

    >>> without_room("let blocks be smaller: 64 fit; or --ccc-shared-limit=9, and launch so; or go")
    'let blocks be smaller: # fit; or go'
    """
    return _ROOM.sub("#", _LIMIT.sub("", text))


def with_room_for_all(texts: Sequence[str]) -> str:
    """What is said of several paths that differ by nothing else, with what has room for all.

    >>> with_room_for_all(["32 fit; or --ccc-shared-limit=9", "64 fit; or --ccc-shared-limit=7"])
    '32 fit; or --ccc-shared-limit=9'
    >>> with_room_for_all(["64 fit; or --ccc-shared-limit=9", "32 fit"])
    '32 fit'
    """
    if not all(map(_LIMIT.search, texts)):  # of some not even all that there is would do
        texts = [_LIMIT.sub("", one) for one in texts]
    return _with_figures(texts[0], texts, _ROOM)


def _figures(texts: Iterable[str], which: re.Pattern[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(one[0] for one in which.finditer(text)) for text in texts)


def _without_figures(text: str) -> str:
    return _FIGURE.sub("#", _MANY.sub(r"\1", text))


def _with_all(same: Mapping[int, str]) -> str:
    """What differs by figures only, with the least and the most of each."""
    texts = list(same.values())
    longest = max(texts, key=lambda one: one.count("instructions"))
    return _with_figures(longest, texts, _FIGURE)


def _with_figures(text: str, texts: Iterable[str], which: re.Pattern[str]) -> str:
    """One of some texts, with the least and the most of each of its figures."""
    columns: Iterator[tuple[str, ...]] = zip(*_figures(texts, which), strict=True)

    def figure(match: re.Match[str]) -> str:
        numbers = [number for one in next(columns) for number in one.split(" to ")]
        low, high = min(numbers, key=float), max(numbers, key=float)
        if match["least"] or match["most"]:
            return low if match["least"] else high
        digits = max(len(number.partition(".")[2]) for number in (low, high))
        low, high = (f"{float(number):.{digits}f}" for number in (low, high))
        return low if low == high else f"{low} to {high}"

    return which.sub(figure, text)


def copies(told: Sequence[Hashable]) -> list[str]:
    """Which of several copies of some code each is; nothing where the same is told of all.

    >>> copies(["short", "long", "short"])
    ['copies 1, 3 of 3', 'copy 2 of 3', 'copies 1, 3 of 3']
    >>> copies(["short", "short"])
    ['', '']
    """
    if len(set(told)) < 2:
        return [""] * len(told)
    numbers: dict[Hashable, list[int]] = {}
    for number, one in enumerate(told, 1):
        numbers.setdefault(one, []).append(number)
    return [f"{_numbered(numbers[one])} of {len(told)}" for one in told]


def with_copy(what: str, copy: str) -> str:
    """What something is said of, and which copy of it.

    >>> with_copy("path", "copy 2 of 3"), with_copy("path (else)", "copy 2 of 3")
    ('path (copy 2 of 3)', 'path (else, copy 2 of 3)')
    """
    named = what.removesuffix(")")
    return f"{named}{' (' if named == what else ', '}{copy})" if copy else what


def _numbered(numbers: Collection[int]) -> str:
    """Copies by their numbers, three or more in a row by the first and the last.

    >>> _numbered([2]), _numbered([1, 2, 5]), _numbered([1, 2, 3, 5])
    ('copy 2', 'copies 1, 2, 5', 'copies 1 to 3, 5')
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    listed = [
        f"{row[0]} to {row[-1]}" if len(row) > 2 else ", ".join(map(str, row)) for row in rows
    ]
    return f"{'copies' if len(numbers) > 1 else 'copy'} {', '.join(listed)}"
