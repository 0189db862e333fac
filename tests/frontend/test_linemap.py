"""Which files of a preprocessed text are read."""

from __future__ import annotations

import pytest

from ccc.frontend import linemap

OF_A_LIBRARY = """\
# 1 "src/k.cu"
# 1 "src/detail/own.cuh" 1
struct Own { int x; };
# 2 "src/k.cu" 2
# 1 "/opt/large/library.h" 1
struct Large { int x; };
# 3 "src/k.cu" 2
#pragma ccc for
for (;;) x++;
"""


@pytest.mark.parametrize(
    ("most", "read"), [(1 << 20, "Own Large x++"), (60, "Own x++"), (40, "x++"), (0, "x++")]
)
def test_of_a_large_library_nothing_is_read(
    most: int, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its headers are the user's own, as far as markers tell, where -I names them."""
    monkeypatch.setattr(linemap, "MOST_READ", most)
    code = OF_A_LIBRARY.encode()
    ranges = linemap.LineMap(code, "k.cu").user_ranges([code.index(b"#pragma")])
    text = b"".join(code[begin:end] for begin, end in ranges).decode()
    assert [one for one in ("Own", "Large", "x++") if one in text] == read.split()


@pytest.mark.parametrize(
    ("before", "at"),
    [
        ('auto r = R"x(', "k.cu 5"),
        ("auto c = '\"'; auto r = R\"x(", "k.cu 5"),
        ('int R; auto r = f("R"', "gpu.cu 3"),
        ('f("R",(0));', "gpu.cu 3"),
        ('f("for R",(0), "),for R");', "gpu.cu 3"),
    ],
)
def test_what_looks_like_a_line_marker_in_a_raw_string_is_none(before: str, at: str) -> None:
    code = f'# 1 "k.cu"\n{before}\n# 1 "gpu.cu"\nint x;\n)x";\n#pragma ccc for\n'.encode()
    file, line = linemap.LineMap(code, "k.cu").line(code.index(b"#pragma"))
    assert f"{file} {line}" == at
