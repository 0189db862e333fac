"""What the paper measured, by the samples that follow its programs.

F. Khorasani, R. Gupta, L. N. Bhuyan: Efficient Warp Execution in Presence of Divergence with
Collaborative Context Collection, MICRO-48, 2015; the figures here are from the text of section
4.1.5 and from table 4.1 of F. Khorasani's dissertation, 2016. NVIDIA GeForce GTX 780, CUDA 7.0. The
speedups stand in the samples, as ``PAPER``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PaperProgram:
    """A program of the paper, without and with CCC.

    Args:
        name: in the paper.
        efficiency: warp execution efficiency, 0 to 1; None where the text does not tell.
        registers: of a thread.
        shared: bytes of shared memory a thread.
    """

    name: str
    efficiency: tuple[float | None, float | None]
    registers: tuple[int, int]
    shared: tuple[int, int]


PROGRAMS = {
    "bfs": PaperProgram("BFS", (0.58, None), (15, 26), (0, 8)),
    "quadrature_grid": PaperProgram("DQG", (0.37, 0.93), (25, 31), (8, 24)),
    "integral_equation": PaperProgram("EMIES", (0.44, 0.92), (28, 32), (0, 24)),
    "fractal_flame": PaperProgram("FF", (0.13, 0.53), (21, 29), (0, 24)),
    "cuckoo_hash": PaperProgram("HASH", (0.25, 0.96), (22, 28), (0, 12)),
    "inverse_erf": PaperProgram("IEFA", (0.41, 0.97), (24, 32), (0, 24)),
    "ray_tracing": PaperProgram("RT", (0.67, 0.96), (21, 27), (0, 24)),
    "sssp": PaperProgram("SSSP", (0.64, None), (19, 29), (0, 16)),
}

MEAN_SPEEDUP = 1.69
MEAN_EFFICIENCY = (0.437, 0.898)
"""Of the eight, without and with CCC."""
