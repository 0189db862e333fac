"""Where things are in this tree."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "samples"
DOCS = ROOT / "docs"

TESTS = ROOT / "tests"
GOLDEN = TESTS / "golden"
"""PTX before and after the passes, in a folder for each of them; see :mod:`goldens`."""
ERRORS = TESTS / "errors"
"""The same of annotations that are left alone."""
FEW_HEADERS = TESTS / "support" / "few_headers"
"""A part of nvcc's headers, which it finds before its own if it is told of this folder."""
