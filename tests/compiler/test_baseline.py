"""What no path of was transformed is put in as the compiler makes it without annotations."""

from __future__ import annotations

from textwrap import dedent

import pytest

from ccc.compiler.baseline import as_without

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
MARKED = "\t// ccc.then 2 k.cu:4:5\n\tadd.s32 %r1, %r1, 0;"


def module(*functions: str, declared: str = "") -> str:
    return "\n".join([HEAD + declared, *map(dedent, functions)])


def function(name: str, body: str, *, linkage: str = ".visible .entry", takes: str = "") -> str:
    return f"{linkage} {name}({takes})\n{{\n{body}\n\tret;\n}}\n"


LEFT = function("left", MARKED)
BARE = function("left", "")


def made(marked: str, after: str, bare: str) -> str:
    return as_without(marked, after, lambda: bare)


def test_what_is_transformed_stays() -> None:
    before, after = (function("done", MARKED), function("done", "\tadd.s32 %r1, %r1, 1;"))
    ptx = made(module(before, LEFT), module(after, LEFT), module(function("done", ""), BARE))
    assert ptx == module(after, BARE)


def test_the_compiler_is_not_asked_where_nothing_is_left() -> None:
    after = module(function("done", "\tadd.s32 %r1, %r1, 1;"))
    assert as_without(module(function("done", MARKED)), after, pytest.fail) == after


def test_what_is_called_from_here_alone_is_not_put_in() -> None:
    """Those that call it there may pass anything where an argument is not needed."""
    own = function("own", MARKED, linkage=".func")
    assert as_without(module(own), module(own), pytest.fail) == module(own)
    left = function("left", f"{MARKED}\n\tcall.uni own, ();")
    marked = module(own, left)
    bare = module(function("own", "", linkage=".func"), function("left", "\tcall.uni own, ();"))
    assert made(marked, marked, bare) == marked
    seen = marked.replace(".func", ".visible .func")
    assert made(seen, seen, bare.replace(".func", ".visible .func")).count("ccc.then") == 0


@pytest.mark.parametrize("linkage", [".visible .func", ".weak .func"])
def test_what_other_files_call_is_put_in(linkage: str) -> None:
    marked, bare = (module(function("f", body, linkage=linkage)) for body in (MARKED, ""))
    assert made(marked, marked, bare) == bare


@pytest.mark.parametrize(
    ("marked", "bare"),
    [
        (
            module(LEFT, declared=".global .b8 $str[2] = {65, 0};"),
            module(BARE, declared=".global .b8 $str[2] = {66, 0};"),
        ),
        (module(LEFT), module(BARE, declared=".extern .func other ();")),
        (module(LEFT), module(function("left", "", takes=".param .b32 a"))),
        (module(LEFT), module(function("left", "\tcall.uni other, ();"))),
        (module(LEFT), module(function("another", ""))),
    ],
    ids=["another variable", "another declaration", "other parameters", "a call", "no such"],
)
def test_where_what_is_around_differs_it_stays_as_marked(marked: str, bare: str) -> None:
    assert made(marked, marked, bare) == marked


def test_declarations_stand_in_any_order_and_more_of_them_do_no_harm() -> None:
    first, second = ".extern .func one ();\n", ".extern .func two ();\n"
    marked = module(LEFT, declared=first + second + ".global .b32 seen;\n")
    assert "ccc.then" not in made(marked, marked, module(BARE, declared=second + first))
