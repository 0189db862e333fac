"""``agreement.md``: the table of what the emulator and a GPU agree on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ccc.tools.agree.bounds import ABSOLUTE, RELATIVE, ULP
from ccc.tools.agree.record import Agreement, row_of
from ccc.tools.agree.running import DIFFERS, EQUAL, LEFT_OUT, REFUSED, WITHIN, FormVerdict

HEAD = """\
# How exact the emulator is

<!-- Made by `ccc agree`; `python docs/pages.py` writes it anew from agreement.json. -->

Each *form* of an instruction, that is its opcode with types and modifiers, was run on a GPU and
on the emulator: a kernel of that one instruction, with other operands in each thread. Operands
are the edges of each type (zeros, subnormal and largest numbers, infinities, NaNs with payloads,
powers of two and their neighbours, the limits of conversions), their combinations, and random
bits; all values, where there is a single operand of 16 bits. *Equal* forms gave the same bits for
all operands. Approximate ones lie *within* the error that the PTX ISA states, on both; the
largest one on the GPU is shown, and where the ISA states none it is only shown. Where the ISA
leaves a result open, what the GPU gave counts. (`tanh.approx.bf16` misses its 2^-8 by a
ten-thousandth of that for two operands, +-0.74609375, which is let pass.)

A form of a texture is its opcode with all that the texture was made with: elements, memory, filter,
addressing, coordinates; operands are coordinates at the borders and centres of elements, between
them, beyond the image, and no numbers. How hardware rounds them and what it interpolates is
documented nowhere (the CUDA guide says: weights have eight bits behind the point), and is told in
[emulator.md](emulator.md#textures). Surfaces that are written are compared when the kernel has
ended.

    {command}

{device}, {date}; PTX {ptx}, {ptxas}; {seconds:.0f} s.
"""

COMMAND = "ccc agree --out docs/agreement.json"

TABLE = """\
| instruction | forms | operands | equal | within | differing | not emulated | largest error |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
"""

LIMITS = """\
## What the ISA allows

The errors of approximate forms are judged by these sections of the PTX ISA 9.0.

| instruction | section | largest error |
| --- | --- | --- |
| `div.approx.f32`, `div.full.f32` | 9.7.3.8 | 2 ulp; of `.approx`, for divisors in 2^(+-126) |
| `rcp.approx.f32` | 9.7.3.13 | 1 ulp |
| `rcp.approx.ftz.f64` | 9.7.3.14 | none is stated |
| `sqrt.approx.f32` | 9.7.3.15 | 2^-23 of the result |
| `rsqrt.approx.f32`; `.f64` | 9.7.3.16 | 2^-22.9 of the result; none is stated |
| `rsqrt.approx.ftz.f64` | 9.7.3.17 | none is stated |
| `sin.approx.f32`, `cos.approx.f32` | 9.7.3.18, .19 | 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi |
| `lg2.approx.f32` | 9.7.3.20 | 2^-22 between 0.5 and 2, elsewhere 2^-22 of the result |
| `ex2.approx.f32` | 9.7.3.21 | 2 ulp from the correctly rounded result |
| `tanh.approx.f32` | 9.7.3.22 | 2^-11 of the result |
| `tanh.approx.f16`; `.bf16` | 9.7.4.9 | 2^-10.987; 2^-8 |
| `ex2.approx.f16`; `.bf16` | 9.7.4.10 | 2^-9.9 of the result; 2^-7 of the result |
"""

AGAIN = """\
## Without a GPU

The record of that run, [agreement.json](agreement.json), holds a fingerprint of what the GPU gave
for each form. `ccc agree --device emulator --against docs/agreement.json` compares the emulator
with it, with `--only REGEX` some forms of it; so do the tests.
"""


def page(record: Agreement) -> str:
    """The page of a record."""
    setting = record.setting
    device = setting.get("device") or {}
    head = HEAD.format(
        command=COMMAND, device=device.get("gpu", "The emulator alone"), date=setting["date"],
        ptx=setting["ptx"], ptxas=setting["ptxas"], seconds=setting["seconds"],
    )  # fmt: skip
    return "\n".join([head, *_all(record.verdicts), *_sections(record.verdicts), LIMITS, AGAIN])


def _all(verdicts: list[FormVerdict]) -> Iterator[str]:
    there = [one for one in verdicts if one.status != REFUSED]
    refused = len(verdicts) - len(there)
    yield TABLE + _line("**all**", there)
    if refused:
        yield (
            f"{refused} more combinations of modifiers were tried that ptxas does not take: they "
            "are no forms of this target."
        )
        yield ""


def _sections(verdicts: list[FormVerdict]) -> Iterator[str]:
    groups: dict[str, dict[str, list[FormVerdict]]] = {}
    for one in verdicts:
        if one.status != REFUSED:
            groups.setdefault(one.group, {}).setdefault(row_of(one.form), []).append(one)
    for group, rows in sorted(groups.items(), key=lambda item: _place(item[0])):
        yield f"## {group}\n"
        yield TABLE + "".join(_line(f"`{name}`", forms) for name, forms in sorted(rows.items()))
        yield from _named(
            "differ", [v for row in rows.values() for v in row if v.status == DIFFERS]
        )


def _place(group: str) -> tuple[list[int], str]:
    number, _, name = group.partition(" ")
    return [int(part) for part in number.split(".")], name


def _line(name: str, forms: Iterable[FormVerdict]) -> str:
    forms = list(forms)
    count = {
        status: sum(one.status == status for one in forms)
        for status in (EQUAL, WITHIN, DIFFERS, LEFT_OUT)
    }
    tried = sum(one.operands for one in forms if one.status != LEFT_OUT)
    numbers = [len(forms), tried, *(count[s] for s in (EQUAL, WITHIN, DIFFERS, LEFT_OUT))]
    cells = [name, *(f"{number:,}" for number in numbers), _error(forms)]
    return f"| {' | '.join(cells)} |\n"


def _error(forms: list[FormVerdict]) -> str:
    if len({row_of(one.form) for one in forms}) > 1:
        return ""
    worst: dict[str, float] = {}
    for one in forms:
        for measure, size in one.error.items():
            worst[measure] = max(size, worst.get(measure, 0.0))
    units = {ULP: "{:.2f} ulp", RELATIVE: "{:.1e} of the result", ABSOLUTE: "{:.1e}"}
    return ", ".join(units[measure].format(size) for measure, size in worst.items())


def _named(what: str, forms: list[FormVerdict]) -> Iterator[str]:
    """Forms by name, with an example each."""
    if not forms:
        return
    yield f"Those that {what}:\n"
    for one in forms:
        told = ""
        if one.examples:
            told = f", as `{' '.join(one.examples[0][0])}`: " + ", not ".join(
                f"`{' '.join(words)}`" for words in reversed(one.examples[0][1:])
            )
        yield f"- `{one.form}`: {one.differing:,} of {one.operands:,} operands{told}"
    yield ""
