"""Melding: alignment is the best there is, and melded arms do what they did."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from breadth import examples
from collecting import transform
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ccc.compiler.transform import Transformed
from ccc.emulator import Module
from ccc.passes.melding import candidates
from ccc.passes.melding.alignment import Pairs, align, align_all

Gains = list[list[float | None]]


@st.composite
def gains(draw: st.DrawFn) -> Gains:
    """What each pair gains, of two short sequences."""
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    one = st.none() | st.integers(-2, 5).map(float)
    return [[draw(one) for _ in range(columns)] for _ in range(rows)]


def every_alignment(first: int, second: int) -> Iterator[Pairs]:
    """All ways to align two sequences of these lengths."""
    if first == second == 0:
        yield []
    for i, j in ((1, 1), (1, 0), (0, 1)):
        if first >= i and second >= j:
            last = (first - 1 if i else None, second - 1 if j else None)
            yield from ([*before, last] for before in every_alignment(first - i, second - j))


def worth(pairs: Pairs, table: Gains, gap: float) -> float | None:
    """What an alignment gains; None if two stand beside one another that must not."""
    total, before = 0.0, (True, True)
    for i, j in pairs:
        here = (i is not None, j is not None)
        if i is not None and j is not None:
            pair = table[i][j]
            if pair is None:
                return None
            total += pair
        elif here != before:
            total -= gap
        before = here
    return total


@given(gains(), st.integers(0, 3).map(float), st.integers(0, 4))
def test_no_alignment_gains_more(table: Gains, gap: float, width: int) -> None:
    first, second = len(table), len(table[0]) if table else width
    best, pairs = align(first, second, lambda i, j: table[i][j], gap)
    every = (worth(one, table, gap) for one in every_alignment(first, second))
    assert best == worth(pairs, table, gap) == max(one for one in every if one is not None)


@given(st.lists(st.text("abc", max_size=5), min_size=1, max_size=4))
def test_columns_hold_the_sequences_in_order(words: list[str]) -> None:
    def gain(one: tuple[str | None, ...], other: tuple[str | None, ...]) -> float | None:
        letters = {letter for letter in (*one, *other) if letter}
        return 1.0 if len(letters) == 1 else None

    columns = align_all([list(word) for word in words], gain, 0.5)
    for number, word in enumerate(words):
        assert "".join(column[number] or "" for column in columns) == word


HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .reg .pred %p<9>;
    .reg .b32 %r<20>;
    .reg .b64 %rd<20>;
    .reg .f32 %f<9>;
    .reg .f64 %fd<9>;
    ld.param.u64 %rd8, [k_0];
    ld.param.u64 %rd9, [k_1];
    mov.u32 %r9, %tid.x;
    mul.wide.u32 %rd7, %r9, 256;
    add.s64 %rd8, %rd8, %rd7;
    add.s64 %rd9, %rd9, %rd7;
"""
REGISTERS = {
    "b32": [f"%r{n}" for n in range(4)],
    "b64": [f"%rd{n}" for n in range(3)],
    "f32": [f"%f{n}" for n in range(3)],
    "f64": [f"%fd{n}" for n in range(2)],
}
PLACES = [(kind, name) for kind, names in REGISTERS.items() for name in names]
LITERALS = {
    "b32": ["7", "-3", "0x1F", "1000"],
    "b64": ["5", "-9", "70000"],
    "f32": ["0f3F800000", "0fBE99999A", "0f40490FDB"],
    "f64": ["0d3FF0000000000000", "0dBFD3333333333333", "0d400921FB54442D18"],
}
OPCODES = {
    "b32": [
        "add.s32",
        "sub.s32",
        "mul.lo.s32",
        "and.b32",
        "or.b32",
        "xor.b32",
        "max.s32",
        "div.s32",
    ],
    "b64": ["add.s64", "sub.s64", "mul.lo.s64", "xor.b64", "rem.u64"],
    "f32": ["add.rn.f32", "mul.rn.f32", "sub.rn.f32"],
    "f64": ["add.rn.f64", "mul.rn.f64", "sub.rn.f64"],
}


