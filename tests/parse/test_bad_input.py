"""Files that are no PTX, or only the beginning of some, and PTX that is out of all proportion."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import transform_file
from ccc.emulator import Module
from ccc.errors import CccError, Span, render
from ccc.ir.markers import parse_marker
from ccc.ir.printer import print_function
from ccc.ir.verify import verify
from ccc.options import Options
from ccc.parse import check_file, parse_files, parse_function, parse_module, parse_variables

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
WHOLE = f"{HEAD}.visible .entry k(.param .u64 x) {{ ret; }}\n"
DEEP = 30000


def kernel(body: str, before: str = "", header: str = ".entry k(.param .u64 x)") -> str:
    return f"{HEAD}{before}\n{header}\n{{ .reg .b32 r<9>; {body}\nret; }}"


def read(text: str) -> str:
    """What is said of a text all of which is read; nothing where it can be."""
    try:
        module = parse_module(text, "k.ptx")
        parse_variables(module)
        parse_files(text)
        for piece in module.functions:
            function = parse_function(piece)
            verify(function)
            print_function(function)
    except CccError as error:
        return str(error)
    return ""


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "this is no PTX: the file is empty"),
        (b" \n\n", "this is no PTX: the file is empty"),
        (b"\0\1\2\3" * 9, "this is no PTX: the file is binary"),
        (b"\x7fELF\2\1\1\0\0\0.version 9.0\n", "this is no PTX: the file is binary"),
        (WHOLE.encode("utf-16"), "the file is UTF-16"),
        (WHOLE.encode("utf-8-sig"), "begins with a byte order mark"),
        (b"hello", "there is no .version directive"),
        (b"// .version\n", "there is no .version directive"),
        (WHOLE.encode()[:-3], 'this "{" is never closed; is the file complete?'),
        (WHOLE.encode()[:-9], "this kernel has no body; is the file complete?"),
        (f"{HEAD}.entry k(.param".encode(), 'this "(" is never closed; is the file complete?'),
        (f"{WHOLE}/* and".encode(), "this comment is never closed"),
        (kernel(".reg .b32 é;").encode(), r"the character '\xe9' stands in no comment"),
        (f"{WHOLE}\n€".encode(), r"the character '\u20ac' stands in no comment"),
        (WHOLE.encode().replace(b"ret", b"r\xe9t"), "the byte 0xe9 stands in no comment"),
        (WHOLE.encode().replace(b"ret", b"\x01ret"), r"the character '\x01' stands in no comment"),
    ],
)
def test_what_is_no_whole_ptx_file_is_an_error(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(content)
    done = DevicePass((str(path), ""))
    assert transform_file(done, Options()) == ""
    assert said in (done.error or "")
    assert (done.error or "").count("error: ") == 1


def test_comments_and_strings_may_hold_anything(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(f'{WHOLE}// é €\n/* ß */ .file 1 "ä.cu"\n'.encode() + b"// \xe9\n\x1a")
    done = DevicePass((str(path), ""))
    assert transform_file(done, Options()).encode(errors="surrogateescape") == path.read_bytes()
    assert done.error is None


# ---- proportions ---------------------------------------------------------------------------------

READ = {
    "scopes": kernel("{" * DEEP + "mov.u32 r1, r2;" + "}" * DEEP),
    "declarations": kernel("{ .reg .b32 a;" * 2000 + "mov.u32 a, r2;" + "}" * 2000),
    "initialisers": kernel("", ".global .u32 t[1] = " + "{" * DEEP + "1" + "}" * DEEP + ";"),
    "elements": kernel("mov.b64 r1, {" + "r2," * 5000 + "r2};"),
    "registers": kernel(".reg .v4 .b32 q<1000000000>; mov.b32 q5.x, r1;"),
    "a string": kernel('.pragma "' + "x" * 100000 + '";'),
    "a name": kernel("mov.u32 r1, " + "a" * 100000 + ";"),
    "files": kernel("", f".file {'9' * 5000} " + '"a"'),
    "a marker": kernel(f"// ccc.then {'9' * 5000} k.cu:1:1\n// ccc.then 1 k.cu:1:{'9' * 5000}\n"),
    "prototypes": HEAD + ".func f()" * 5000 + "\n.entry k() { ret; }",
}
REFUSED = {
    "numbers": kernel(f"mov.u32 r1, 0x{'f' * 100000};"),
    "decimals": kernel(f"mov.f32 r1, 1e{'9' * 100000};"),
    "offsets": kernel(f"ld.global.u32 r1, [r2+{'9' * 5000}];"),
    "register numbers": kernel(f"mov.u32 %r1, %r{'9' * 100000};"),
    "ranges": kernel(f".reg .b32 q<{'9' * 5000}>;"),
    "variables": kernel(".local .b32 q<1000000000>;"),
    "zeros": kernel("", ".global .u32 t[1000000000][1000000000] = {{1}, {2}};"),
    "names": kernel("mov.u32 r1, %" + "a" * 100000 + ";"),
    "labels": kernel("bra " + "L" * 100000 + ";"),
    "vectors": kernel("mov.b64 r1, " + "{" * DEEP + "r2" + "}" * DEEP + ";"),
    "lists": kernel("call f, " + "(" * DEEP + "r2" + ")" * DEEP + ";"),
    "addresses": kernel("ld.u32 r1, " + "[" * DEEP + "r2" + "]" * DEEP + ";"),
    "lines": kernel(f".loc 1 {'9' * 5000} 1"),
    "colons": kernel(":" * DEEP),
    "quotes": kernel('"' * (DEEP + 1)),
    "surrogates": kernel("mov.u32 r1, \udce9;"),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_large_is_read(name: str) -> None:
    assert read(READ[name]) == ""


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_few_words(name: str) -> None:
    said = read(REFUSED[name])
    assert said.startswith("k.ptx:")
    assert len(said) < 700
    assert said.split("\n")[-1].strip() == "^"


def test_markers_hold_numbers_that_can_be() -> None:
    assert parse_marker("// ccc.then 1 k.cu:7:1") is not None
    assert parse_marker(f"// ccc.then {'9' * 5000} k.cu:7:1") is None
    assert parse_marker("// ccc.then 1 \udce9.cu:7:1") is None


# ---- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "wide"), [("/* ab */ wrong", 0), ("/* é */ wrong", 0), ("/* 漢字 */ wrong", 2),
                       ("/* e\u0301 */ wrong", -1), ("/* \udce9 */ wrong", 0)],
)  # fmt: skip
def test_the_caret_is_under_the_word_behind_any_text(line: str, wide: int) -> None:
    column = line.index("wrong") + 1
    shown, caret = render("error", "no", Span("k", 1, column), line).split("\n")[1:]
    assert shown.index("wrong") + wide == caret.index("^")
    assert shown.isprintable()


def test_a_long_line_is_shown_around_the_place() -> None:
    line = "a" * 10000 + "wrong" + "b" * 10000
    shown, caret = render("error", "no", Span("k", 1, 10001), line).split("\n")[1:]
    assert shown.index("wrong") == caret.index("^")
    assert shown.startswith("    ...a")
    assert shown.endswith("b...")
    assert len(shown) < 220


# ---- anything ------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [".version 9.0\n", ".entry k", ".func f", "(", ")", "{", "}", ";", "[", "]", "<", ">", "+", "-",
     ".reg .b32 r<9>;", ".reg .v2 .b32 v;", "v.x", "mov.u32 ", "r1", ", ", "1", "0x1F", "1.5", "g",
     ".global .u32 g[2] = {1, 2};", "ld.global.u32 ", "ret;", "L:", "bra L;", "@p ", "!", "~", "?",
     ":", "call ", "%tid", ".x", ".param .b32 a", "// ccc.then 1 k.cu:1:1\n", '"', "/*", "*/", "\n",
     "#", "<<", "|", "_", "WARP_SZ", ".local .b32 l<3>, m;", "T: .branchtargets L;",
     "brx.idx r1, T;", "\udce9", "é", "\0", "99999999999999999999"]
)  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=30), st.booleans())
def test_any_text_is_read_or_refused(parts: list[str], inside: bool) -> None:
    body = "".join(parts)
    text = kernel(body) if inside else HEAD + body
    assert len(read(text)) < 1200
    with suppress(CccError):
        check_file(text, "k.ptx")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=20))
def test_the_emulator_loads_any_text_or_refuses_it(parts: list[str]) -> None:
    with suppress(CccError):
        module = Module(kernel("".join(parts), ".global .u32 g = 1;"))
        assert module.get_function("k").name == "k"
        module.function_ir("k")
