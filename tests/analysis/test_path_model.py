"""What is known of a path, shown in a message."""

from __future__ import annotations

from deciding import decided, golden


def test_a_path_is_shown_in_one_line() -> None:
    paths = [one.path for one in decided(golden("if_else")).paths]
    assert [path.marker.kind for path in paths] == ["then", "else"]
    for path in paths:
        assert repr(path) == f"<Path {path.marker.kind} {path.marker.span} {path.entry}>"