class Arms:
    """Random arms of a branch, with labels of their own."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.labels = 0

    def operand(self, kind: str) -> str:
        """A register, or a literal."""
        return self.random.choice(REGISTERS[kind] * 2 + LITERALS[kind])

    def line(self) -> str:
        """An instruction."""
        kind = self.random.choice(list(REGISTERS))
        target = self.random.choice(REGISTERS[kind])
        a, b, c = (self.operand(kind) for _ in range(3))
        one = self.random.randrange(12)
        if one == 0:
            return f"mov.{kind} {target}, {a};"
        if one == 1 and kind[0] == "f":
            return f"fma.rn.{kind} {target}, {a}, {b}, {c};"
        if one == 2:
            letter = "f" if kind[0] == "f" else "s"
            register = self.random.choice(REGISTERS[kind])
            return f"setp.lt.{letter}{kind[1:]} %p{self.random.randrange(3)}, {register}, {b};"
        if one == 3:
            return f"selp.{kind} {target}, {a}, {b}, %p{self.random.randrange(3)};"
        if one == 4:
            opcode = self.random.choice(OPCODES[kind])
            register = self.random.choice(REGISTERS[kind])
            guard = f"@{self.random.choice(['', '!'])}%p{self.random.randrange(3)}"
            return f"{guard} {opcode} {target}, {register}, {b};"
        offset = 8 * self.random.randrange(8)
        if one == 5:
            return f"ld.global.{kind} {target}, [%rd{self.random.choice([8, 9])}+{offset}];"
        if one == 6:
            return f"st.global.{kind} [%rd9+{offset}], {self.operand(kind)};"
        if one == 7:
            return (
                f"shl.b32 {self.random.choice(REGISTERS['b32'])}, %r1, {self.random.randrange(9)};"
            )
        register = self.random.choice(REGISTERS[kind])
        return f"{self.random.choice(OPCODES[kind])} {target}, {register}, {b};"

    def lines(self, depth: int = 0) -> list[str]:
        """Instructions, perhaps with a branch or a loop among them."""
        found = [self.line() for _ in range(self.random.randrange(1, 9))]
        if depth < 2 and self.random.random() < 0.3:
            self.labels += 1
            label = f"IN{self.labels}"
            inside = self.lines(depth + 1)
            if self.random.random() < 0.5:
                found += [f"@%p{self.random.randrange(3)} bra {label};", *inside, f"{label}:"]
            else:
                counter = f"%r{10 + depth}"
                found += [f"mov.u32 {counter}, 3;", f"{label}:", *inside]
                found += [f"sub.u32 {counter}, {counter}, 1;"]
                found += [f"setp.ne.u32 %p4, {counter}, 0;", f"@%p4 bra {label};"]
            found += [self.line() for _ in range(3)]
        return found

    def similar(self, lines: list[str]) -> list[str]:
        """The same with some instructions left out, others put in, and other operands."""
        found = []
        for line in lines:
            chance = self.random.random()
            if ":" in line or "bra" in line or "%r1" in line[:12] or "%p4" in line:
                found.append(line.replace("IN", f"IN{self.labels}_"))
            elif chance < 0.8:
                found.append(line)
            elif chance < 0.9:
                found += [line, self.line()]
        return found

    def kernel(self) -> str:
        """A kernel with these arms."""
        count, straight = self.random.randrange(2, 5), self.random.randrange(2)
        arms = [self.lines()]
        while len(arms) < count:
            self.labels += 1
            arms.append(self.similar(arms[0]) if self.random.random() < 0.7 else self.lines())
        body = []
        for number, (kind, name) in enumerate(PLACES):
            body.append(f"ld.global.{kind} {name}, [%rd8+{number * 8 % 64}];")
        body += [f"setp.lt.s32 %p{n}, %r{n}, {100 * n};" for n in range(3)]
        body.append(f"rem.u32 %r8, %r9, {count};")
        for number in range(count - 1):
            predicate = f"%p{5 + number * straight}"
            body += [f"setp.eq.u32 {predicate}, %r8, {number};", f"@{predicate} bra ARM{number};"]
        for number in (count - 1, *range(count - 1)):
            body += [f"ARM{number}:", "// ccc.case 1 k.cu:1:1 strategy=meld", *arms[number]]
            body.append("bra JOIN;")
        body += ["JOIN:", "xor.b32 %r8, %r0, %r1;"]
        for number, (kind, name) in enumerate(PLACES):
            body.append(f"st.global.{kind} [%rd9+{64 + number * 8}], {name};")
        return HEAD + "\n".join(body) + "\nret;\n}\n"


def memory(ptx: str, schedule: str | int = "lockstep") -> np.ndarray:
    """What a kernel leaves in memory."""
    given = np.random.default_rng(0).integers(0, 2**31, 64 * 64, dtype=np.uint32)
    found = np.zeros(64 * 64, dtype=np.uint32)
    Module(ptx).get_function("k")((1,), (64,), (given, found), schedule=schedule)
    return found


def melded(ptx: str, monkeypatch: pytest.MonkeyPatch, share: float, keeps: bool) -> Transformed:
    """The kernel with its arms melded, even if nothing is gained, and perhaps kept."""
    price = candidates._price
    monkeypatch.setattr(candidates, "_price", lambda *args: price(*args) - 10**6)
    monkeypatch.setattr(candidates, "MELD_SHARES", (share,))
    monkeypatch.setattr(candidates, "MELD_AGREE", -(10**9) if keeps else 10**9)
    result = transform(ptx)
    (kernel,) = result.report["kernels"]
    (outcome,) = {(path["strategy"], path["reason"]) for path in kernel["paths"]}
    assume("no instruction of one of its arms is in another, too" not in str(outcome[1]))
    assert outcome == ("meld", None)
    return result


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("keeps", [False, True], ids=["alone", "kept"])
@examples(3, 30)
@given(seed=st.integers(0, 10**6))
@example(seed=5005)  # a piece writes what the branch before it has read
def test_melded_arms_do_what_they_did(share: float, keeps: bool, seed: int) -> None:
    ptx = Arms(seed).kernel()
    with pytest.MonkeyPatch.context() as monkeypatch:
        result = melded(ptx, monkeypatch, share, keeps)
    expected = memory(ptx)
    for schedule in ("lockstep", 1):
        assert np.array_equal(expected, memory(result.ptx, schedule))


ARMS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0)
{{
    .reg .pred %p<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .reg .f32 %f<9>;
    ld.param.u64 %rd1, [k_0];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    cvt.rn.f32.u32 %f1, %r1;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    // ccc.then 1 k.cu:7:1 strategy=meld
    {odd}
    bra JOIN;
EVEN:
    // ccc.else 1 k.cu:7:1 strategy=meld
    {even}
JOIN:
    st.global.f32 [%rd1], %f2;
    ret;
}}
"""
ROOT_OF = "sqrt.rn.f32 %f2, %f1;"


