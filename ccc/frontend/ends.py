"""Where a statement ends, by its tokens alone.

What a parser takes for its end is another place where it misreads something, as a ``case`` without
braces around it, or an ``else`` that a macro stands for; a brace there makes another program.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ccc.frontend.no_code import NO_CODE

_TOKEN = re.compile(NO_CODE + rb"|\\\r?\n|(?:[\w$]|\\\r?\n)+|::|[^\w\s]", re.DOTALL | re.VERBOSE)
_LINE = re.compile(rb"(?:\\\r?\n|[^\n])*")
_COLON = re.compile(rb"\s*:(?!:)")
_SPLICE = re.compile(rb"\\\r?\n")
_DIRECTIVE = re.compile(rb"[ \t]*(\w*)")
_CLOSES = {b"(": b")", b"[": b"]", b"{": b"}"}
_LOOPS = (b"for", b"while", b"switch")
"""What stands before a head in parentheses and one statement."""
_BETWEEN = (b"constexpr", b"consteval", b"!")
"""Words that may stand between an ``if`` and its condition."""
_CHOOSES = (b"if", b"el", b"en")
"""How directives begin that choose what is read: those who do are asked elsewhere."""
_ANYTHING = b"#"
"""In place of a word, where an included file may begin with any."""


class _UnclearError(Exception):
    """It is not certain where the statement ends."""


def end_of(code: bytes, at: int, macros: Collection[str] = ()) -> int | None:
    r"""Where the statement ends that begins at ``at``; None if that is not certain.

    Args:
        code: C++ in which our own pragmas are blanks.
        at: where it begins.
        macros: words that may stand for anything.

    >>> end_of(b"if (a) if (b) c(); else d(); e();", 0)
    28
    >>> end_of(b"switch (a) case 0: b(); c();", 0)
    23
    >>> end_of(b"if (a) b(); OTHERWISE c();", 0, ["OTHERWISE"])
    """
    try:
        return _Reader(code, at, macros).statement()
    except _UnclearError:
        return None


class _Reader:
    """Reads tokens; ``word`` is the next one, empty where no code follows, as far as is known."""

    def __init__(self, code: bytes, at: int, macros: Collection[str]):
        self._code, self._macros = code, macros
        self.word, self._at = b"", at
        self._next()

    def statement(self) -> int:
        """Read a statement; where it ends."""
        waiting: list[bytes] = []  # for an else, or for the condition of a loop
        while True:
            if self.word in (b"if", b"do"):
                waiting.append(self.word)
            if self._is_before_another():
                continue
            end = self._block() if self.word == b"{" else self._through(b";")
            while waiting:
                if waiting.pop() == b"do":
                    self._next()
                    self._block()
                    end = self._through(b";")
                elif self._is_else():
                    self._next()
                    break
            else:
                return end

    def _is_before_another(self) -> bool:
        """Whether what stands before a statement, as its head or label, was read."""
        word = self.word
        if word == b"do":
            self._next()
        elif word in _LOOPS or word == b"if":
            self._next()
            while word == b"if" and self.word in _BETWEEN:
                self._next()
            if self.word == b"(":
                self._block()
        elif word == b"[" and self._code[self._at : self._at + 1] == b"[":
            self._block()
        elif word in (b"case", b"default") or self._is_label():
            self._through(b":")
        else:
            return False
        return True

    def _is_label(self) -> bool:
        is_word = self.word.isalnum() or b"_" in self.word
        return is_word and _COLON.match(self._code, self._at) is not None

    def _is_else(self) -> bool:
        """Whether the statement goes on with an ``else``."""
        if self.word == _ANYTHING or self.word.decode(errors="replace") in self._macros:
            raise _UnclearError
        return self.word == b"else"

    def _through(self, last: bytes) -> int:
        """Read up to a sign that is in no brackets; a ``?`` has a colon of its own."""
        choices = 0
        while self.word != last or (last == b":" and choices):
            choices += (self.word == b"?") - (self.word == b":")
            if self.word in _CLOSES:
                self._block()
            elif self.word in (b"", _ANYTHING, *_CLOSES.values()):
                raise _UnclearError
            else:
                self._next()
        return self._next()

    def _block(self) -> int:
        """Read what stands in brackets; where they close."""
        closing: list[bytes] = []
        while True:
            if self.word in _CLOSES:
                closing.append(_CLOSES[self.word])
            elif self.word in _CLOSES.values():
                if not closing or closing.pop() != self.word:
                    raise _UnclearError
            elif self.word in (b"", _ANYTHING):
                raise _UnclearError
            end = self._next()
            if not closing:
                return end

    def _next(self) -> int:
        """Go on to the next token; where the last one ended."""
        end = self._at
        while found := _TOKEN.search(self._code, self._at):
            self._at = found.end()
            self.word = _SPLICE.sub(b"", found[0])
            if self.word == b"_Pragma":
                self._next()
                self._block()
                return end
            if self.word == b"#" and self._follow():
                return end
            if self.word and not self.word.startswith((b"#", b"//", b"/*")):
                return end
        self.word = b""
        return end

    def _follow(self) -> bool:
        """Go on behind a directive; whether nothing is known of what follows it."""
        directive = _DIRECTIVE.match(self._code, self._at)
        name = directive[1] if directive else b""
        if name == b"include" or name.startswith(_CHOOSES):
            self.word = _ANYTHING if name == b"include" else b""
            return True
        line = _LINE.match(self._code, self._at)
        self._at = line.end() if line else len(self._code)
        return False
