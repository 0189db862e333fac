"""Markers that stand in arms: reads of variables that nobody writes.

A comment in ``asm volatile`` may, to nvcc, do anything to memory, so that what was read before it
is read again behind it. Arms are where that matters: the iteration around them has read what they
use. A volatile read of a variable that is used for nothing else is kept as well, and leaves memory
alone. A sign stands before the name, since what only names a variable is no read before C++11. The
variable is in shared memory, of which the host's side is told nothing, and its name is the marker.
What the compiler makes of it becomes the usual comment, so that nothing is left of the variable.
"""

from __future__ import annotations

import re

from ccc.errors import CccError

_PREFIX = "ccc_marker_"
_MARKER = rf"{_PREFIX}\d*([a-z]+_20\d+_20(?:[A-Za-z0-9]|_[0-9A-F]{{2}})+)"
_NAME = rf"\w*?{_MARKER}"  # with -rdc=true something stands before the name of what is static
_VARIABLE = re.compile(_MARKER)
_SYMBOL = re.compile(_NAME)
_READ = re.compile(rf"^([ \t]*)ld\.volatile\.shared\.\w+[ \t]+%\w+, \[{_NAME}\];", re.MULTILINE)
_FAR_READ = re.compile(r"([ \t]*)ld\.volatile(?:\.shared)?\.\w+[ \t]+%\w+, \[(%\w+)\];")
_COPY = re.compile(r"[ \t]*(?:mov|cvt|cvta)(?:\.\w+)+[ \t]+(%\w+), ([%\w]+);")
_ZEROED = re.compile(r"(mov|cvt|cvta)(?:\.[a-z]+)*?\.([bsu]\d+)(?:\.\w+)*[ \t]+(%\w+), [%\w]+;")
"""What copies an address of a variable becomes a number, so that no memory is named."""
_DECLARED = re.compile(
    rf"^[ \t]*\.shared [^\n;]*\b{_NAME};\n|^// {_NAME} has been demoted\n", re.MULTILINE
)
_FUNCTION = re.compile(r"(?:\.\w+[ \t]+)*\.(?:func|entry)\b")
_REGISTER = re.compile(r"%\w+")
_REGISTER_OF_SCOPE = re.compile(r"[ \t]*\{ \.reg \.\w+ (%\w+);")
_TOLD = re.compile(rf"\.b64 {_NAME}$", re.MULTILINE)  # for the debugger
_DIRECTIVE = re.compile(r"[ \t]*(?:/\*(?:[^*]|\*(?!/))*\*/[ \t]*)*(?:#|%:|\\\n)")
_LINE_MARKER = re.compile(r"# \d[^\n]*\n")


def statement(comment: str, number: int | None = None) -> str:
    """The CUDA statement that puts a marker, given as a PTX comment, into the PTX.

    Where all ways of a branch begin with the same read, compilers read before the branch; so those
    that have one comment in common have a ``number`` each.

    >>> statement("// ccc.then 3 a.cu:7"), statement("// ccc.case 3 a.cu:7", 2)
    ('(void)+ccc_marker_then_203_20a_2Ecu_3A7;', '(void)+ccc_marker_2case_203_20a_2Ecu_3A7;')
    """
    return f"(void)+{_PREFIX}{'' if number is None else number}{name_of(comment)};"


def name_of(comment: str) -> str:
    """A part of a name that tells a marker, given as a PTX comment."""
    return re.sub(r"[^A-Za-z0-9]", lambda m: f"_{ord(m[0]):02X}", comment.removeprefix("// ccc."))


def declare(text: str, more: str = "") -> str:
    """Marked CUDA with the variables that it reads, and ``more``; lines count as before.

    Preprocessed text names its file first; what stands before that would, to the compiler, be in
    another one, and all of the source in a header.

    >>> declare("void f() { (void)ccc_marker_then_203_20k; }")[:57]
    'static __attribute__((shared)) volatile char ccc_marker_t'
    """
    names = dict.fromkeys(match[0] for match in _VARIABLE.finditer(text))
    if not names and not more:
        return text
    lines = "".join(f"static __attribute__((shared)) volatile char {name}; " for name in names)
    lines += more
    if file := _LINE_MARKER.match(text):
        return f"{file[0]}{lines}\n{text}"
    if _DIRECTIVE.match(text):  # must begin its line
        lines += "\n#line 1\n"
    return lines + text


def as_comments(ptx: str) -> str:
    """PTX with comments in place of the reads, and without the variables.

    Raises:
        CccError: a variable is used for something that is not known.
    """
    if _PREFIX not in ptx:
        return ptx
    ptx = _READ.sub(lambda m: f"{m[1]}{comment_of(m[2])}", ptx)
    ptx = _DECLARED.sub("", ptx)
    ptx = _followed(ptx) if _PREFIX in ptx else ptx
    if _PREFIX in ptx and (left := _SYMBOL.search(ptx)):
        raise _unknown_use(left[1], ptx[ptx.rfind("\n", 0, left.start()) + 1 :].split("\n")[0])
    return ptx


def comment_of(name: str) -> str:
    """The marker that a part of a name tells, as a PTX comment."""
    return "// ccc." + re.sub("_([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), name)


def _unknown_use(marker: str, line: str) -> CccError:
    return CccError(
        f'the compiler makes "{line.strip()}" of the marker "{comment_of(marker)}", which is not '
        "understood; remove that annotation, or give --ccc-off"
    )


def _followed(ptx: str) -> str:
    """The same where addresses are taken first, as in code that is not optimized, and in functions
    that are called; what took one takes a number that nobody uses."""
    held: dict[str, str] = {}
    lines = []
    for line in _TOLD.sub(".b64 0", ptx).split("\n"):
        made = line
        if _FUNCTION.match(line):  # registers are its own; assembly may hold braces
            held.clear()
        elif declared := _REGISTER_OF_SCOPE.match(line):
            held.pop(declared[1], None)
        elif copy := _COPY.match(line):
            target, source = copy.groups()
            variable = _SYMBOL.fullmatch(source)
            marker = variable[1] if variable else held.get(source, "")
            if (before := held.get(target)) and before != marker:  # either, where two ways join
                raise _unknown_use(before, line)
            held[target] = marker
            made = _ZEROED.sub(r"mov.\2 \3, 0;", line) if marker else line
        elif (read := _FAR_READ.match(line)) and (marker := held.get(read[2], "")):
            made = f"{read[1]}{comment_of(marker)}"
        elif used := next(filter(None, map(held.get, _REGISTER.findall(line))), None):
            raise _unknown_use(used, line)
        lines.append(made)
    return "\n".join(lines)
