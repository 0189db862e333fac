"""PTX text to IR.

A module is first cut into functions and the text between them; a function is parsed only when
somebody asks for its IR. PTX repeats itself, so each *shape* of statement (its text with the
numbers replaced) goes through Lark once, and later statements of that shape fill their numbers in.
"""

from __future__ import annotations

from ccc.parse.body import parse_function
from ccc.parse.module import parse_files, parse_module, parse_variables
from ccc.parse.shapes import keep_shapes, load_grammar
from ccc.parse.source import NotRepresentable
from ccc.parse.whole import check_file

__all__ = [
    "NotRepresentable",
    "check_file",
    "keep_shapes",
    "load_grammar",
    "parse_files",
    "parse_function",
    "parse_module",
    "parse_variables",
]
