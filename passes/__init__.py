"""The transformations, named as the paper names them, in the order in which they run."""

from __future__ import annotations

from ccc.passes.booleans import Booleans
from ccc.passes.bound_motion import BoundMotion
from ccc.passes.context_collection import ContextCollection
from ccc.passes.context_compression import ContextCompression
from ccc.passes.early_loads import EarlyLoads
from ccc.passes.flattening import Flattening
from ccc.passes.grid_stride import GridStride
from ccc.passes.high_products import HighProducts
from ccc.passes.invariant_motion import InvariantMotion
from ccc.passes.iteration_numbers import IterationNumbers
from ccc.passes.known_branches import KnownBranches
from ccc.passes.load_motion import LoadMotion
from ccc.passes.melding import Melding
from ccc.passes.narrow_counters import NarrowCounters
from ccc.passes.recursion import Recursion
from ccc.passes.separate_choices import SeparateChoices
from ccc.pipeline import Pass

PIPELINE: tuple[type[Pass], ...] = (
    Recursion,
    GridStride,
    Melding,
    InvariantMotion,
    LoadMotion,
    BoundMotion,
    NarrowCounters,
    KnownBranches,
    SeparateChoices,
    IterationNumbers,
    Flattening,
    ContextCompression,
    EarlyLoads,
    ContextCollection,
    HighProducts,
    Booleans,
)
