"""Modules of PTX with a kernel for each form.

Thread k reads the k-th entry of each operand, runs the instruction and writes the k-th entry of
each result; an entry is 64 bits, of 128-bit types two of them lie in two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ccc.tools.agree.case import RESULTS, SOURCES, Case
from ccc.tools.agree.operands import bits_of, count_of

BLOCK = 128
SCRATCH = 32
"""Bytes of global memory that a thread has to itself."""

HEAD = """\
.version {version}
.target {arch}
.address_size 64
"""

KERNEL = """\
.visible .entry {name}(.param .u64 out, .param .u64 in, .param .u64 scratch{image}){directives}
{{
.local .align 32 .b8 spot[32];
.reg .b32 %thread, %block, %at, %lane, %t;
.reg .b64 %o, %i, %m, %x;
.reg .pred %g;
{registers}
mov.u32 %thread, %tid.x;
mov.u32 %block, %ctaid.x;
mov.u32 %lane, %laneid;
mad.lo.u32 %at, %block, {threads}, %thread;
ld.param.u64 %o, [out];
ld.param.u64 %i, [in];
ld.param.u64 %m, [scratch];
mad.wide.u32 %o, %at, 8, %o;
mad.wide.u32 %i, %at, 8, %i;
mad.wide.u32 %m, %at, {scratch}, %m;
{loads}
{handle}{body}
{stores}
ret;
}}
"""


def width(kind: str) -> int:
    """Bits of the register of an operand; a byte lies in one of 16, a predicate in one of 1."""
    return 1 if kind in ("pred", "votes") else max(bits_of(kind), 16)


def columns(kinds: Sequence[str]) -> int:
    """How many 64-bit entries a thread has of values of these kinds."""
    return sum(2 if width(kind) == 128 else 1 for kind in kinds)


def module(cases: Sequence[Case], arch: str, version: str) -> str:
    """One module with the kernels ``form0``, ``form1``, and so on."""
    kernels = [kernel(case, f"form{number}") for number, case in enumerate(cases)]
    declared = "".join(dict.fromkeys(case.declarations for case in cases))
    return HEAD.format(version=version, arch=arch) + declared + "\n".join(kernels)


def kernel(case: Case, name: str) -> str:
    """The kernel of a form."""
    pitch = 8 * count_of(case.sources)
    registers = [
        f".reg .{'pred' if width(kind) == 1 else f'b{width(kind)}'} %{name};"
        for names, kinds in ((SOURCES, case.sources), (RESULTS, case.results))
        for name, kind in zip(names, kinds, strict=False)
    ]
    loads = _moves(SOURCES, case.sources, pitch, _load)
    stores = _moves(RESULTS, case.results, pitch, _store)
    image = ", .param .u64 image" if case.image else ""
    handle = ".reg .b64 %image;\nld.param.u64 %image, [image];\n" if case.image else ""
    return KERNEL.format(
        name=name, image=image, directives=case.directives, handle=handle,
        registers="\n".join(registers), threads=BLOCK, scratch=SCRATCH,
        loads="\n".join(loads), body=case.body, stores="\n".join(stores),
    )  # fmt: skip


def _moves(
    names: Sequence[str],
    kinds: Sequence[str],
    pitch: int,
    move: Callable[[str, int, int, int], str],
) -> Iterator[str]:
    column = 0
    for name, kind in zip(names, kinds, strict=False):
        yield move(f"%{name}", width(kind), column * pitch, pitch)
        column += 2 if width(kind) == 128 else 1


def _load(register: str, bits: int, offset: int, pitch: int) -> str:
    if bits == 1:
        return f"ld.global.b32 %t, [%i+{offset}];\nsetp.ne.u32 {register}, %t, 0;"
    if bits == 128:
        parts = f"ld.global.b64 %x, [%i+{offset}];\nld.global.b64 %y, [%i+{offset + pitch}];"
        return f"{{\n.reg .b64 %y;\n{parts}\nmov.b128 {register}, {{%x, %y}};\n}}"
    return f"ld.global.b{bits} {register}, [%i+{offset}];"


def _store(register: str, bits: int, offset: int, pitch: int) -> str:
    if bits == 1:
        return f"selp.b32 %t, 1, 0, {register};\nst.global.b32 [%o+{offset}], %t;"
    if bits == 128:
        parts = f"st.global.b64 [%o+{offset}], %x;\nst.global.b64 [%o+{offset + pitch}], %y;"
        return f"{{\n.reg .b64 %y;\nmov.b128 {{%x, %y}}, {register};\n{parts}\n}}"
    return f"st.global.b{bits} [%o+{offset}], {register};"
