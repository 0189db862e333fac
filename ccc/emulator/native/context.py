"""The C library's view of a wave: a structure of addresses and numbers."""

from __future__ import annotations

import ctypes

FIELDS = (
    # the program
    "refs", "ops", "items", "segments", "accesses", "segment_count", "max_depth", "uniforms",
    # constants, each in STRIP elements; those of them that say where the frame is
    "constants", "frame_constants", "frame_constant_count", "frame_bytes", "constants_depth",
    # registers and the like
    "frames", "specials", "scratch", "pointers",
    # lanes
    "pc", "waits_at", "returns", "alive", "home", "block_of_lane", "present", "warps_in_all",
    "lanes_in_all", "parked",
    # memory
    "arena", "starts", "ends", "stretches", "shared", "shared_written", "shared_size",
    "shared_stride", "local", "local_written", "local_size", "mixes_atomics",
    # who knows of whom, where somebody looks for races
    "clock", "ended", "shared_shadow", "global_shadow", "noted", "strong", "left_keys",
    "left_clocks", "left_count", "left_size",
    # counters
    "steps", "limit", "tally_warps", "tally_lanes", "divergent", "guarded", "loads", "stores",
    "conflicts",
    # the step under way
    "last", "code", "depth", "number", "at", "n", "warp_count", "span_count", "lanes", "warps",
    "active", "spans", "gathered", "places", "chosen", "pending", "budget",
    # random order
    "next_double", "random_state", "splits", "favour", "starving", "first", "favour_steps", "drawn",
    "favour_double", "favour_state",
)  # fmt: skip


class Context(ctypes.Structure):
    """All of them are 64 bits wide; addresses are those of arrays that somebody else keeps."""

    _fields_ = [(name, ctypes.c_int64) for name in FIELDS]


def declaration() -> str:
    """The same in C."""
    return f"typedef struct {{ s64 {', '.join(FIELDS)}; }} context;\n"
