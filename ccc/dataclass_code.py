"""The methods of dataclasses, compiled once and not whenever a module is loaded.

``dataclass`` writes the methods of a class as text, and has Python compile that each time the class
is made. For ours this takes as long as all else that there is to loading them. So a process of our
own that is short takes what was compiled before from the cache folder.
"""

from __future__ import annotations

import contextlib
import dataclasses

from ccc.kept_code import KeptCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MOST = 4_000
"""Texts that are kept, some five for each class."""


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Dataclasses that are made meanwhile take their methods from the cache, which learns others.

    A module's own ``exec`` goes before Python's. One of Python's versions that does without would
    find its classes made as ever.
    """
    compiled = KeptCode("dataclasses", _MOST)

    def run(text: str, *names: dict[str, Any]) -> None:
        code = compiled.of(text, lambda: compile(text, "<string>", "exec", dont_inherit=True))
        exec(code, *names)

    vars(dataclasses)["exec"] = run
    try:
        yield
    finally:
        vars(dataclasses).pop("exec")
        compiled.save()
