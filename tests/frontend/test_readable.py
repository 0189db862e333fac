"""Assignments beside commas, in parentheses, which the parser's grammar lacks."""

from __future__ import annotations

import pytest
from annotated import loop

from ccc.frontend.marking import mark
from ccc.frontend.readable import parse_readable

RANDOM = "(s = s * 3u, (float)(s >> 8) / (1 << 24))"
SHIFTED = '((s) ^= s << 13, (s) ^= f(s, "(,") >> 17, (s) ^= s << 5, (float)((s) & 255) / (1 << 24))'


@pytest.mark.parametrize("value", [RANDOM, SHIFTED, f"(t = {RANDOM} > 2, u = {SHIFTED}, t < u)"])
@pytest.mark.parametrize(
    "path",
    [
        "#pragma ccc if\nif ({} < limit) y(i);",
        "#pragma ccc if\nif (a && !({} > limit)) y(i); else z({});",
        "#pragma ccc while\nwhile ({} < limit) y(i);",
        "#pragma ccc while\nfor (int k = 0; {} < limit; k++) y({});",
        "#pragma ccc if\nif (a) y(i < limit ? {} : 1);",
    ],
)
def test_statements_end_behind_what_they_hold(path: str, value: str) -> None:
    """Markers stand where they would with a name in place of the expression."""
    named = path.replace("{}", "VALUE")
    marked = mark(loop(named), "k.cu").text.replace("VALUE", value)
    assert mark(loop(path.replace("{}", value)), "k.cu").text == marked


def test_what_is_read_stays_as_it_is() -> None:
    """Of a text of which something cannot be read, too, and in directives."""
    other = "#define R (s = 1, s)\nint t[] = {f(1, 2), (1, 2)};\n"
    code = f"{other}void k() {{ if ({RANDOM} > 1) y(); }}"
    _, text = parse_readable(code.encode(), [(0, len(code))])
    assert text.decode() == code.replace("3u,", "3u%")


@pytest.mark.parametrize(
    "head",
    [
        "for (int k = 0, l = (decltype(a)(3)); k < l; ++k, --l)",
        "for (int k = 0, l = 3; (p->*f)(1, 2) > k; ++k, c = ((q->*f)(1, 2)))",
    ],
)
def test_the_commas_of_a_head_stay(head: str) -> None:
    text = loop(f"#pragma ccc while\n{head} y(i);")
    marked = mark(loop("#pragma ccc while\nHEAD y(i);".replace("HEAD", "while (HEAD)")), "k.cu")
    assert mark(text, "k.cu").text == marked.text.replace("while (HEAD)", head)
