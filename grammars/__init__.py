"""Grammars for Lark: PTX and the annotation language."""

from __future__ import annotations

import hashlib
import io
import sys
from contextlib import suppress
from importlib import resources
from typing import Any

import lark

from ccc import files
from ccc.errors import CccError


def load(name: str, **options: Any) -> lark.Lark:
    """The LALR parser of a grammar here.

    Making its tables takes some time, so they are kept in the cache folder, where that can be
    written: by grammar, options, and the versions of Lark and Python.

    Args:
        name: of the file.
        options: of Lark.
    """
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
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
