"""Annotated source for tests, and the markers that come of it."""

from __future__ import annotations

import re

import pytest

from ccc.compiler.advice import parts_of
from ccc.frontend.marking import Marked, SourceError, mark
from ccc.ir.arm_markers import as_comments
from ccc.ir.markers import Marker, parse_marker

_READ = re.compile(r"\(void\)\+(ccc_marker_\w+);")
_VARIABLE = re.compile(
    r"static __attribute__\(\(shared\)\) volatile char \w+; (?:\n#line 1\n|\n# \d[^\n]*\n)?"
)


def loop(body: str) -> str:
    """A kernel whose annotated loop holds ``body``, from its line 4 on."""
    return (
        "__global__ void k(int *x, int n) {\n#pragma ccc for\nfor (int i = 0; i < n; i++) {\n"
        f"{body}\n}}\n}}\n"
    )


def in_assembly(text: str) -> str:
    """Marked source as if all markers were inline assembly."""

    def assembly(read: re.Match[str]) -> str:
        comment = as_comments(f"ld.volatile.shared.u8 %rs1, [{read[1]}];")
        return f'asm volatile("{comment}");'

    return _READ.sub(assembly, _VARIABLE.sub("", text))


def markers(marked: Marked) -> list[Marker]:
    text = in_assembly(marked.text)
    found = map(parse_marker, re.findall(r'asm volatile\("([^"]*)"\);', text))
    return [marker for marker in found if marker]


ADVICE = r"write |did you mean |known are |the operations are |name |put |mark |remove |use |give "
"""How what stands behind the first semicolon of a message begins: it says what to do."""


def complaint(text: str) -> str:
    with pytest.raises(SourceError) as caught:
        mark(text, "k.cu")
    for error in caught.value.errors:
        _, separator, advice = parts_of(error.message)
        assert not separator or re.match(ADVICE, advice), "what ccc explain shows as what to do"
    return str(caught.value)
