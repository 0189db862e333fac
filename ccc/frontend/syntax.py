"""CUDA's syntax: the one door to tree-sitter, and questions about its trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.frontend.no_code import NO_CODE
from ccc.frontend.remembered import forget, remembered

if TYPE_CHECKING:
    from tree_sitter import Node as Node  # noqa: PLC0414 - others name it, too
    from tree_sitter import Parser, Tree

LOOPS = ("for_statement", "for_range_loop", "while_statement", "do_statement")
_WRAPPERS = (
    "labeled_statement", "attributed_statement", "template_declaration", "linkage_specification",
)  # fmt: skip
_STATEMENTS = (
    *LOOPS, *_WRAPPERS, "if_statement", "switch_statement", "function_definition", "declaration",
)  # fmt: skip
_NUMBERS = frozenset(b"bool char short int long float double signed unsigned size_t".split())
"""Words of types whose variables are no pointers."""
_LONG_BLANK = re.compile(rb"[ \t\r\n]{1000,}")
_TOKEN = re.compile(rb"[{}]|" + NO_CODE, re.DOTALL | re.VERBOSE)
_PARENTHESIS = re.compile(rb"[()]|" + NO_CODE, re.DOTALL | re.VERBOSE)
_DEVICE = re.compile(
    rb"\b__(?:device|global)__\b|__attribute__\s*\(\((?:device|global)\)\)|\bconst(?:expr|eval)\b"
)
_COMMENT = re.compile(rb"//(?:\\\r?\n|[^\n])*|/\*.*?\*/", re.DOTALL)
_CONSTANT = re.compile(rb"\bconst(?:expr|eval)\b")
_SPECIFIER = re.compile(
    rb"__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]|\bextern\b(?:\s*\"C(?:\+\+)?\")?"
    rb"|\b(?:__device__|__host__|__noinline__|__forceinline__|static|inline|constexpr)\b"
)
DECLARING = ("declaration", "parameter_declaration", "for_range_loop")
"""What declares variables."""
_ARRAY = re.compile(rb"(?:const\s+)?(?:cuda::)?std::array\s*<")
"""A class of a library of which a variable is an array."""
_TO_CONSTANT = re.compile(rb"[^*]*\bconst\b[^*]*\*[^*]*$")
_TAKING = ("function_declarator", "abstract_function_declarator", "lambda_declarator")
_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration")
_KERNEL = re.compile(rb"\b__global__\b|__attribute__\s*\(\(\s*global\s*\)\)")


def _parser() -> Parser:
    import tree_sitter  # noqa: PLC0415 - only texts with annotations pay for it
    import tree_sitter_cuda  # noqa: PLC0415

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


def parse_cuda(code: bytes, ranges: list[tuple[int, int]]) -> Tree:
    """Parse only ``ranges`` of the code; offsets stay those of the whole."""
    from tree_sitter import Range  # noqa: PLC0415

    forget()
    parser = _parser()
    # Rows are not used, so that the offset serves as the column of row 0.
    parser.included_ranges = [
        Range((0, begin), (0, end), begin, end)
        for start, stop in ranges
        for begin, end in _without_blanks(code, start, stop)
    ]
    return parser.parse(code)


def _without_blanks(code: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a range between long blanks, through which a parser would go byte by byte."""
    for blank in _LONG_BLANK.finditer(code, start, end):
        yield start, blank.start() + 1  # a part that is empty would stand for all of the code
        start = blank.end() - 1
    yield start, end


def statement_at(root: Node, at: int) -> Node | None:
    """The outermost statement that begins at ``at``, without labels and other wrappings."""
    node = root.descendant_for_byte_range(at, at + 1)
    found = None
    while node is not None and node.start_byte == at:
        if node.type in _STATEMENTS:
            found = node
        node = node.parent
    while found is not None and found.type in _WRAPPERS:
        found = found.named_children[-1]
    return found


def body_of(statement: Node, name: str) -> Node | None:
    """A loop's body, an if's arm, or (without a name) what follows an ``else``."""
    if name:
        return statement.child_by_field_name(name)
    return next((n for n in reversed(statement.named_children) if n.type != "comment"), None)


def head_end(statement: Node, body: Node) -> int:
    """Where the text before a body ends: after ``)``, ``do`` or ``else``."""
    condition = statement.child_by_field_name("condition")
    if statement.type in ("if_statement", "while_statement") and condition is not None:
        return condition.end_byte
    heads = [n for n in statement.children if n.type in (")", "do", "else")]
    return max(n.end_byte for n in heads if n.end_byte <= body.start_byte)


