"""Annotations -> markers.

    #pragma ccc if prob(1.0/8)
    if (hit) shade(ray);

becomes, line by line,

    <blank>
    if (hit) { (void)+ccc_marker_then_202_20k_2Ecu_3A7_3A5_20prob_3D0_2E125; shade(ray); }

Works on preprocessed text, where macros are expanded, and on a plain source file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from ccc.errors import CccError, Span
from ccc.frontend.annotations import Annotation, Annotations
from ccc.frontend.digraphs import without_digraphs
from ccc.frontend.linemap import LineMap
from ccc.frontend.marker_edits import MarkerEdits, apply
from ccc.frontend.misspelt import misspelt
from ccc.frontend.stripping import BOM, pragmas, stripped
from ccc.frontend.variables import Suspects
from ccc.ir import arm_markers, typed_markers


@dataclass(frozen=True, slots=True)
class Marked:
    """Marked text, what was marked, and warnings (to be raised or rendered).

    ``files`` are those of the user, as messages call them; ``suspects`` tells which variables a
    reason may speak of, for :mod:`ccc.compiler.blame`.
    """

    text: str
    annotations: list[Annotation] = field(default_factory=list)
    warnings: list[CccError] = field(default_factory=list)
    files: frozenset[str] = frozenset()
    suspects: Suspects | None = None


class SourceError(CccError):
    """All that is wrong with the annotations of one text."""

    def __init__(self, errors: list[CccError]):
        first = errors[0]
        super().__init__(first.message, first.span, first.source_line)
        self.errors = errors

    def __str__(self) -> str:
        return "\n".join(CccError.__str__(error) for error in self.errors)


def mark(
    text: str,
    filename: str,
    *,
    without: Collection[int] = (),
    macros: Mapping[str, str] | None = None,
    values: Collection[int] = (),
) -> Marked:
    """Put markers where the annotations of ``text`` say; lines stay where they are.

    Args:
        text: preprocessed or plain CUDA.
        filename: the file's name, where no line marker tells.
        without: annotations, by ``id``, to be left out.
        macros: the macros that plain text may use; a statement whose end they could hide is then
            an error. None where macros are expanded, or known to hide nothing.
        values: loops, by ``id``, whose iterations give what they declare without a value one; see
            ``unset.py``.

    Raises:
        SourceError: unknown words, and annotations that stand in a wrong place.
    """
    return Annotated(text, filename, macros).mark(without=without, values=values)


class Annotated:
    """A text whose annotations are read, once for several ways to mark it; arguments as of
    :func:`mark`."""

    def __init__(self, text: str, filename: str, macros: Mapping[str, str] | None = None):
        self.text = text.removeprefix(BOM)  # markers are declared before it
        self.filename = filename
        self._macros = macros

    def mark(self, *, without: Collection[int] = (), values: Collection[int] = ()) -> Marked:
        """The text with markers.

        Raises:
            SourceError: unknown words, and annotations that stand in a wrong place.
        """
        found = self._found
        if found is None:
            return Marked(self.text)
        if found.errors:
            raise SourceError(found.errors)
        writer = MarkerEdits(found)
        annotations, edits = writer.write(without)
        edits += writer.values(set(values).difference(without))
        text = apply(found.code, edits).decode(errors="surrogateescape")
        marked = arm_markers.declare(text, typed_markers.functions(text))
        files = found.lines.user_files
        warnings = [*found.misspelt, *found.warnings]
        return Marked(marked, annotations, warnings, files, found.suspects)

    def launches(self, kernels: Collection[str]) -> Iterator[tuple[str, int, Span]]:
        """The launches of some kernels, by their names without scopes, in blocks of a size that
        the text says: of which, of how many threads, and where."""
        from ccc.frontend.launches import Launches  # noqa: PLC0415 - of what is compiled

        if self._found is not None:
            for kernel, threads, at in Launches(self._found.root).of(kernels):
                yield kernel, threads, Span(*self._found.lines.line(at))

    @cached_property
    def _found(self) -> Annotations | None:
        code = self.text.encode(errors="surrogateescape")
        if next(chain(pragmas(code), misspelt(code)), None) is None:
            return None
        found = Annotations(without_digraphs(code), self.filename, self._macros)
        found.read()
        return found


def strip(text: str) -> str:
    """The text without our pragmas; lines stay where they are.

    >>> strip("#pragma ccc if\\nif (x) y();\\n")
    '\\nif (x) y();\\n'
    """
    code = text.removeprefix(BOM).encode(errors="surrogateescape")
    return stripped(code).decode(errors="surrogateescape")


def first(text: str, filename: str) -> Span | None:
    """Where the first annotation of a text stands; ``filename`` where no line marker tells."""
    code = text.encode(errors="surrogateescape")
    found = next(pragmas(code), None)
    return Span(*LineMap(code, filename).line(found.start(2))) if found else None