def declined(odd: str, even: str = ROOT_OF) -> str:
    """Why the arms are not melded."""
    result = transform(ARMS.format(odd=odd, even=even))
    (kernel,) = result.report["kernels"]
    (reason,) = {path["reason"] for path in kernel["paths"] if path["line"] == 7}
    assert "ccc_" not in result.ptx
    return str(reason)


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (f"{ROOT_OF} exit;", "its arms go on at several places, or end the thread"),
        (f"{ROOT_OF} @%p1 ret;", "its arms go on at several places, or end the thread ("),
        (f"{ROOT_OF} bar.sync 0;", "there is a barrier or a warp-collective in one of its arms"),
        (f"activemask.b32 %r3; {ROOT_OF}", "there is a barrier or a warp-collective"),
        (f"add.cc.u32 %r3, %r1, 1; {ROOT_OF}", "one of its arms adds with carry"),
        (f"call.uni vprintf; {ROOT_OF}", "one of its arms calls printf"),
        (
            f"call.uni __internal_trig_reduction_slowpathd; {ROOT_OF}",
            "one of its arms calls sin, cos or tan of a double (",
        ),
        (
            "WAIT: ld.volatile.global.f32 %f2, [%rd1]; setp.eq.f32 %p2, %f2, %f1; @%p2 bra WAIT;",
            "lanes may wait for one another in one of its arms",
        ),
        (f"// ccc.then 2 k.cu:8:1\n {ROOT_OF}", "another annotation lies in one of its arms"),
        ("add.f32 %f2, %f1, 0f3F800000;", "no instruction of one of its arms is in another, too"),
        ("fma.rn.f32 %f2, %f1, %f1, 0f40000000;\n" * 1001, "its arms have more than 1000"),
    ],
)
def test_what_cannot_be_melded_stays(odd: str, reason: str) -> None:
    assert reason in declined(odd)


