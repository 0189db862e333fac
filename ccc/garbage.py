"""Python's search for garbage, where there is none.

While much is made that stays, looking through it again and again takes as long as making it.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def without_looking(make: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """A function that makes much, and looks for no garbage meanwhile."""

    @functools.wraps(make)
    def made(*arguments: _Given.args, **named: _Given.kwargs) -> _Made:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return make(*arguments, **named)
        finally:
            if was_enabled:
                gc.enable()

    return made
