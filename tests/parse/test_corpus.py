"""A small choice of PTX of several compilers: read, printed, and the same machine code.

All of it is done by ``tests/support/corpus.py``, whose counts stand in docs/corpus.md.
"""

from __future__ import annotations

import pytest
from breadth import always
from corpus import Outcome, jobs, outcome, printed
from corpus_makers import Job
from emulating import needs_nvcc

CHOSEN = (
    "llc axpy sm_80", "llc calls sm_80 -O0", "triton add sm_90", "numba axpy sm_90 -lineinfo",
    "nvrtc cases/while_task sm_90 -G", "nvcc cases/while_task sm_90 -lineinfo",
    "nvcc cub/adjacent sm_90",
)  # fmt: skip
KNOWN = {str(job): job for job in jobs(("sm_75", "sm_80", "sm_90", "sm_100"))}


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("name", always(CHOSEN, lambda name: "cub" not in name))
def test_what_compilers_make_is_read_and_printed(name: str) -> None:
    found = outcome(KNOWN[name])
    if isinstance(found, str):
        pytest.skip(found)
    assert (found.read, found.said) == (True, "")
    assert found.characters > 100


def test_the_corpus_has_every_generator_and_architecture() -> None:
    assert {job.generator for job in KNOWN.values()} == {"llc", "triton", "numba", "nvrtc", "nvcc"}
    assert {job.arch for job in KNOWN.values()} == {"sm_75", "sm_80", "sm_90", "sm_100"}
    assert {"-G", "-lineinfo"} <= {option for job in KNOWN.values() for option in job.options}


def test_what_is_printed_is_compared() -> None:
    text = ".version 9.0\n.target sm_90\n.entry k() { .reg .b32 a; mov.u32 a, 1+1; }\n"
    assert "mov.u32 a, 2;" in printed(text)
    assert Outcome(Job("llc", "x", "sm_90")).said == ""