@remembered
def parent_of(node: Node) -> Node | None:
    """What a node is right below; a tree looks for that from its root, each time."""
    return node.parent


def type_of(statement: Node, name: bytes, *, is_array: bool = False) -> bytes | None:
    """The type with which a plain variable is declared, as it is written; or that of the elements
    of an array."""
    place, around = statement, parent_of(statement)
    while around is not None:
        known = _types_below(around, is_array).get(name, ())
        before = [kind for end, kind in known if end <= place.start_byte]
        if before:
            return before[-1]
        place, around = around, parent_of(around)
    return None


@remembered
def _types_below(around: Node, is_array: bool) -> dict[bytes, list[tuple[int, bytes | None]]]:
    """The types of what is declared right below a node, by names: where what declares it ends, and
    the type; many statements ask the same block."""
    found: dict[bytes, list[tuple[int, bytes | None]]] = {}
    for node in around.children:
        parameters = node.child_by_field_name("parameters")
        mine: dict[bytes, bytes | None] = {}
        for declaration in (node, *(parameters.children if parameters else ())):
            for name in _declared(declaration, is_array=is_array):
                kind = declaration.child_by_field_name("type")
                mine.setdefault(name, (kind.text or None) if kind else None)
        for name, kind_of_it in mine.items():
            found.setdefault(name, []).append((node.end_byte, kind_of_it))
    return found


def is_field_of_bits(name: bytes, code: bytes) -> bool:
    """Whether a member of that name is so many bits in some structure, ``unsigned hits : 20``."""
    field = re.escape(name.rpartition(b".")[2])
    for found in re.finditer(field + rb"(?<=\b" + field + rb")\s*:\s*\d+\s*[,;]", code):
        begin = max(code.rfind(sign, 0, found.start()) for sign in (b";", b"{", b"}"))
        if b"?" not in code[begin + 1 : found.start()]:  # else it is a choice of it
            return True
    return False


def is_number(kind: bytes) -> bool:
    """Whether variables of a type are plain numbers."""
    return _NUMBERS.issuperset(kind.split())


def _declared(declaration: Node, *, is_array: bool) -> set[bytes]:
    """The plain variables that a declaration declares, or the arrays; no pointers."""
    if declaration.type not in ("declaration", "parameter_declaration"):
        return set()
    found = declaration.children_by_field_name("declarator")
    inner = [
        d.child_by_field_name("declarator") if d.type == "init_declarator" else d for d in found
    ]
    if is_array:
        inner = [_element(d) for d in inner if d is not None and d.type == "array_declarator"]
    return {d.text or b"" for d in inner if d is not None and d.type == "identifier"}


def _element(declarator: Node | None) -> Node | None:
    """What is declared to be an array, of one or more dimensions."""
    while declarator is not None and declarator.type == "array_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return declarator


def loop_around(root: Node, at: int) -> Node | None:
    """The innermost loop in whose body a statement begins, in the same function."""
    node = root.descendant_for_byte_range(at, at + 1)
    while node is not None and node.type not in ("function_definition", "lambda_expression"):
        body = node.child_by_field_name("body") if node.type in LOOPS else None
        if body is not None and node.start_byte < at and body.start_byte <= at < body.end_byte:
            return node
        node = node.parent
    return None


def bodies_of(statement: Node, name: str) -> list[Node]:
    """The arms of a branch, or the body of anything else."""
    found = [body_of(statement, name)]
    if otherwise := statement.child_by_field_name("alternative"):
        found.append(body_of(otherwise, ""))
    return [body for body in found if body is not None]


def parts_of(statement: Node) -> Iterator[Node]:
    """The children of a statement, and of its ``else``."""
    for child in statement.children:
        yield from child.children if child.type == "else_clause" else [child]


def closing_brace(code: bytes, start: int) -> int:
    """Where the block ends that begins with the brace at ``start``, by its braces alone."""
    depth = 0
    for token in _TOKEN.finditer(code, start):
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return len(code)


def is_cut(condition: Node, code: bytes) -> bool:
    """Whether what was read as a condition in parentheses ends where others do in it."""
    depth = 0
    for token in _PARENTHESIS.finditer(code, condition.start_byte):
        depth += {b"(": 1, b")": -1}.get(token[0], 0)
        if depth <= 0:
            return token.end() != condition.end_byte
    return True


def every_node(node: Node) -> Iterator[Node]:
    """A tree's nodes, each before those below it; however deep it is, this does not recur."""
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending += reversed(one.children)


