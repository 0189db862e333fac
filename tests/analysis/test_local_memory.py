"""Local memory, byte by byte: where addresses point to, what is filled, what waits for whom."""

from __future__ import annotations

import pytest

from ccc.analysis.callees import Callees
from ccc.analysis.facts import Facts
from ccc.analysis.simultaneous import Entrance, may_be_in_both
from ccc.ir.comparisons import separate_comparisons
from ccc.ir.nodes import Function
from ccc.parse import parse_function, parse_module

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
FRAME = """\
    .local .align 16 .b8 __local_depot0[48];
    .reg .b64 %SP;
    .reg .b64 %SPL;
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    mov.u64 %SPL, __local_depot0;
    cvta.local.u64 %SP, %SPL;
    add.u64 %rd1, %SPL, 0;
    add.u64 %rd2, %SPL, 32;
    ld.param.u64 %rd3, [p];
"""


def functions(body: str, others: str = "") -> dict[str, Function]:
    text = f"{HEAD}{others}\n.visible .entry k(.param .u64 p) {{\n{FRAME}{body}\n    ret;\n}}\n"
    found = {piece.name: parse_function(piece) for piece in parse_module(text, "k.ptx").functions}
    for function in found.values():
        separate_comparisons(function)
    return found


def facts_of(body: str, others: str = "") -> Facts:
    known = functions(body, others)
    return Facts(known["k"], Callees(known.get))


def used(body: str, others: str = "") -> tuple[int, int, int]:
    """What the last instruction before ``ret`` reads, writes, and surely fills."""
    facts = facts_of(body, others)
    last = [i for i in facts.function.instructions if i.name != "ret"][-1]
    use = facts.local.use(last)
    return use.reads, use.writes, use.fills


def bytes_of(first: int, count: int) -> int:
    return ((1 << count) - 1) << first


@pytest.mark.parametrize(
    ("instruction", "reads", "writes", "fills"),
    [
        ("st.local.u32 [%rd1+4], %r1;", 0, bytes_of(4, 4), bytes_of(4, 4)),
        ("st.local.v4.u32 [%rd2], {%r1, %r1, %r1, %r1};", 0, bytes_of(32, 16), bytes_of(32, 16)),
        ("@%p1 st.local.u32 [%rd2], %r1;", 0, bytes_of(32, 4), 0),
        ("add.s64 %rd4, %rd2, %rd3; ld.local.u32 %r1, [%rd4];", bytes_of(32, 16), 0, 0),
        ("ld.local.u32 %r1, [%rd3];", bytes_of(0, 48), 0, 0),
        ("ld.u32 %r1, [%rd3];", 0, 0, 0),
        ("ld.u32 %r1, [%SP+36];", bytes_of(36, 4), 0, 0),
        ("ld.local.u32 %r1, [__local_depot0+8];", bytes_of(8, 4), 0, 0),
        ("or.b64 %rd4, %rd2, 8; ld.local.u32 %r1, [%rd4];", bytes_of(32, 16), 0, 0),
        ("sub.s64 %rd4, %rd2, 4; st.local.u32 [%rd4], %r1;", 0, bytes_of(28, 4), bytes_of(28, 4)),
        (
            "selp.b64 %rd4, %rd1, %rd2, %p1; st.local.u32 [%rd4], %r1;",
            0,
            bytes_of(0, 48),
            0,
        ),
        (
            "add.u64 %rd4, %SP, 32; st.global.u64 [%rd3], %rd4; ld.global.u64 %rd5, [%rd3];"
            " st.u32 [%rd5], %r1;",
            0,
            bytes_of(32, 16),
            0,
        ),
    ],
)
def test_bytes_of_an_access(instruction: str, reads: int, writes: int, fills: int) -> None:
    assert used(instruction) == (reads, writes, fills)


CALL = """
    add.u64 %rd4, %SP, 32;
    .param .b64 a;
    st.param.b64 [a], %rd4;
    call.uni f, (a);
"""


