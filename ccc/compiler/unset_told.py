"""What is said of variables that may have no value: what gives them one."""

from __future__ import annotations

from ccc.compiler.inquiry import Inquiry

_SET_WHOLE = "give all of it a value where it is declared"
"""Of an array in registers, which is declared in the loop, but of which not all is set."""


def set_whole(asked: Inquiry) -> str | None:
    """What to do about an array: that is declared already."""
    arrays = asked.suspects.names(asked.at, "arrays") if asked.names else []
    return _SET_WHOLE if asked.names and {*asked.names} <= {*arrays} else None
