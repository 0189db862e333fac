"""Runs PTX on the CPU, warp by warp, and counts what it costs.

A launch with ``races=[]`` also finds accesses of a warp's lanes that nothing orders, and puts them
into that list (:mod:`ccc.emulator.run.races`). An ``assert`` that fails is an error of the launch;
``printf`` prints at once. Arguments that are a :class:`Texture` or a :class:`Surface` are handles;
a :class:`Structure` is passed by value, and an :class:`AddressOf` one as its address.
"""

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.memory.images import Surface, Texture
from ccc.emulator.run.counters import Counters
from ccc.emulator.run.module import LoadedKernel as Kernel
from ccc.emulator.run.module import LoadedModule as Module
from ccc.emulator.run.races import Race
from ccc.emulator.run.structures import AddressOf, Structure

__all__ = [
    "AddressOf",
    "Counters",
    "EmulatorError",
    "Kernel",
    "Module",
    "Race",
    "Structure",
    "Surface",
    "Texture",
]
