"""A log in SARIF 2.1.0, which editors and code hosts show beside the source."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ccc.errors import Span
from ccc.tools.explain.notes import Note
from ccc.version import VERSION

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "applied": ("pass", "none", "An annotation was applied."),
    "left": (
        "informational",
        "none",
        "Annotated code is as it was, for nothing would be gained, or that was asked for.",
    ),
    "refused": ("fail", "warning", "Annotated code is as it was, for it cannot be transformed."),
    "declined": ("fail", "warning", "A strategy that was asked for does not apply."),
    "warning": ("fail", "warning", "An annotation has no effect."),
    "error": ("fail", "error", "An annotation is wrong."),
}
"""What SARIF calls each kind of note, its level, and what it means; only what fails has a level."""


def log(notes: Sequence[Note], folder: Path) -> str:
    """The log of some notes; files in ``folder`` are named relative to it."""
    rules = [
        {
            "id": f"ccc/{kind}",
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        }
        for kind, (_, level, text) in _RULES.items()
    ]
    driver = {
        "name": "ccc",
        "version": VERSION,
        "rules": rules,
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": folder.resolve().as_uri() + "/"}},
        "results": [_result(note, folder) for note in notes],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(note: Note, folder: Path) -> dict[str, Any]:
    kind, level, _ = _RULES[note.kind]
    result: dict[str, Any] = {
        "ruleId": f"ccc/{note.kind}",
        "ruleIndex": list(_RULES).index(note.kind),
        "kind": kind,
        "level": level,
        "message": {"text": _text(note)},
        "locations": [_location(note.span, folder)],
    }
    if note.culprits:
        message = {"message": {"text": "this is at fault"}}
        result["relatedLocations"] = [
            {"id": number, **_location(span, folder), **message}
            for number, span in enumerate(note.culprits, 1)
        ]
    return result


def _text(note: Note) -> str:
    """All that a note says; square brackets would be links."""
    kernels = f" (in {', '.join(note.kernels)})" if note.kernels else ""
    text = "\n".join([f"{note.head}{kernels}", *note.more()])
    return re.sub(r"([\[\]])", r"\\\1", text)


def _location(span: Span, folder: Path) -> dict[str, Any]:
    path, root = Path(span.file).resolve(), folder.resolve()
    if path.is_relative_to(root):
        artifact = {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": "SRCROOT"}
    else:
        artifact = {"uri": path.as_uri()}
    region = {"startLine": max(span.line, 1)}
    if span.column:
        region["startColumn"] = span.column
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
