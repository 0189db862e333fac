"""Cuckoo hashing: tables built by a loop and by a recursive function; see ``kernel.cu``.

D. A. Alcantara et al.: Real-Time Parallel Hashing on the GPU, 2009, with the whole table in global
memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIZES = {"gpu": 100_000_000, "emulator": 40_000}
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    "loop merging": ("rivals/loop_merging.cu", ()),
    "refill at 1 idle lane": ("rivals/refill.cu", ("-DIDLE=1",)),
    "refill at 8 idle lanes": ("rivals/refill.cu", ("-DIDLE=8",)),
    "collection by hand, shared": ("rivals/collection.cu", ("-DSHARED",)),
    "collection by hand, registers": ("rivals/collection.cu", ()),
}
BOUND = ("kernel.cu", ("-DTABLES=32",))
PAPER = 1.20
LOAD = 0.9
EMPTY = np.uint64(0xFFFFFFFF_FFFFFFFF)
FORMS = ("loop", "recursive")


def inputs(size: int, seed: int) -> dict[str, Any]:
    """Pairs of distinct keys and random values, and an empty table that they fill to ``LOAD``.

    Args:
        size: how many pairs.
        seed: what they are drawn from.

    Returns:
        ``pairs`` (size,) and ``table`` (size / LOAD,), uint64, the key in the upper half;
        ``values`` (size,), uint32, and ``lost`` (1,), int32, all 0.
    """
    # A random start and steps of an odd size: distinct numbers, which the mixing keeps distinct.
    start, step = np.random.default_rng(seed).integers(0, 2**32, 2, np.uint32)
    keys = _mixed(np.arange(size + 1, dtype=np.uint32) * (step | np.uint32(1)) + start)
    keys = keys[keys != np.uint32(0xFFFFFFFF)][:size]  # that key marks an empty slot
    values = _mixed(keys) >> np.uint32(1)  # 31 bits: none is the mark of a missing key
    return {
        "pairs": keys.astype(np.uint64) << np.uint64(32) | values,
        "table": np.full(int(size / LOAD) + 1, EMPTY),
        "values": np.zeros(size, np.uint32),
        "lost": np.zeros(1, np.int32),
    }


def _mixed(numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A one-to-one function of 32-bit numbers that look random."""
    for factor in (0x7FEB352D, 0x846CA68B):
        numbers = (numbers ^ numbers >> np.uint32(16)) * np.uint32(factor)
    return numbers ^ numbers >> np.uint32(15)


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """A thirty-second of the pairs, each 32 times: all lanes of a warp fill tables of their own.

    These lie one behind another, so that lanes come to places as far apart as those in one table.
    """
    pairs, slots = inputs["pairs"], inputs["table"].size
    return {
        **inputs,
        "pairs": np.repeat(pairs[: -(-pairs.size // 32)], 32)[: pairs.size],
        "table": np.full(-(-slots // 32) * 32, EMPTY),
    }


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Build a table with each form, and look up every key in it.

    Which of its slots a pair ends in depends on the order of the insertions, so that the tables
    themselves are no outputs, but what must not depend on it.

    Returns:
        For both forms: ``found_..``, how many keys were found with their value; ``stored_..``, how
        many slots are in use; ``lost_..``, how many pairs found no slot. All int64.
    """
    outputs: dict[str, Any] = {}
    for form in FORMS:
        table, values, lost = (inputs[name].copy() for name in ("table", "values", "lost"))
        pairs = inputs["pairs"]
        sizes = np.int32(pairs.size), np.uint32(table.size)
        _launch(module, f"insert_{form}", pairs.size, (*sizes, pairs, table, lost))
        _launch(module, "retrieve", pairs.size, (*sizes, pairs, table, values))
        outputs[f"found_{form}"] = np.int64(int((values == pairs.astype(np.uint32)).sum()))
        outputs[f"stored_{form}"] = np.int64(int((table != EMPTY).sum()))
        outputs[f"lost_{form}"] = np.int64(int(lost[0]))
    return outputs


def _launch(module: Any, name: str, count: int, arguments: tuple[Any, ...]) -> None:
    """As many blocks as the device holds at once, or fewer where there is less to do."""
    blocks = min(module.resident_blocks(name, BLOCK), -(-count // BLOCK))
    module.get_function(name)((blocks,), (BLOCK,), arguments)


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Every key was found with its value, and the table holds nothing else.

    Keys are distinct, so that the counts tell it all.

    Raises:
        CccError: a pair is missing or lost, or a slot is in use that should not be.
    """
    pairs = inputs["pairs"].size
    for form in FORMS:
        if lost := int(outputs[f"lost_{form}"]):
            raise CccError(f"{form}: {lost} pairs found no slot; take another --seed")
        if (found := int(outputs[f"found_{form}"])) != pairs:
            raise CccError(f"{form}: {found} of {pairs} keys are found with their value")
        if (stored := int(outputs[f"stored_{form}"])) != pairs:
            raise CccError(f"{form}: the table holds {stored} pairs instead of {pairs}")
