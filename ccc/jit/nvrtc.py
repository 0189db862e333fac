"""Annotated CUDA to transformed PTX with NVRTC, which needs no toolkit.

NVRTC preprocesses and compiles in one step, so that annotations are sought in the text as the user
wrote it. What that cannot follow, in a macro, a header or behind a macro that may hide where a
statement ends, is an error; NVRTC itself tells of pragmas that were not found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ccc.compiler import unit
from ccc.compiler.said import DevicePass
from ccc.compiler.unit import LTO_REFUSED
from ccc.device import gpu
from ccc.errors import BuildError, CccError, Span, render
from ccc.frontend import headers
from ccc.frontend import marking as source
from ccc.frontend.headers import definitions, together
from ccc.frontend.no_code import NO_CODE, in_directives
from ccc.jit.job import UNNAMED, CompileJob
from ccc.nvcc import run as nvcc

_SILENCE = ("-w", "--disable-warnings")
_LINES = {"-lineinfo", "--generate-line-info", "-G", "--device-debug"}
_FOR_PTXAS = re.compile(r"--?(maxrregcount|ptxas-options|Xptxas)\b")
_UNKNOWN_PRAGMA = re.compile(r"^(.+)\((\d+)\): warning #161-D:[^\n]*\n([^\n]*)", re.MULTILINE)
_PRAGMA = re.compile(r"#\s*pragma\b")
_ANNOTATION = re.compile(r"\bccc\s+[a-z]")
_HIDING = (
    rb"\bnv_diag_(?:suppress|remark)\b",
    rb"\b161(?!\d)|\bunrecognized_pragma\b",
    _ANNOTATION.pattern.encode(),
)
"""What there is, in one text or another, where a pragma may hide an annotation."""
_NO_CODE = re.compile(NO_CODE.decode(), re.DOTALL | re.VERBOSE)
_NOWHERE = f"/dev/null/{UNNAMED}"
"""A file in no folder: as for CuPy, headers are not sought in the working folder."""
_NOT_READ = (
    "NVRTC compiles text that no preprocessor has read, so annotations are found in the source "
    'itself and not in a macro or an included file; write "#pragma ccc" into the source, '
    'or take backend="nvcc"'
)
_SILENCED = (
    "a pragma (nv_diag_suppress 161) keeps NVRTC from telling of annotations in macros and "
    'included files, and there is one; remove that pragma, or take backend="nvcc"'
)


def translate(job: CompileJob) -> tuple[str, dict[str, str], nvcc.Outcome]:
    """The PTX, the mangled names by those asked for, and what there is to say.

    Raises:
        CccError: no NVRTC, an error in the source, or an annotation that cannot be followed.
    """
    included = list(job.headers.values())
    macros = list(definitions([job.text, *included], job.options))
    done = DevicePass((job.shown, f"compute_{job.arch}"))
    names: dict[str, str] = {}
    log = ""

    def compiler(marked: str, again: bool) -> str:
        nonlocal log
        shown = json.dumps(job.shown, ensure_ascii=False)
        text = f"{job.prologue}#line 1 {shown}\n{marked}"
        if not job.ours.plain:
            _refuse_silence([marked, *included, *(text for _, text in macros)], job.shown)
        if marked != job.text and not job.ours.plain:
            _refuse_halves(job.text, macros, job.shown)
        name = job.path or _NOWHERE
        ptx, found, said = gpu.nvrtc(text, name, tuple(_told(job)), job.names)
        if not ptx:
            raise CccError(LTO_REFUSED)
        if not job.ours.plain:
            _refuse_unread(said, [text for _, text in macros])
        names.update(found)
        log = log if again else said
        return ptx

    try:
        if job.ours.plain:
            ptx = compiler(source.strip(job.text), False)
        else:
            ptx = unit.translate(
                source.Annotated(job.text, job.shown, together(macros)),
                compiler,
                job.ours,
                done,
                keeps_lines=not _LINES.isdisjoint(job.options),
            )
    except CccError as error:
        if not done.diagnostics:
            raise
        raise BuildError("\n".join([*done.diagnostics, str(error)])) from None
    done.diagnostics += _without_ptxas(job)
    silent = any(option in _SILENCE for option in job.options)
    return ptx, names, replace(nvcc.merge([done], 0), stderr="" if silent else log)


def _told(job: CompileJob) -> Iterator[str]:
    """The options for NVRTC; warnings of unknown pragmas stay, since they show what was missed."""
    yield f"-arch=compute_{job.arch}"
    yield from (option for option in job.options if option not in _SILENCE)
    yield "--diag-warn=161"
    if not job.ours.plain and _LINES.isdisjoint(job.options):
        yield "--generate-line-info"  # for what there is to say of the code


def _refuse_halves(written: str, macros: Iterable[tuple[str, str]], shown: str) -> None:
    """Raise where a macro may end a statement that does not look like it, of those that a source
    may use: headers have others for themselves, as to begin a namespace by."""
    macros = list(macros)
    used = headers.used(written, together(macros))
    for name, text in (one for one in macros if one[0] in used):
        code = _NO_CODE.sub("", text)
        if any(
            code.count(opening) != code.count(closing) for opening, closing in ("()", "[]", "{}")
        ):
            raise CccError(
                f'the macro "{name}" holds one of two brackets, so that where annotated statements '
                'end is known only to a preprocessor; take backend="nvcc", which runs one',
                Span(shown),
            )


def _refuse_silence(texts: Iterable[str], shown: str) -> None:
    """Raise where NVRTC may be kept from telling of an annotation that was not marked."""
    codes = [in_directives(text.encode(errors="surrogateescape")) for text in texts]
    if all(any(re.search(word, code) for code in codes) for word in _HIDING):
        raise CccError(_SILENCED, Span(shown))


def _refuse_unread(log: str, macros: Iterable[str]) -> None:
    """Raise where NVRTC met an annotation that was not marked: it says so of unknown pragmas."""
    for file, line, shown in _UNKNOWN_PRAGMA.findall(log):
        # What it shows is the pragma, or the use of the macro that it comes out of.
        places = [shown] if _PRAGMA.search(shown) else [shown, *macros]
        if any(map(_ANNOTATION.search, places)):
            raise CccError(_NOT_READ, Span(file, int(line)), shown.strip())


def _without_ptxas(job: CompileJob) -> list[str]:
    reason = 'has no effect: the driver assembles what NVRTC makes; take backend="nvcc" for it'
    return [
        render("warning", f"{option} {reason}", Span(job.shown, 1))
        for option in job.options
        if _FOR_PTXAS.match(option)
    ]