@pytest.mark.parametrize(
    ("body", "reads", "writes"),
    [
        ("ld.u32 %r1, [%rd1];", True, False),
        ("st.u32 [%rd1+4], 1;", False, True),
        ("cvta.to.local.u64 %rd2, %rd1; ld.local.u32 %r1, [%rd2+8];", True, False),
        ("st.global.u64 [%rd2], %rd1;", True, True),
        ("mov.u64 %rd2, 0;", False, False),
    ],
)  # fmt: skip
def test_what_a_function_does_with_an_address(body: str, reads: bool, writes: bool) -> None:
    callee = (
        ".func f(.param .b64 q) {\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\n"
        f"ld.param.u64 %rd1, [q];\n{body}\nret;\n}}\n"
    )
    found = used(CALL, callee)
    assert (bool(found[0]), bool(found[1])) == (reads, writes)
    assert found[0] in (0, bytes_of(32, 16))


def test_a_function_that_is_not_there_may_do_anything() -> None:
    unknown = ".extern .func f(.param .b64 q);\n"
    assert used(CALL, unknown) == (bytes_of(32, 16), bytes_of(32, 16), 0)


def loop(count: int, step: int = 4) -> str:
    return f"""
    mov.u32 %r1, 0;
    mov.u64 %rd4, %rd1;
FILL:
    st.local.u32 [%rd4], %r1;
    add.s64 %rd4, %rd4, {step};
    add.s32 %r1, %r1, 1;
    setp.ne.s32 %p1, %r1, {count};
    @%p1 bra FILL;
AFTER:
    ld.local.u32 %r2, [%rd1+4];
"""


@pytest.mark.parametrize(("count", "step", "left"), [(8, 4, 0), (1, 4, 4), (4, 8, 4), (2, 2, 2)])
def test_a_loop_that_fills_an_array(count: int, step: int, left: int) -> None:
    facts = facts_of(loop(count, step))
    labels = set(facts.blocks)
    assert facts.local.exposed(labels, facts.entry).bit_count() == left


BEGIN = """
    mov.u32 %r1, 0;
    mov.u64 %rd4, %rd1;
"""


@pytest.mark.parametrize(("begin", "left"), [(BEGIN, 0), ("", 4)])
def test_a_loop_that_goes_on_where_it_is_run_again_fills_nothing(begin: str, left: int) -> None:
    fill = loop(8).removeprefix(BEGIN)
    facts = facts_of(f"""{BEGIN}
AGAIN:
{begin}{fill}
    setp.ne.s32 %p2, %r2, 0;
    @%p2 bra AGAIN;
""")
    around = next(one for one in facts.loops if "AFTER" in one.blocks)
    assert facts.local.exposed(around.blocks, around.header).bit_count() == left


def test_constants() -> None:
    facts = facts_of("""
    st.local.v2.u32 [%rd1], {7, 8};
    mov.u32 %r1, 9;
    st.local.u32 [%rd1+8], %r1;
    st.local.u32 [%rd1+12], %r2;
    st.local.u32 [%rd1+16], 1;
    st.local.u32 [%rd1+16], 2;
    st.local.u32 [%rd1+20], 3;
    st.local.u16 [%rd1+22], 3;
""")
    assert facts.local.constants == bytes_of(0, 12) | bytes_of(20, 2)


PRINTS = """
    .param .b64 format;
    .param .b64 values;
    .param .b32 result;
    mov.u64 %rd5, {format};
    cvta.global.u64 %rd6, %rd5;
    {other}
    st.param.b64 [format], %rd6;
    add.u64 %rd4, %SP, 32;
    st.param.b64 [values], %rd4;
    call.uni (result), vprintf, (format, values);
"""
TEXTS = {"$str": "%d of %d\n", "$str$1": "done", "$str$2": "%d %f", "$str$3": "%n"}


@pytest.mark.parametrize(
    ("format_", "other", "reads"),
    [
        ("$str", "", bytes_of(32, 8)),
        ("$str$1", "", 0),
        ("$str$2", "", bytes_of(32, 4) | bytes_of(40, 8)),
        ("$str$3", "", bytes_of(32, 16)),
        ("$str+3", "", bytes_of(32, 16)),
        ("mine", "", bytes_of(32, 16)),
        ("$str", "@%p1 mov.u64 %rd5, $str$2; cvta.global.u64 %rd6, %rd5;", bytes_of(32, 16)),
        ("$str$1", "@%p1 mov.u64 %rd5, $str$2; cvta.global.u64 %rd6, %rd5;",
         bytes_of(32, 4) | bytes_of(40, 8)),
        ("$str", "@%p1 mov.u64 %rd6, %rd3;", bytes_of(32, 16)),
        ("$str$1", "@%p1 st.param.b64 [format], %rd3;", bytes_of(32, 16)),
    ],
)  # fmt: skip
def test_a_format_tells_how_much_is_printed(format_: str, other: str, reads: int) -> None:
    strings = f".global .b8 mine[3]; {' '.join(f'.global .b8 {name}[9];' for name in TEXTS)}\n"
    strings += ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    known = functions(PRINTS.format(format=format_, other=other), strings)
    facts = Facts(known["k"], Callees(known.get, texts=TEXTS))
    (call,) = (i for i in facts.function.instructions if i.name == "call")
    assert facts.local.use(call).reads == reads


