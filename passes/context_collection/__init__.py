"""Context collection: the pass, and what serves it."""

from __future__ import annotations

from ccc.passes.context_collection.collection import ContextCollection

__all__ = ["ContextCollection"]
