"""Generated code as PTX that one can read.

A snippet is the text of some instructions, with the registers that they use declared before them:

    >>> COUNT = Snippet('''
    ...     .reg .pred %pending, %none;
    ...     .reg .b32 %members, %tasks;
    ...         vote.sync.ballot.b32 %tasks, %pending, %members;
    ...         setp.eq.b32 %none, %tasks, 0;
    ...         @%none bra NOBODY;
    ... ''')

Where it is emitted, a name is given what it stands for, or gets something new:

- a register: another register, a special one, an address (inside ``[...]``) or a literal; else a
  fresh register that is named after it;
- a label: the label of a block, here or elsewhere; else, if it stands in the text, a fresh one;
- a symbol: the name of a variable;
- ``call name, (%a, %b);`` is a hole, filled by a function that gets an emitter and the operands.

Words of the text may stand for numbers, or parts of opcodes: for the same ones always, or for what
:meth:`Snippet.of` is told. It is read by the parser of the project, once, where it is first
emitted: there are many, and a kernel needs few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import ClassVar

from ccc.errors import Span
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Function, FunctionText, Guard, Instruction
from ccc.ir.operands import (
    Address,
    Arguments,
    Immediate,
    Operand,
    Register,
    Special,
    Symbol,
    map_leaves,
)
from ccc.parse import parse_function

Fill = Callable[..., None]
"""What fills a hole: it gets an :class:`Emitter`, and the operands of the call."""
Given = Register | Special | Address | Immediate | int | str | Fill

_BRANCH = re.compile(r"\bbra\s+(\w+)\s*;")
_DECLARED = re.compile(r"\.reg\s+\.(\w+)\s+([^;]+);")
_LABEL = re.compile(r"^\s*(\w+):", re.M)

_NVCC = {"pred": "p", "b16": "rs", "b32": "r", "b64": "rd", "f32": "f", "f64": "fd"}


class Snippet:
    """Some PTX, to be emitted again and again."""

    known: ClassVar[list[Snippet]] = []
    """All that modules define."""

    def __init__(self, text: str, *words: str, **constants: object):
        self.source = text
        """The text with all its words."""
        self.text = _replace(text, constants)
        self.words = words
        self.known.append(self)

    def of(self, **words: object) -> Snippet:
        """It with numbers, or parts of opcodes, in the place of words."""
        return _variant(self, tuple(sorted((word, str(value)) for word, value in words.items())))

    @cached_property
    def _elsewhere(self) -> set[str]:
        """The labels that it branches to, and that are not in it."""
        return set(_BRANCH.findall(self.text)) - set(_LABEL.findall(self.text))

    @cached_property
    def _aliases(self) -> dict[str, str]:
        """Its registers, named as nvcc would name them: such statements are parsed only once."""
        found: dict[str, str] = {}
        for kind, names in _DECLARED.findall(self.text):
            for name in names.split(","):
                found[name.strip()] = f"%{_NVCC.get(kind, kind)}{len(found) + 1}"
        return found

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names of its registers, by what they are called when it is parsed."""
        return {alias: name.removeprefix("%") for name, alias in self._aliases.items()}

    @cached_property
    def _parsed(self) -> Function:
        stubs = "".join(f"{label}: trap;\n" for label in sorted(self._elsewhere))
        body = re.sub(r"%\w+", lambda name: self._aliases.get(name[0], name[0]), self.text)
        text = f".func snippet()\n{{\n{body}\nENDS_HERE: trap;\n{stubs}}}"
        function = parse_function(FunctionText("snippet", "func", text, Span("<snippet>", 1)))
        stubbed = {"ENDS_HERE", *self._elsewhere}
        function.blocks = [block for block in function.blocks if block.label not in stubbed]
        return function

    def emit(
        self, emit: Emitter, scope: Mapping[str, Given] = MappingProxyType({}), **given: Given
    ) -> dict[str, Register]:
        """Emit it behind what ``emit`` has emitted, and go on behind it.

        Args:
            emit: where to.
            scope: what names stand for that it may have.
            given: what names stand for that it has.

        Returns:
            The fresh registers, by their names in the text without the ``%``.

        Raises:
            ValueError: a literal does not fit, or a name is given that the text does not have.
        """
        copy = _Copy(self._parsed, self._names, emit, {**scope, **given}, self._elsewhere)
        copy.run()
        if unused := set(given) - copy.used:
            raise ValueError(f"the snippet has no {', '.join(sorted(unused))}")
        return copy.fresh