def identifiers_in(node: Node) -> Iterator[Node]:
    """The names in a tree."""
    return (one for one in every_node(node) if one.type.endswith("identifier"))


@remembered
def names_in(node: Node) -> dict[bytes | None, list[Node]]:
    """The same by what they are."""
    found: dict[bytes | None, list[Node]] = {}
    for one in identifiers_in(node):
        found.setdefault(one.text, []).append(one)
    return found


def declarations(node: Node) -> Iterator[Node]:
    """The names of the variables that are declared in a tree, where that is done."""
    yield from (name for name, _ in _declarations(node))


def declared_in(node: Node) -> Iterator[tuple[bytes, bool]]:
    """The variables that are declared in a tree, and whether each is an array."""
    yield from ((name.text or b"", is_array) for name, is_array in _declarations(node))


@remembered
def _declarations(tree: Node) -> list[tuple[Node, bool]]:
    found: list[tuple[Node, bool]] = []
    for node in every_node(tree):
        if node.type in DECLARING:
            kind = node.child_by_field_name("type")
            is_of_class = kind is not None and _ARRAY.match(kind.text or b"") is not None
            for one in node.children_by_field_name("declarator"):
                inner, is_array = innermost(one)
                if inner is not None:
                    is_plain = one.type in ("identifier", "init_declarator")
                    found.append((inner, is_array or (is_of_class and is_plain)))
    return found


def innermost(declarator: Node) -> tuple[Node | None, bool]:
    """The name in a declarator, and whether that declares an array."""
    node: Node | None = declarator
    is_array = False
    while node is not None and node.type != "identifier":
        is_array = is_array or node.type == "array_declarator"
        named = node.child_by_field_name("declarator")
        node = named or next((n for n in node.named_children if "declarator" in n.type), None)
        if node is None and declarator.type == "reference_declarator":
            node = next((n for n in declarator.named_children if n.type == "identifier"), None)
    return node, is_array


def functions_in(node: Node) -> Iterator[Node]:
    """The definitions of functions in a tree."""
    return (one for one in every_node(node) if one.type == "function_definition")


def function_name(function: Node) -> bytes:
    """The plain name of a function: no scopes, no template arguments."""
    node = function.child_by_field_name("declarator")
    while node is not None and not node.type.endswith(("identifier", "operator_name")):
        inner = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        is_reference = node.type == "reference_declarator"
        node = inner or (node.named_children[-1] if is_reference else None)
    while node is not None and node.type == "qualified_identifier":
        node = node.child_by_field_name("name")
    return b"".join((node.text or b"").split()) if node is not None else b""


def is_for_device(declaration: Node, code: bytes) -> bool:
    """Whether a declaration says that the device can run what it declares."""
    return _DEVICE.search(code, declaration.start_byte, declaration.end_byte) is not None


def pointer_to(declaration: Node, name: str, code: bytes) -> bytes | None:
    """The declaration of a pointer of that name which leads to the function that is declared.

    The type tells which of several functions of a name is meant. None of what declares no
    function, several, or a template.
    """
    found = declaration.children_by_field_name("declarator")
    node = found[0] if len(found) == 1 else None
    while node is not None and node.type in ("pointer_declarator", "reference_declarator"):
        node = node.named_children[-1]
    wrapped = declaration.parent is not None and declaration.parent.type == "template_declaration"
    own = node.child_by_field_name("declarator") if node else None
    listed = node.child_by_field_name("parameters") if node else None
    if node is None or node.type != "function_declarator" or wrapped:
        return None
    if own is None or listed is None or own.type != "identifier":
        return None
    before = _SPECIFIER.sub(b" ", code[declaration.start_byte : own.start_byte])
    parameters = [one for one in listed.named_children if one.type != "comment"]
    if any(one.type not in _PARAMETERS for one in parameters):
        return None
    listing = b", ".join(_without_default(one, code) for one in parameters)
    words = (b"__attribute__((device))", before, b"(*%s)(%s)" % (name.encode(), listing), b"=")
    return b" " + b" ".join(b" ".join((*words, own.text or b"")).split()) + b";"


def _without_default(parameter: Node, code: bytes) -> bytes:
    value = parameter.child_by_field_name("default_value")
    end = value.start_byte if value else parameter.end_byte
    return code[parameter.start_byte : end].rstrip(b" \t\n=")


@dataclass(frozen=True, slots=True)
class Home:
    """The function that an annotation belongs to: where it begins, what it is, and its plain name.

    A lambda has no name.
    """

    start: int
    is_host: bool
    is_kernel: bool
    name: str


