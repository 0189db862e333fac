"""A wave in the C library's hands, with a race detector that sees what lanes do there."""

from __future__ import annotations

import numpy as np

from ccc.emulator.base.forms import Array
from ccc.emulator.native.wave import NativeWave, address_of, are_same
from ccc.emulator.run.watched import WatchedWave
from ccc.emulator.translate.program import Segment


class WatchedNativeWave(WatchedWave, NativeWave):
    """The library notes what is in order (races.c); all else it leaves to the detector."""

    def start(self, limit: int) -> None:
        """As of :class:`NativeWave`."""
        self.shadow_tables: dict[str, Array] = {}
        self.shadow_arrays: dict[str, list[Array]] = {"shared": [], "global": []}
        super().start(limit)
        self.context.clock = address_of(self.detector.clock)
        self.context.ended = address_of(self.detector.ended)
        self.context.strong = address_of(self.detector.strong)

    def refresh(self) -> None:
        """As of :class:`NativeWave`, also of what is known of each byte."""
        super().refresh()
        left, context = self.detector.left, self.context
        if context.left_size != len(left.keys):
            context.left_keys, context.left_clocks = address_of(left.keys), address_of(left.clocks)
            context.left_count, context.left_size = address_of(left.count), len(left.keys)
        for name, before in self.shadow_arrays.items():
            space = self.memory.spaces[name]
            arrays = list(vars(self.detector.shadow(name, len(space.data))).values())
            if not are_same(arrays, before):
                self.shadow_arrays[name] = arrays
                table = np.array([address_of(array) for array in arrays], np.int64)
                self.shadow_tables[name] = table
                setattr(self.context, f"{name}_shadow", address_of(table))

    def tells(self, segment: Segment) -> bool:
        """As of :class:`WatchedWave`, where the library does not join their clocks itself."""
        joins = self.compiled.encoded.segments[segment.number][-1]
        return not joins and super().tells(segment)