def test_one_arm_alone_stays() -> None:
    text = ARMS.format(odd=ROOT_OF, even=ROOT_OF).replace("// ccc.else 1", "//")
    (kernel,) = transform(text).report["kernels"]
    (path,) = kernel["paths"]
    assert "one alone cannot be melded" in path["reason"]


def test_arms_that_do_not_resemble_one_another_need_no_annotation() -> None:
    text = ARMS.format(odd="add.f32 %f2, %f1, 0f3F800000;", even=ROOT_OF)
    (kernel,) = transform(text).report["kernels"]
    told = "no instruction of one of its arms is in another, too; remove the annotation"
    assert [path["reason"] for path in kernel["paths"]][:1] == [told]


def test_another_way_may_end_the_thread() -> None:
    """As a case that returns."""
    text = ARMS.format(odd=ROOT_OF, even=ROOT_OF).replace("@%p1 bra EVEN;", LEAVES)
    (kernel,) = transform(text).report["kernels"]
    assert all(path["reason"] or path["applied"] for path in kernel["paths"])
    for seed in range(2):
        before, after = (np.zeros(64, np.float32) for _ in range(2))
        for out, module in ((before, text), (after, transform(text).ptx)):
            Module(module).get_function("k")((1,), (64,), (out,), schedule=seed)
        assert before.any()
        assert np.array_equal(before, after)


def test_a_block_that_control_never_comes_to_may_lead_into_an_arm() -> None:
    dead = "bra JOIN;\nDEAD: setp.gt.u32 %p2, %r1, 40; @%p2 bra EVEN;"
    (kernel,) = transform(ARMS.format(odd=f"{ROOT_OF} {dead}", even=ROOT_OF)).report["kernels"]
    (path,) = kernel["paths"]
    assert path["strategy"] == "meld"


LEAVES = """
    @%p1 bra EVEN;
    setp.gt.u32 %p2, %r1, 40;
    @%p2 bra OUT;
    bra ODD;
OUT:
    ret;
ODD:
"""


def test_the_report_says_what_was_done() -> None:
    result = transform(ARMS.format(odd="sqrt.rn.f32 %f2, %f1;", even="sqrt.rn.f32 %f2, %f1;"))
    (kernel,) = result.report["kernels"]
    (path,) = kernel["paths"]  # the arms are one
    assert (path["directive"], path["arm"]) == ("if", "then")
    assert path["strategy"] == path["asked"] == "meld"
    told = {key: path[key] for key in ("arms", "instructions", "aligned", "selections")}
    assert told == {"arms": 2, "instructions": 2, "aligned": 2, "selections": 0}
    assert path["slots_after"] < path["slots_before"]
    assert result.ptx.count("sqrt") == 1


def test_factors_are_exchanged_rather_than_selected() -> None:
    odd = "mul.f32 %f3, %f1, 0f40400000; sqrt.rn.f32 %f4, %f3; mul.f32 %f2, %f1, %f4;"
    even = "mul.f32 %f3, %f1, 0f40400000; sqrt.rn.f32 %f4, %f3; mul.f32 %f2, %f4, %f1;"
    (kernel,) = transform(ARMS.format(odd=odd, even=even)).report["kernels"]
    assert kernel["paths"][0]["aligned"] == 6
    assert kernel["paths"][0]["selections"] == 0
