"""How large the blocks are in which a text launches its kernels, where it says so in numbers.

What a name means is told only where it is declared once in the whole text, and nothing there may
change it: of scopes, overloads and what functions do to what they are given nothing is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import folding
from ccc.frontend.syntax import every_node
from ccc.ptx.types import MAX_BLOCK_THREADS

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_LAUNCH = "kernel_call_syntax"
_DIM3 = b"dim3"
_WHOLE = frozenset(b"int unsigned long size_t auto const constexpr static".split()) | {_DIM3}
"""The words with which a variable is declared that is a whole number, or several."""
_READS = frozenset(b"+ - * / % < > <= >= == !=".split())
_LISTS = ("argument_list", "initializer_list")
_DEEPEST = 50
"""No size is told by so many names and signs in each other."""


class KnownLaunch(NamedTuple):
    """A launch of a kernel in blocks of so many threads."""

    kernel: str
    threads: int
    at: int


class Launches:
    """The launches of a text.

    Args:
        root: its tree, which is gone through once.
    """

    def __init__(self, root: Node):
        self._calls: list[Node] = []
        self._numbers: dict[bytes, int | None] = {}
        self._named: dict[bytes, list[Node]] = {}
        for node in every_node(root):
            if node.type == _LAUNCH and len(node.named_children) > 1:
                self._calls.append(node)
            elif node.type.endswith("identifier") and not node.named_children:
                self._named.setdefault(node.text or b"", []).append(node)

    def of(self, kernels: Collection[str]) -> Iterator[KnownLaunch]:
        """Those of some kernels, by their names without scopes, whose size can be read."""
        single = {one.encode() for one in kernels if self._is_one_function(one.encode())}
        for node in self._calls if single else ():
            call = node.parent
            name = _last_name(call.child_by_field_name("function")) if call else b""
            if call is None or name not in single:
                continue
            kernel = name.decode()
            threads = self._product(node.named_children[1], _DEEPEST)
            if threads is not None and threads <= MAX_BLOCK_THREADS:  # others cannot be launched
                yield KnownLaunch(kernel, threads, call.start_byte)

    def _is_one_function(self, name: bytes) -> bool:
        """Whether a name is of one function alone, and of nothing else."""
        heads: list[Node] = []
        for node in self._named.get(name, ()):
            around = node.parent
            if around is not None and around.type == "function_declarator":
                heads.append(around)
            elif around is None or around.type not in ("call_expression", "qualified_identifier"):
                return False
        bodies = [one for one in heads if one.parent and one.parent.type == "function_definition"]
        return len(bodies) == 1 and len({b"".join((one.text or b"").split()) for one in heads}) == 1

    def _product(self, node: Node, deepest: int) -> int | None:
        """The number that an expression is, or of the elements of a ``dim3``."""
        if not deepest:
            return None
        if node.type == "parenthesized_expression" and node.named_children:
            return self._product(node.named_children[0], deepest - 1)
        if node.type == "number_literal":
            return _whole(folding.literal, (node.text or b"").decode(errors="replace"))
        if node.type == "binary_expression":
            return self._binary(node, deepest)
        if node.type == "identifier":
            name = node.text or b""
            if name not in self._numbers:
                value = self._value_of(name)
                number = None if value is None else self._product(value, deepest - 1)
                self._numbers[name] = number
            return self._numbers[name]
        product: int | None = None
        for one in _elements(node):
            factor = self._product(one, deepest - 1)
            if factor is None:
                return None
            product = factor * (1 if product is None else product)
        return product

    def _binary(self, node: Node, deepest: int) -> int | None:
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        left, right = (None if one is None else self._product(one, deepest - 1) for one in sides)
        if left is None or right is None:
            return None
        return _whole(folding.binary, _sign(node).decode(), left, right)

    def _value_of(self, name: bytes) -> Node | None:
        """What a variable is that is declared once, and not changed."""
        uses = self._named.get(name, [])
        declared = [one for one in uses if one.parent and one.parent.type == "init_declarator"]
        begun = [one for one in declared if _is_field(one, "declarator")]
        if len(begun) != 1:
            return None
        around = begun[0].parent
        words = _words_before(around) if around is not None else frozenset()
        is_constant = not words.isdisjoint((b"const", b"constexpr"))
        if around is None or not words <= _WHOLE or not (is_constant or _is_of_function(around)):
            return None
        is_kept = _is_used if is_constant else _is_read
        value = around.child_by_field_name("value")
        is_dim3 = _DIM3 in words or (value is not None and value.type not in _LISTS)
        return value if is_dim3 and all(is_kept(one) for one in uses if one != begun[0]) else None


def _is_of_function(declarator: Node) -> bool:
    """Whether a variable is one of a function, which no other file knows."""
    around = declarator.parent.parent if declarator.parent else None
    return around is not None and around.type == "compound_statement"


def _words_before(declarator: Node) -> frozenset[bytes]:
    """With which words a variable is declared."""
    around = declarator.parent
    if around is None or around.type != "declaration":
        return frozenset((b"",))
    before = (one for one in around.children if one.start_byte < declarator.start_byte)
    kinds = (one for one in before if one.type not in ("init_declarator", "identifier", ","))
    return frozenset(word for one in kinds for word in (one.text or b"").split())


def _is_field(node: Node, name: str) -> bool:
    around = node.parent
    return around is not None and around.child_by_field_name(name) == node


def _sign(node: Node) -> bytes:
    found = node.child_by_field_name("operator")
    return (found.text or b"") if found is not None else b""


def _is_used(node: Node) -> bool:
    """Whether a name stands where a value is taken, and nothing is declared."""
    around = node.parent
    if around is None or node.type != "identifier":
        return False
    if around.type in ("init_declarator", "array_declarator"):
        return not _is_field(node, "declarator")
    kinds = ("_expression", "_statement", _LAUNCH, *_LISTS)
    return around.type.endswith(kinds) and around.type != "lambda_expression"


def _is_read(node: Node) -> bool:
    """Whether nothing can happen to a variable where its name stands."""
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    if around is None or node.type not in ("identifier", "parenthesized_expression"):
        return False
    if around.type == "binary_expression":
        return _sign(around) in _READS
    if around.type in _LISTS:
        return around.parent is not None and around in _lists_of(around.parent)
    declared = around.child_by_field_name("declarator")
    is_copied = declared is not None and declared.type == "identifier" and declared != node
    is_plain = around.type == "init_declarator" and _words_before(around) <= _WHOLE
    return around.type == _LAUNCH or (is_plain and is_copied)


def _lists_of(node: Node) -> list[Node]:
    """What a ``dim3`` is given, where one is made."""
    if node.type == "init_declarator":
        made = _DIM3 in _words_before(node)
        name = "value"
    else:
        kind = node.child_by_field_name("function") or node.child_by_field_name("type")
        made = kind is not None and kind.text in (_DIM3, b"")
        name = "arguments" if node.type == "call_expression" else "value"
    found = node.child_by_field_name(name) if made else None
    return [found] if found is not None and found.type in _LISTS else []


def _elements(node: Node) -> list[Node]:
    """What stands for the sizes of a ``dim3``."""
    lists = [node] if node.type in _LISTS else _lists_of(node)
    return [one for each in lists for one in each.named_children]


def _last_name(node: Node | None) -> bytes:
    """The name of a function without those of namespaces; none of what a template makes."""
    while node is not None and node.type == "qualified_identifier":
        node = node.child_by_field_name("name")
    return (node.text or b"") if node is not None and node.type == "identifier" else b""


def _whole(fold: Callable[..., folding.Number], *of: object) -> int | None:
    """What is folded, if that is a whole number."""
    try:
        found = fold(*of)
    except (ValueError, ArithmeticError):
        return None
    return found if isinstance(found, int) else None