SPIN = """
WAIT:
    {poll}
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra WAIT;
"""


@pytest.mark.parametrize(
    ("poll", "spins"),
    [
        ("ld.volatile.global.u32 %r1, [%rd3];", True),
        ("ld.acquire.gpu.global.u32 %r1, [%rd3];", True),
        ("ld.global.u32 %r1, [%rd3];", True),
        ("ld.global.nc.u32 %r1, [%rd3];", False),
        ("ld.global.cv.u32 %r1, [%rd3];", True),
        ("atom.global.max.u32 %r1, [%rd3], 0;", True),
        ("add.s64 %rd3, %rd3, 4; ld.global.u32 %r1, [%rd3];", False),
        ("ld.global.u32 %r1, [%rd3]; membar.gl;", True),
        ("atom.global.cas.b32 %r1, [%rd3], 0, 1;", True),
        ("mov.u32 %r2, 0; atom.global.cas.b32 %r1, [%rd3], %r2, 1;", True),
        ("mov.b32 %r2, %r1; atom.global.cas.b32 %r1, [%rd3], %r2, 1;", True),
        ("and.b32 %r2, %r1, 6; atom.global.cas.b32 %r1, [%rd3], %r2, 1;", True),
        ("atom.global.add.u32 %r1, [%rd3], 1; red.global.add.u32 [%rd3], -1;", True),
        ("atom.global.exch.b32 %r1, [%rd3], 1;", True),
        ("atom.global.add.u32 %r1, [%rd3], 0;", True),
        ("atom.global.add.u32 %r1, [%rd3], 1;", True),  # a lock, which is 0 when it is free
        ("atom.global.or.b32 %r1, [%rd3], 0;", True),
        ("add.s64 %rd3, %rd3, 4; ld.volatile.global.u32 %r1, [%rd3];", True),
        ("ld.volatile.global.u32 %r2, [%rd3]; add.s32 %r1, %r1, -1;", False),
        ("atom.global.add.u32 %r1, [%rd3], %r2;", True),
        ("add.s64 %rd3, %rd3, 4; ld.global.u32 %r1, [%rd3]; membar.gl;", True),
        ("add.s64 %rd3, %rd3, 4; ld.global.cg.u32 %r1, [%rd3];", True),
        (
            "ld.volatile.global.u32 %r2, [%rd3]; add.s32 %r3, %r3, 1; and.b32 %r4, %r3, 7;"
            "or.b32 %r1, %r2, %r4;",
            True,
        ),
    ],
)
def test_loops_that_spin(poll: str, spins: bool) -> None:
    assert bool(facts_of(SPIN.format(poll=poll)).spins) == spins


@pytest.mark.parametrize(
    ("relation", "atomic", "spins"),
    [
        ("lt.s32", "add.u32 %r1, [%rd3], 1", False),
        ("le.u32", "add.u32 %r1, [%rd3], 32", False),
        ("gt.s32", "add.u32 %r1, [%rd3], -1", False),
        ("gt.s32", "add.u32 %r1, [%rd3], 1", True),
        ("lt.s32", "add.u32 %r1, [%rd3], -1", True),
        ("lt.s32", "inc.u32 %r1, [%rd3], 7", True),
        ("lt.s32", "add.u32 %r1, [%rd3], 1; st.global.u32 [%rd3], 0", True),
        ("lt.s32", "add.u32 %r1, [%rd3], 1; and.b32 %r1, %r1, 7", True),
        ("lt.s32", "add.u32 %r1, [%rd3], 1; add.s32 %r1, %r1, %r5", False),
    ],
)
def test_an_atomic_may_come_to_the_end_by_itself(relation: str, atomic: str, spins: bool) -> None:
    """It does where the loop goes on until what it moves on is past a bound."""
    text = SPIN.format(poll=f"atom.global.{atomic};").replace("ne.s32", relation)
    assert bool(facts_of(text.replace("%r1, 0;", "%r1, 100;")).spins) == spins


