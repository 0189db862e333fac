"""What is found of a tree, kept until another text is read: of one loop much is asked again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

_Asked = ParamSpec("_Asked")
_Found = TypeVar("_Found")
_MOST = 1 << 13
"""So many answers are kept of a question, which are those to the nodes of a few loops."""
_FORGET: list[Callable[[], None]] = []


def remembered(find: Callable[_Asked, _Found]) -> Callable[_Asked, _Found]:
    """Answer once what is asked of the same nodes; nobody may change the answer."""
    kept = lru_cache(maxsize=_MOST)(find)
    _FORGET.append(kept.cache_clear)
    return cast("Callable[_Asked, _Found]", kept)


def forget() -> None:
    """Let go of all trees, as another text is read."""
    for clear in _FORGET:
        clear()
