"""Small kernels for the emulator's tests."""

from __future__ import annotations

import functools
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from ccc.emulator import Module
from ccc.ptx.types import TYPES

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"

NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="there is no nvcc")


@functools.cache
def compiled(source: str, *options: str) -> str:
    """The PTX that nvcc makes of CUDA source text."""
    assert NVCC is not None
    command = [NVCC, "-ptx", "-x", "cu", "-", "-o", "-", "-arch=sm_80", *options]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def cuda(source: str, *options: str) -> Module:
    """CUDA source text on the emulator."""
    return Module(compiled(source, *options))


def ptx(body: str, parameters: int = 1, module: str = "") -> Module:
    """A kernel ``k`` with ``parameters`` pointers, loaded into ``%p0, %p1, ...``.

    It has registers ``%r<50>`` (b32), ``%x<50>`` (b64), ``%h<50>`` (b16) and ``%q<50>``
    (predicates); ``%r0`` is ``%tid.x`` and ``%x0`` four times that.
    """
    declared = ",\n".join(f".param .u64 k_{i}" for i in range(parameters))
    loads = "\n".join(f"ld.param.u64 %p{i}, [k_{i}];" for i in range(parameters))
    return Module(
        f"""{HEADER}{module}
.visible .entry k({declared})
{{
.reg .b32 %r<50>; .reg .b64 %x<50>; .reg .b16 %h<50>; .reg .pred %q<50>; .reg .b64 %p<9>;
{loads}
mov.u32 %r0, %tid.x;
mul.wide.u32 %x0, %r0, 4;
{body}
ret;
}}
""",
        step_limit=200_000,
    )


def run(module: Module, *arguments: Any, threads: int = 32, blocks: int = 1, **options: Any) -> Any:
    """Launch the kernel ``k`` of a module."""
    return module.get_function("k")((blocks,), (threads,), arguments, **options)


def evaluate(
    instruction: str, sources: dict[str, list[Any]], results: dict[str, str], guard: str = ""
) -> list[list[Any]]:
    """Run one instruction once for each element of its operands.

    Args:
        instruction: with ``{name}`` for the registers of operands and results.
        sources: values by ``name_type``: ``{"a_u32": [1, 2]}``; predicates are 0 or 1.
        results: types by name.
        guard: a setup instruction placed before it.

    Returns:
        For each result its values; of floats the bits.
    """
    count = len(next(iter(sources.values()))) if sources else 1
    lines, names, arguments, declared = [], {}, [], []
    for position, (key, values) in enumerate(sources.items()):
        name, type_name = key.rsplit("_", 1)
        bits = max(TYPES[type_name].bits, 8) if type_name != "pred" else 32
        data = np.array([int(v) & ((1 << bits) - 1) for v in values], f"u{bits // 8}")
        register = f"%in_{name}"
        names[name] = register
        storage = "b16" if bits == 8 else f"b{bits}"
        declared.append(f".reg .{storage} {register}_raw;")
        lines.append(_address(position, bits // 8))
        lines.append(f"ld.global.b{bits} {register}_raw, [%at];")
        if type_name == "pred":
            declared.append(f".reg .pred {register};")
            lines.append(f"setp.ne.u32 {register}, {register}_raw, 0;")
        else:
            names[name] = f"{register}_raw"
        arguments.append(data)
    outputs = []
    after = []
    for name, type_name in results.items():
        bits = TYPES[type_name].bits if type_name != "pred" else 32
        register = f"%out_{name}"
        names[name] = register
        declared.append(f".reg .{type_name if type_name == 'pred' else f'b{bits}'} {register};")
        output = np.zeros(count, f"u{bits // 8}")
        after.append(_address(len(arguments), bits // 8))
        stored = register
        if type_name == "pred":
            declared.append(f".reg .b32 {register}_raw;")
            after.append(f"selp.u32 {register}_raw, 1, 0, {register};")
            stored = f"{register}_raw"
        after.append(f"st.global.b{bits} [%at], {stored};")
        arguments.append(output)
        outputs.append(output)
    parameters = ", ".join(f".param .u64 k_{i}" for i in range(len(arguments)))
    text = f"""{HEADER}.visible .entry k({parameters}, .param .u32 n)
{{
.reg .b64 %at, %wide; .reg .b32 %i, %n, %size, %block; .reg .pred %end;
{" ".join(declared)}
mov.u32 %i, %tid.x; mov.u32 %size, %ntid.x; mov.u32 %block, %ctaid.x;
mad.lo.u32 %i, %block, %size, %i;
ld.param.u32 %n, [n];
setp.ge.u32 %end, %i, %n;
@%end bra done;
{chr(10).join(lines)}
{guard}
{instruction.format(**names)};
{chr(10).join(after)}
done: ret;
}}
"""
    kernel = Module(text).get_function("k")
    kernel((-(-count // 256),), (256,), (*arguments, np.uint32(count)))
    return [output.tolist() for output in outputs]


def _address(parameter: int, size: int) -> str:
    return (
        f"ld.param.u64 %at, [k_{parameter}]; "
        f"mul.wide.u32 %wide, %i, {size}; add.u64 %at, %at, %wide;"
    )


def signed(value: int, bits: int) -> int:
    """The value of a bit pattern in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
