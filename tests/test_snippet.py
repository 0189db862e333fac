"""Generated code as PTX text: names bound, holes filled, labels made anew."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

import pytest

from ccc import passes
from ccc.errors import Span
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block, Function
from ccc.ir.operands import Address, Immediate, Register, Special
from ccc.ir.printer import print_function
from ccc.snippet import Snippet

CLAIM = Snippet("""
    .reg .pred %pending, %none;
    .reg .b32 %tasks, %members;
        vote.sync.ballot.b32 %tasks, %pending, %members;
        setp.eq.b32 %none, %tasks, 0;
        @%none bra NOBODY;
        call push, (%tasks);
    AGAIN:
        add.s32 %tasks, %tasks, -1;
        setp.eq.b32 %none, %tasks, 0;
        @!%none bra AGAIN;
""")
STORE = Snippet(
    """
    .reg .b32 %base, %value;
        st.shared.b32 [%base+OFFSET], %value;
    """,
    "OFFSET",
)


def emitter() -> Emitter:
    function = Function("k", "entry", ".entry k()", [])
    function.blocks.append(Block("BEGIN", named=False))
    return Emitter(function, function.blocks[0], Span())


def text_of(emit: Emitter) -> list[str]:
    """The lines of the body that are no declarations."""
    lines = [line.strip() for line in print_function(emit.function).splitlines()]
    return [line for line in lines if line.endswith((";", ":")) and not line.startswith(".reg")]


def test_names_are_bound_or_new_and_new_ones_say_what_they_hold() -> None:
    emit = emitter()
    pending, members = Register("%p1", "pred"), Register("%r1", "b32")
    given = {"pending": pending, "members": members}
    fill = lambda emit, tasks: emit.emit("mov.b32", tasks, 7)  # noqa: E731
    first = CLAIM.emit(emit, given, push=fill, NOBODY="END")
    second = CLAIM.emit(emit, given, push=fill, NOBODY="END")
    emit.start("END")
    assert [first["tasks"].name, second["tasks"].name] == ["%ccc_tasks_0", "%ccc_tasks_1"]
    assert first["none"].type == "pred"
    assert text_of(emit)[:9] == [
        "vote.sync.ballot.b32 %ccc_tasks_0, %p1, %r1;",
        "setp.eq.b32 %ccc_none_0, %ccc_tasks_0, 0;",
        "@%ccc_none_0 bra END;",
        "bra $ccc_then_0;",
        "$ccc_then_0:",
        "mov.b32 %ccc_tasks_0, 7;",
        "bra $ccc_again_0;",
        "$ccc_again_0:",
        "add.s32 %ccc_tasks_0, %ccc_tasks_0, -1;",
    ]


def test_a_register_may_be_an_address_or_a_number() -> None:
    emit = emitter()
    STORE.of(OFFSET=8).emit(emit, base=Address(Register("%r2", "b32"), 4), value=5)
    STORE.of(OFFSET=16).emit(emit, base=Register("%r2", "b32"), value=5)
    assert text_of(emit) == ["st.shared.b32 [%r2+12], 5;", "st.shared.b32 [%r2+16], 5;"]


def test_what_the_text_does_not_have_or_needs() -> None:
    with pytest.raises(ValueError, match="has no other"):
        STORE.of(OFFSET=8).emit(emitter(), other=5)
    with pytest.raises(ValueError, match="needs the label NOBODY"):
        CLAIM.emit(emitter(), push=lambda *_: None)
    with pytest.raises(ValueError, match="no number of the type"):
        Snippet(".reg .b32 %a; .reg .b64 %b; mad.wide.s32 %b, %a, %a, %b;").emit(
            emitter(), a=1 << 40
        )


def test_the_same_name_with_another_type() -> None:
    emit = emitter()
    Snippet(".reg .b32 %a; mov.b32 %a, 1;").emit(emit)
    Snippet(".reg .b64 %a; mov.b64 %a, 1;").emit(emit)
    assert text_of(emit) == ["mov.b32 %ccc_a_0, 1;", "mov.b64 %ccc_a_b64_0, 1;"]


def test_a_symbol_and_a_literal() -> None:
    emit = emitter()
    text = ".reg .b32 %a, %b; mov.u32 %a, TABLE; st.shared.f32 [TABLE+4], %b; mov.b32 %a, %b;"
    Snippet(text).emit(emit, TABLE="table", b=Immediate("0f3F800000"))
    Snippet(".reg .b32 %a, %b; mov.u32 %a, %b;").emit(emit, b=Special("%laneid"))
    assert text_of(emit) == [
        "mov.u32 %ccc_a_0, table;",
        "st.shared.f32 [table+4], 0f3F800000;",
        "mov.b32 %ccc_a_0, 0f3F800000;",
        "mov.u32 %ccc_a_1, %laneid;",
    ]


def test_words_that_always_mean_the_same() -> None:
    emit = emitter()
    snippet = Snippet(".reg .b32 %a; add.TYPE %a, %a, STEP;", "TYPE", STEP=4)
    snippet.of(TYPE="s32").emit(emit)
    assert text_of(emit) == ["add.s32 %ccc_a_0, %ccc_a_0, 4;"]


def test_a_snippet_is_read_when_it_is_first_emitted() -> None:
    snippet = Snippet(".reg .b32 %a; mov.b32 %a, 1;")
    assert "_parsed" not in vars(snippet)
    snippet.emit(emitter())
    assert "_parsed" in vars(snippet)


def test_every_snippet_of_the_passes_can_be_read() -> None:
    modules = [one.name for one in walk_packages(passes.__path__, "ccc.passes.")]
    found = [s for name in modules for s in vars(import_module(name)).values()]
    snippets = [one for one in found if isinstance(one, Snippet) and not one.words]
    assert snippets
    for one in snippets:
        assert one._parsed.blocks, one.text
