"""Runs PTX on the CPU, warp by warp, and counts what it costs.

A launch with ``races=[]`` also finds accesses of a warp's lanes that nothing orders, and puts them
into that list (:mod:`ccc.emulator.races`).
"""

from ccc.emulator.counters import Counters
from ccc.emulator.errors import EmulatorError
from ccc.emulator.module import Kernel, Module
from ccc.emulator.races import Race

__all__ = ["Counters", "EmulatorError", "Kernel", "Module", "Race"]
