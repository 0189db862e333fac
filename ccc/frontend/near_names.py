"""Hints at names that are much like one that is not there, members of variables among them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ccc.errors import closest, did_you_mean, nearest
from ccc.frontend.syntax import declared_in, every_node

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_ACCESS = re.compile(r"\.|->")
_MEMBER = "field_expression"


def parts_of(name: str) -> list[bytes]:
    """A variable, and its members."""
    return [part.strip().encode() for part in _ACCESS.split(name)]


def near_name(name: str, function: Node) -> str:
    """A hint at a name of the function's that is much like one that is not there."""
    declared = dict.fromkeys(text for text, _ in declared_in(function))
    variables = [one.decode(errors="replace") for one in declared]
    used = members_used(function)
    variable, *members = (part.decode(errors="replace") for part in parts_of(name))
    if not members:
        own = [one for one in used if one[2] == variable and one[0] in (*variables, "this")]
        found = next(map("".join, own), None)
        return did_you_mean(found) if found else nearest(variable, variables)
    base = closest(variable, variables) or ""
    own = [one for one in used if one[0] == base]
    every = [member for *_, member in used]
    member = members[-1]
    if member not in every:
        member = closest(member, [one for *_, one in own]) or closest(member, every) or ""
    sign = own[0][1] if own else _ACCESS.findall(name)[0]
    return did_you_mean(f"{base}{sign}{member}") if base and member else ""


def members_used(function: Node) -> list[tuple[str, str, str]]:
    """The members of variables that a function uses: the variable, ``.`` or ``->``, the member."""
    found = []
    for node in every_node(function):
        base, field = (node.child_by_field_name(name) for name in ("argument", "field"))
        if node.type == _MEMBER and base and field and base.type == "identifier":
            sign = "->" if "->" in [child.type for child in node.children] else "."
            variable, member = ((one.text or b"").decode(errors="replace") for one in (base, field))
            found.append((variable, sign, member))
    return found
