"""What a sample is run on, in a form that can be written down."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ccc.harness.sample import Sample


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of a sample.

    Args:
        size: as the sample understands it; nothing where there is a graph.
        seed: what is random is drawn from it.
        kind: one of the sample's; empty where it has one only.
        graph: a file; empty where the sample makes its inputs itself.
    """

    size: int
    seed: int
    kind: str = ""
    graph: str = ""

    @property
    def name(self) -> str:
        """What tells them from others of the sample; empty where nothing has to."""
        return Path(self.graph).name.partition(".")[0] if self.graph else self.kind

    def make(self, sample: Sample) -> dict[str, Any]:
        """The inputs themselves.

        Raises:
            CccError: the sample fails, or the graph cannot be read.
        """
        graph = Path(self.graph) if self.graph else None
        return sample.inputs(self.size, self.seed, graph, self.kind or None)

    def sized(self, size: int) -> Inputs:
        """The same in another size."""
        return replace(self, size=size)


@functools.lru_cache(maxsize=4)
def made(inputs: Inputs, sample: Sample) -> dict[str, Any]:
    """The inputs themselves, kept for a while; nobody may change them.

    Raises:
        CccError: the sample fails, or the graph cannot be read.
    """
    return inputs.make(sample)
