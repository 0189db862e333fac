"""A group: the lanes that run a segment together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array

_FIRST = np.zeros(32, np.intp)
_FIRST.flags.writeable = False
"""The ranks of lanes of one warp."""


class Group:
    """Lanes of a wave, in ascending order; lane ``k`` of the wave is in warp ``k >> 5``.

    ``lanes`` are their numbers, int64 of shape (n,), n > 0. ``index`` selects them from an array
    over all lanes: a slice where they are contiguous. ``depth`` is the number of calls open.
    ``blocks_of`` gives the block of each lane of the wave: int64, (lanes of the wave,).
    """

    __slots__ = (
        "_active",
        "_blocks",
        "_places",
        "_rank",
        "_warp_count",
        "_warps",
        "blocks_of",
        "depth",
        "index",
        "lanes",
        "n",
    )

    def __init__(self, lanes: Array, depth: int, blocks_of: Array):
        self.lanes = lanes
        self.n = n = len(lanes)
        self.depth = depth
        self.blocks_of = blocks_of
        first, last = lanes.item(0), lanes.item(-1)
        has_gaps = last - first >= n
        self.index: Any = lanes if has_gaps else slice(first, last + 1)
        spread = (last >> 5) - (first >> 5) + 1
        self._warp_count = 0 if has_gaps and spread > 1 else spread
        self._active: Array | None = None
        self._warps: Array | None = None
        self._rank: Array | None = None
        self._blocks: Array | None = None
        self._places: Array | None = None

    def only(self, where: Array) -> Group | None:
        """The lanes where the mask (bool, (n,)) holds; None when there are none."""
        lanes = self.lanes[where]
        if len(lanes) == self.n:
            return self
        return Group(lanes, self.depth, self.blocks_of) if len(lanes) else None

    def set_warps(self, warps: Array, rank: Array) -> None:
        """Tell what :attr:`warps` and :attr:`rank` would find out."""
        self._warps, self._rank, self._warp_count = warps, rank, len(warps)

    def _find_warps(self) -> tuple[Array, Array]:
        """What :attr:`warps` and :attr:`rank` tell."""
        if self._warp_count == 1:
            return self.lanes[:1] >> 5, _FIRST[: self.n]
        of_lane = self.lanes >> 5
        starts = np.empty(self.n, bool)
        starts[0] = True
        np.not_equal(of_lane[1:], of_lane[:-1], out=starts[1:])
        return of_lane[starts], starts.cumsum() - 1

    @property
    def warps(self) -> Array:
        """The warps that have a lane here, ascending: int64, (warps,)."""
        if self._warps is None:
            self._warps, self._rank = self._find_warps()
        return self._warps

    @property
    def warp_count(self) -> int:
        """How many warps have a lane here."""
        if not self._warp_count:
            self._warp_count = len(self.warps)
        return self._warp_count

    @property
    def rank(self) -> Array:
        """For each lane, the place of its warp in :attr:`warps`: int64, (n,)."""
        if self._rank is None:
            self._warps, self._rank = self._find_warps()
        return self._rank

    @property
    def blocks(self) -> Array:
        """For each lane, its block in the wave: int64, (n,)."""
        if self._blocks is None:
            self._blocks = self.blocks_of[self.index]
        return self._blocks

    @property
    def places(self) -> Array:
        """For each lane, its place in 32 entries for each of :attr:`warps`: int64, (n,)."""
        if self._places is None:
            self._places = self.lanes & 31
            if self.warp_count > 1:
                self._places += self.rank << 5
        return self._places

    def by_warp(self, values: Any, nobody: Any) -> Array:
        """Values, (n,) or a scalar, as a matrix (warps, 32); ``nobody`` where no lane is."""
        if self.n == 32 * self.warp_count:
            rows = values.copy() if values.ndim else np.full(self.n, values)
            return rows.reshape(-1, 32)
        dtype = values.dtype
        table = np.full(32 * self.warp_count, nobody, dtype)
        table[self.places] = values
        return table.reshape(-1, 32)

    def bits(self, where: Any) -> Array:
        """For each warp, the mask of its lanes here where a predicate holds: uint32, (warps,)."""
        rows = self.by_warp(np.asarray(where), False)
        return np.packbits(rows, axis=1, bitorder="little").view(np.uint32).ravel()

    @property
    def active(self) -> Array:
        """For each warp, the mask of its lanes here: uint32, (warps,)."""
        if self._active is None:
            self._active = self._find_active()
        return self._active

    def _find_active(self) -> Array:
        if self.n == 32 * self.warp_count:
            return np.full(self.warp_count, 0xFFFFFFFF, np.uint32)
        if isinstance(self.index, slice) and self.warp_count == 1:
            ones = (1 << self.n) - 1
            return np.array([ones << (self.index.start & 31)], np.uint32)
        return self.bits(np.True_)
