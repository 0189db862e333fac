"""Grammars for Lark: PTX and the annotation language."""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccc import files
from ccc.errors import CccError

if TYPE_CHECKING:
    import lark


def place(name: str) -> Path:
    """The file of a grammar."""
    return Path(__file__).with_name(name)


def load(name: str, **options: Any) -> lark.Lark:
    """The LALR parser of a grammar here.

    Making its tables takes some time, so they are kept in the cache folder, where that can be
    written: by grammar, options, and the versions of Lark and Python.

    Args:
        name: of the file.
        options: of Lark.
    """
    import hashlib  # noqa: PLC0415 - what was parsed before is kept

    import lark  # noqa: PLC0415 - the same

    text = place(name).read_text(encoding="utf-8")
    made_of = (text, sorted(options.items()), lark.__version__, sys.version_info[:2])
    key = hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
    kept = files.folder() / "grammars" / f"{key}.tables"
    with suppress(Exception):  # there are none yet, or what is there is damaged in any way
        return lark.Lark.load(io.BytesIO(kept.read_bytes()))
    parser = lark.Lark(text, parser="lalr", maybe_placeholders=False, **options)
    tables = io.BytesIO()
    parser.save(tables)
    with suppress(CccError):
        files.keep(kept, tables.getvalue())
    return parser
