"""Runs PTX on the CPU, warp by warp, and counts what it costs."""

from ccc.emulator.counters import Counters
from ccc.emulator.errors import EmulatorError
from ccc.emulator.module import Kernel, Module
from ccc.emulator.races import Race

__all__ = ["Counters", "EmulatorError", "Kernel", "Module", "Race"]