@cache
def _variant(snippet: Snippet, words: tuple[tuple[str, str], ...]) -> Snippet:
    variant = object.__new__(Snippet)
    variant.source, variant.words = snippet.source, ()
    variant.text = _replace(snippet.text, dict(words))
    return variant


def _replace(text: str, words: Mapping[str, object]) -> str:
    """The text with other words."""
    if not words:
        return text
    pattern = rf"\b({'|'.join(words)})\b"
    return re.sub(pattern, lambda word: str(words[word[0]]), text)


@dataclass
class _Copy:
    """One copy of a snippet."""

    source: Function
    names: dict[str, str]
    emit: Emitter
    given: dict[str, Given]
    elsewhere: set[str]
    fresh: dict[str, Register] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    labels: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        for number, block in enumerate(self.source.blocks):
            if number or block.named:
                self.emit.start(self._label(block.label, block.named))
            for instruction in block.instructions:
                self._take(instruction)

    def _take(self, instruction: Instruction) -> None:
        name = str(instruction.operands[0]) if instruction.name == "call" else ""
        fill = self.given.get(name)
        if callable(fill):
            self.used.add(name)
            holes = [hole for hole in instruction.operands if isinstance(hole, Arguments)]
            fill(self.emit, *(self._operand(o) for hole in holes for o in hole.elements))
            return
        guard = instruction.guard
        if guard is not None:
            register = self._operand(guard.register)
            assert isinstance(register, Register)
            guard = Guard(register, guard.negated)
        operands = tuple(self._operand(operand) for operand in instruction.operands)
        if (target := instruction.target) is not None:
            operands = (Symbol(self._label(target, target in self._named)),)
        self.emit.emit(instruction.opcode, *operands, guard=guard)

    @cached_property
    def _named(self) -> set[str]:
        return {block.label for block in self.source.blocks if block.named} | self.elsewhere

    def _label(self, name: str, named: bool) -> str:
        given = self.given.get(name)
        if isinstance(given, str):
            self.used.add(name)
            return given
        if name in self.elsewhere:
            raise ValueError(f"the snippet needs the label {name}")
        if name not in self.labels:
            hint = name.lower() if named else "then"
            self.labels[name] = self.emit.function.fresh_label(hint)
        return self.labels[name]

    def _operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            base = self._value(operand.base)
            if isinstance(base, Address):
                return Address(base.base, base.offset + operand.offset)
        made = map_leaves(operand, self._leaf)
        # A number that stands for a word of the text is printed as any other.
        return Address(made.base, made.offset) if isinstance(made, Address) else made

    def _leaf(self, leaf: Operand) -> Operand:
        if isinstance(leaf, Symbol):
            name = self.given.get(leaf.name)
            if isinstance(name, str):
                self.used.add(leaf.name)
                return Symbol(name, leaf.offset)
        if not isinstance(leaf, Register):
            return leaf
        value = self._value(leaf)
        return Immediate(str(value)) if isinstance(value, int) else value

    def _value(self, register: Register) -> Register | Special | Address | Immediate | int:
        name = self.names[register.name]
        given = self.given.get(name)
        if isinstance(given, (Register, Special, Address, Immediate, int)):
            self.used.add(name)
            return given
        if name not in self.fresh:
            self.fresh[name] = self.emit.function.registers.fresh(register.type, name)
        return self.fresh[name]
