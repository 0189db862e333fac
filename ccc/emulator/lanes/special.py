"""Special registers (PTX ISA section 10), as arrays over the lanes of a wave or as one scalar."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.lanes.geometry import Geometry
from ccc.ptx.types import SPECIAL_REGISTERS

PER_LANE = frozenset(
    ["%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%laneid", "%warpid"]
    + [f"%clusterid.{axis}" for axis in "xyz"]
    + [f"%lanemask_{relation}" for relation in ("eq", "le", "lt", "ge", "gt")]
)


def special_registers(geometry: Geometry, shared_bytes: int, dynamic_bytes: int) -> dict[str, Any]:
    """The values of all special registers that do not change with time.

    ``%smid`` is 0 and ``%nsmid`` 1; a cluster is one block; ``%gridid`` is that of a first launch.
    Those of PER_LANE are uint32 arrays of shape (lanes of the wave,), the others scalars, uint32 or
    uint64.
    """
    values: dict[str, Any] = {}
    lane = np.arange(geometry.lanes, dtype=np.uint32) & np.uint32(31)
    one = np.uint32(1)
    mask = one << lane
    values["%laneid"] = lane
    values["%warpid"] = (geometry.lane_in_block >> 5).astype(np.uint32)
    values["%lanemask_eq"] = mask
    values["%lanemask_lt"] = mask - one
    values["%lanemask_le"] = mask | (mask - one)
    values["%lanemask_gt"] = ~(mask | (mask - one))
    values["%lanemask_ge"] = ~(mask - one)
    for axis, thread, block in zip("xyz", geometry.threads(), geometry.blocks(), strict=True):
        values[f"%tid.{axis}"] = thread.astype(np.uint32)
        values[f"%ctaid.{axis}"] = block.astype(np.uint32)
    for axis, block_size, grid_size in zip("xyz", geometry.block, geometry.grid, strict=True):
        values[f"%ntid.{axis}"] = np.uint32(block_size)
        values[f"%nctaid.{axis}"] = np.uint32(grid_size)
        values[f"%nclusterid.{axis}"] = np.uint32(grid_size)
        values[f"%clusterid.{axis}"] = values[f"%ctaid.{axis}"]
        values[f"%cluster_ctaid.{axis}"] = np.uint32(0)
        values[f"%cluster_nctaid.{axis}"] = one
    values |= {
        "%nwarpid": np.uint32(geometry.warps_per_block),
        "%smid": np.uint32(0),
        "%nsmid": one,
        "%cluster_ctarank": np.uint32(0),
        "%cluster_nctarank": one,
        "%total_smem_size": np.uint32(shared_bytes),
        "%aggr_smem_size": np.uint32(shared_bytes),
        "%dynamic_smem_size": np.uint32(dynamic_bytes),
        "%gridid": np.uint64(0),
        "%is_explicit_cluster": np.bool_(False),
        "%current_graph_exec": np.uint64(0),
    }
    values |= {f"%envreg{number}": np.uint32(0) for number in range(32)}
    values |= {name: np.uint32(0) for name in SPECIAL_REGISTERS if name.endswith(".w")}
    return values
