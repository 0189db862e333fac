"""Loop flattening: the pass, and the loop that it rewrites."""

from __future__ import annotations

from ccc.passes.flattening.flattening import Flattening

__all__ = ["Flattening"]
