"""Small kernels for the emulator's tests."""

from __future__ import annotations

import functools
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from remembered import included, remembered

from ccc.emulator import Module
from ccc.ptx.types import TYPES

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"

ON_BOTH = [
    pytest.mark.usefixtures("runs_on"),
    pytest.mark.parametrize("runs_on", ["numpy", "native"], indirect=True),
]
"""For files whose launches run on NumPy and in C; single operations are compared in test_native."""

NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="there is no nvcc")


@functools.cache
def compiled(source: str, *options: str) -> str:
    """The PTX that nvcc makes of CUDA source text, of which it does not warn."""
    assert NVCC is not None
    command = [NVCC, "-ptx", "-x", "cu", "-", "-o", "-", "-arch=sm_80", *options]

    def make() -> tuple[int, str, str]:
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    code, made, said = remembered([*command, source], make, included())
    assert (code, said) == (0, "")
    return made


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
    wires = _Wires()
    for key, values in sources.items():
        name, type_name = key.rsplit("_", 1)
        wires.load(name, type_name, values)
    outputs = [wires.store(name, type_name, count) for name, type_name in results.items()]
    kernel = Module(wires.kernel(guard, instruction)).get_function("k")
    kernel((-(-count // 256),), (256,), (*wires.arrays, np.uint32(count)))
    return [output.tolist() for output in outputs]


@dataclass
class _Wires:
    """Registers by name, each with an array that its values come from, or go to."""

    names: dict[str, str] = field(default_factory=dict)
    arrays: list[np.ndarray] = field(default_factory=list)
    declared: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    def load(self, name: str, type_name: str, values: list[Any]) -> None:
        """Read a register; of bytes, the low half of one with 16 bits."""
        bits = 32 if type_name == "pred" else max(TYPES[type_name].bits, 8)
        memory = self._declare(name, f"in_{name}", type_name, max(bits, 16))
        self.before += [self._address(bits // 8), f"ld.global.b{bits} {memory}, [%at];"]
        if type_name == "pred":
            self.before.append(f"setp.ne.u32 {self.names[name]}, {memory}, 0;")
        self.arrays.append(np.array([int(v) & ((1 << bits) - 1) for v in values], f"u{bits // 8}"))

    def store(self, name: str, type_name: str, count: int) -> np.ndarray:
        """Write a register."""
        bits = 32 if type_name == "pred" else TYPES[type_name].bits
        memory = self._declare(name, f"out_{name}", type_name, bits)
        if type_name == "pred":
            self.after.append(f"selp.u32 {memory}, 1, 0, {self.names[name]};")
        self.after += [self._address(bits // 8), f"st.global.b{bits} [%at], {memory};"]
        self.arrays.append(np.zeros(count, f"u{bits // 8}"))
        return self.arrays[-1]

    def _declare(self, name: str, register: str, type_name: str, bits: int) -> str:
        """Its register; returns the one that memory takes, another one for a predicate."""
        self.names[name] = f"%{register}"
        memory = f"%{register}_raw" if type_name == "pred" else f"%{register}"
        self.declared.append(f".reg .b{bits} {memory};")
        if type_name == "pred":
            self.declared.append(f".reg .pred %{register};")
        return memory

    def _address(self, size: int) -> str:
        """Where the next array has a thread's element."""
        return (
            f"ld.param.u64 %at, [k_{len(self.arrays)}]; "
            f"mul.wide.u32 %wide, %i, {size}; add.u64 %at, %at, %wide;"
        )

    def kernel(self, guard: str, instruction: str) -> str:
        """The PTX with an instruction between loads and stores."""
        parameters = ", ".join(f".param .u64 k_{i}" for i in range(len(self.arrays)))
        lines = [*self.before, guard, f"{instruction.format(**self.names)};", *self.after]
        return f"""{HEADER}.visible .entry k({parameters}, .param .u32 n)
{{
.reg .b64 %at, %wide; .reg .b32 %i, %n, %size, %block; .reg .pred %end;
{" ".join(self.declared)}
mov.u32 %i, %tid.x; mov.u32 %size, %ntid.x; mov.u32 %block, %ctaid.x;
mad.lo.u32 %i, %block, %size, %i;
ld.param.u32 %n, [n];
setp.ge.u32 %end, %i, %n;
@%end bra done;
{chr(10).join(lines)}
done: ret;
}}
"""


def signed(value: int, bits: int) -> int:
    """The value of a bit pattern in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
