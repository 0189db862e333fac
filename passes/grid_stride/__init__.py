"""Kernels as the body of a loop over blocks: the pass, and what says which blocks run what."""

from __future__ import annotations

from ccc.passes.grid_stride.block_loop import GridStride

__all__ = ["GridStride"]
