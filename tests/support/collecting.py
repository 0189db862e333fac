"""The transformation where it is always done: most tests ask what it does, not if that pays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ccc.compiler import transform as compiler
from ccc.compiler.transform import Transformed
from ccc.options import AUTO, COLLECT, Options


def transform(
    ptx: str,
    options: Options | None = None,
    *,
    filename: str = "<ptx>",
    registers: Mapping[str, int] | None = None,
    **asked: Any,
) -> Transformed:
    """As of the compiler, with ``collect`` where no strategy is asked for."""
    options = replace(options or Options(), **asked)
    if options.strategy == AUTO:
        options = replace(options, strategy=COLLECT)
    return compiler.transform(ptx, options, filename=filename, registers=registers)