def home_of(root: Node, at: int, code: bytes) -> Home | None:
    """The function around a place, or that begins there; a lambda is one where it says for what."""
    node = root.descendant_for_byte_range(at, at + 1)
    while node is not None:
        body = node.child_by_field_name("body")
        if body is not None and node.type in ("function_definition", "lambda_expression"):
            head = _head(node, code)
            for_device = _DEVICE.search(head) is not None
            if for_device or node.type == "function_definition":
                name = function_name(node).decode(errors="replace")
                is_kernel = _KERNEL.search(head) is not None
                return Home(node.start_byte, not for_device, is_kernel, name)
        node = node.parent
    return None


def root_around(node: Node) -> Node:
    """The root of the tree that a node is of."""
    while (around := parent_of(node)) is not None:
        node = around
    return node


def function_around(statement: Node) -> Node | None:
    """The function, or lambda, that a statement stands in."""
    node: Node | None = statement
    while node is not None and node.type not in ("function_definition", "lambda_expression"):
        node = parent_of(node)
    return node


def may_be_constant(statement: Node, code: bytes) -> bool:
    """Whether a statement stands in a ``constexpr`` function, which compilers may evaluate."""
    node = function_around(statement)
    while node is not None:
        if node.child_by_field_name("body") and _CONSTANT.search(_head(node, code)):
            return True
        node = function_around(node.parent) if node.parent else None
    return False


def is_in_kernel(statement: Node, code: bytes) -> bool:
    """Whether a statement stands in a ``__global__`` function itself."""
    return _kernel_around(statement, code) is not None


def _kernel_around(statement: Node, code: bytes) -> Node | None:
    node = function_around(statement)
    if node is None or node.type == "lambda_expression":
        return None
    return node if _KERNEL.search(_head(node, code)) else None


def _head(function: Node, code: bytes) -> bytes:
    """What stands before the body of a function, without comments."""
    body = function.child_by_field_name("body")
    end = body.start_byte if body else function.end_byte
    return _COMMENT.sub(b" ", code[function.start_byte : end])


def parameters(function: Node) -> list[Node]:
    """The declarations of the parameters of a function, or a lambda."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type not in _TAKING:
        inner = declarator.child_by_field_name("declarator")
        declarator = inner or next((n for n in declarator.named_children), None)
    listed = declarator.child_by_field_name("parameters") if declarator else None
    return [node for node in listed.named_children if node.type != "comment"] if listed else []


def by_reference(function: Node, number: int) -> bool:
    """Whether a function may change what it is given at some place: it takes that by reference."""
    parameter = next(iter(parameters(function)[number : number + 1]), None)
    declarator = parameter.child_by_field_name("declarator") if parameter else None
    is_constant = parameter is not None and b"const" in (parameter.text or b"").split()
    return declarator is not None and declarator.type == "reference_declarator" and not is_constant


def to_constant(function: Node, number: int) -> bool:
    """Whether a function takes at some place a pointer by which it may not change anything."""
    parameter = next(iter(parameters(function)[number : number + 1]), None)
    return parameter is not None and _TO_CONSTANT.match(parameter.text or b"") is not None


def parameter_name(function: Node, number: int) -> bytes | None:
    """What a function calls what it is given at some place, by reference or by its address."""
    parameter = next(iter(parameters(function)[number : number + 1]), None)
    return next((name for name, _ in declared_in(parameter)), None) if parameter else None


def parameters_of_kernel(statement: Node, code: bytes) -> list[Node]:
    """The declarations of the parameters of the kernel in which a statement stands itself; none if
    one is a pack, whose length is not known.

    None in a device function: it is inlined, and what its parameters were is lost.
    """
    kernel = _kernel_around(statement, code)
    listed = parameters(kernel) if kernel else []
    return listed if all(node.type in _PARAMETERS for node in listed) else []


def restricted_parameters(statement: Node, code: bytes) -> tuple[list[int], int]:
    """The numbers of the kernel's parameters that are ``__restrict__`` pointers, and how many it
    has. Where macros are not expanded, one may stand for several: then their count is another one.
    """
    listed = parameters_of_kernel(statement, code)
    plain = re.compile(rb"[^()\[\]&*]*\*\s*(?:const\s+)?__restrict(?:__)?\b\s*\w*\s*(?:=.*)?")
    texts = [code[node.start_byte : node.end_byte] for node in listed]
    return [number for number, text in enumerate(texts) if plain.fullmatch(text)], len(texts)
