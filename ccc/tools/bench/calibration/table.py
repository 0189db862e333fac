"""The table of constants: those in the compiler beside what is measured."""

from __future__ import annotations

from itertools import chain

from ccc.device.choose import Device
from ccc.passes.choice.exchange import CARD
from ccc.tools.bench.calibration import exchanges, gains, launches, memory
from ccc.tools.bench.calibration.card import Card


def show(device: Device) -> None:
    """Print the table, a line as soon as it is there."""
    print(f"issue slots: those in the compiler are of {CARD}, these of {device.describe()}")
    print(f"{'constant':<24}{'in the compiler':>16}{'measured':>12}{'off':>8}")
    card = Card(device)
    pieces = (exchanges, memory, gains, launches)
    for one in chain(card.steps(), *(piece.constants(card) for piece in pieces)):
        known = "-" if one.known is None else f"{one.known:g}"
        off = "-" if one.off is None else f"{one.off:.0%}"
        print(f"{one.name:<24}{known:>16}{one.measured:>12.2f}{off:>8}", flush=True)
