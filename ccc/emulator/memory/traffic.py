"""What accesses of a warp cost: sectors of global memory, conflicts between shared banks."""

from __future__ import annotations

import numpy as np

from ccc.emulator.base.forms import Array
from ccc.emulator.lanes.groups import Group

_NOBODY = 0xFFFFFFFF


def sectors(group: Group, place: Array) -> int:
    """The number of 32-byte sectors that the group's warps touch, each warp by itself.

    An aligned access of up to 32 bytes lies in one sector. ``place``: byte positions, int64, (n,).
    """
    if group.n == group.warp_count:
        return group.n
    rows = group.by_warp((place >> 5).astype(np.uint32), _NOBODY)
    rows.sort(axis=1)
    changes = int(np.count_nonzero(rows[:, 1:] != rows[:, :-1]))
    incomplete = int(np.count_nonzero(rows[:, -1] == _NOBODY))
    return changes + len(rows) - incomplete


def conflicts(group: Group, address: Array, size: int) -> int:
    """Wavefronts beyond the least possible, of 32 banks of 4 bytes.

    A wavefront serves a whole warp at up to 4 bytes a lane, half of one at 8, a quarter at 16; a
    bank serves one word in it, for all lanes that want that word. ``address`` is uint64, (n,).
    """
    if group.n == group.warp_count:
        return 0
    steps = address[1:] - address[:-1]
    if group.warp_count > 1:
        steps = steps[group.rank[1:] == group.rank[:-1]]
    if (steps == size).all() or not steps.any():  # side by side, or all the same: the usual cases
        return 0
    words = group.by_warp((address >> np.uint64(2)).astype(np.uint32), _NOBODY)
    width = max(size // 4, 1)
    if width > 1:
        parts = words.reshape(-1, 32 // width, 1)
        steps = np.arange(width, dtype=np.uint32)
        words = np.where(parts == _NOBODY, parts, parts + steps).reshape(-1, 32)
    keys = np.where(words == _NOBODY, words, (words & 31) << 26 | words >> 5)
    keys.sort(axis=1)
    banks = keys >> 26
    differs = keys[:, 1:] != keys[:, :-1]
    if not (differs & (banks[:, 1:] == banks[:, :-1])).any():
        return 0
    first = np.column_stack([np.ones(len(keys), bool), differs]) & (keys != _NOBODY)
    row, _ = first.nonzero()
    counts = np.bincount(row * 32 + banks[first], minlength=32 * len(keys)).reshape(-1, 32)
    return int((counts.max(axis=1) - 1).clip(0).sum())