def test_all_that_a_loop_looks_at_is_polled() -> None:
    two = "ld.volatile.global.u32 %r2, [%rd3]; atom.shared.cas.b32 %r1, [s], 0, 1;"
    (spin,) = facts_of(SPIN.format(poll=f"{two} or.b32 %r1, %r1, %r2;")).spins
    assert [one.name for one in spin.polls] == ["ld", "atom"]


def test_what_was_looked_at_may_come_through_memory() -> None:
    poll, through = "ld.volatile.global.u32 %r2, [%rd3];", "[own], %r2; ld.local.u32 %r1, [own];"
    text = SPIN.format(poll=f"{poll} st.local.u32 {through}")
    (spin,) = facts_of(text.replace("WAIT:", ".local .b32 own;\nWAIT:", 1)).spins
    assert "ld.volatile" in spin.poll.opcode


COUNTED = "ld.volatile.global.u32 %r1, [%rd3]; add.s32 %r3, %r3, 1;"
SWAP = "mov.b32 %r2, %r1; atom.global.cas.b32 %r1, [%rd3], %r2, %r4;"


@pytest.mark.parametrize(
    ("trip", "spins"),
    [
        (f"{COUNTED} setp.lt.s32 %p1, %r3, %r1; @%p1 bra WAIT;", False),  # a bound read anew
        (f"{COUNTED} setp.ne.s32 %p1, %r3, %r1; @%p1 bra WAIT;", True),
        (
            f"{COUNTED} setp.eq.s32 %p1, %r1, 0; setp.lt.s32 %p2, %r3, 9; and.pred %p3, %p1, %p2;"
            "@%p3 bra WAIT;",
            True,  # waits, up to a limit
        ),
        (f"{SWAP} setp.ne.s32 %p1, %r1, %r2; @%p1 bra WAIT;", False),
        (f"{SWAP} setp.eq.s32 %p1, %r1, %r2; @%p1 bra END; bra WAIT;", False),
        (f"{SWAP} setp.eq.s32 %p1, %r1, %r2; @!%p1 bra END; bra WAIT;", True),
        (
            f"{SWAP} setp.eq.s32 %p1, %r1, %r2; setp.gt.s32 %p2, %r1, 0; or.pred %p3, %p1, %p2;"
            "@!%p3 bra WAIT;",
            False,  # another way out besides
        ),
        (
            f"{SWAP} setp.eq.s32 %p1, %r1, %r2; setp.gt.s32 %p2, %r1, 0; and.pred %p3, %p1, %p2;"
            "@!%p3 bra WAIT;",
            True,  # a further condition
        ),
    ],
)
def test_what_ends_a_loop(trip: str, spins: bool) -> None:
    assert bool(facts_of(f"WAIT: {trip}\nEND:").spins) == spins


GUARDS = """
    @%p1 bra ODD;
EVEN: @%p2 bra L1;
    bra L2;
ODD: @%p3 bra L3;
    bra END;
L1: bra L2;
L2: bra END;
L3: bra END;
END: bra NEXT;
NEXT:
"""


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (("L1", ()), ("L2", ()), False),  # all lanes come to both
        (("L1", (("E", False),)), ("L3", (("E", True),)), True),  # in the arms of one branch
        (("L1", (("E", False), ("EVEN", True))), ("L2", (("E", False),)), False),  # one after other
        (("L1", (("E", False), ("EVEN", True))), ("L3", (("E", True), ("ODD", True))), True),
        (("L3", (("E", True),)), ("NEXT", ()), False),
    ],
)
def test_loops_at_the_same_time(
    one: tuple[str, tuple[tuple[str, bool], ...]],
    other: tuple[str, tuple[tuple[str, bool], ...]],
    both: bool,
) -> None:
    facts = facts_of(GUARDS)

    def entrance(label: str, guards: tuple[tuple[str, bool], ...]) -> Entrance:
        named = {"E": facts.entry}
        return Entrance(label, tuple((named.get(guard, guard), way) for guard, way in guards))

    loops = [entrance(*one), entrance(*other)]
    for first, second in (loops, loops[::-1]):
        assert may_be_in_both(first, second, loops, facts.graph) is both
