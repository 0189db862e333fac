"""What tests compile in their own process is what nvcc and our shim come to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import in_process
import pytest
from emulating import needs_nvcc
from nvcc_project import KERNEL, REFUSED

from ccc.nvcc import run as nvcc
from ccc.nvcc.run import Outcome
from ccc.options import COLLECT, Options

TOLD = '#warning "told"\n#include "more.cuh"\n__global__ void plain(int *p) { p[0] = MORE; }\n'

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]


CASES = [
    (KERNEL, Options(strategy=COLLECT, measure=True)),
    (REFUSED, Options()),
    (KERNEL, Options(off=True)),
    (TOLD, Options(measure=True)),
]


def made(words: list[str], options: Options, *, here: bool) -> tuple[Outcome, str]:
    outcome = in_process._run(words, options) if here else nvcc.run(words, options, capture=True)
    return replace(outcome, original=outcome.original.rstrip()), Path(words[-1]).read_text()


@pytest.mark.slow
def test_it_comes_to_the_same(tmp_path: Path) -> None:
    (tmp_path / "more.cuh").write_text("#define MORE 7\n")
    for text, options in CASES:
        source, again = tmp_path / "k.cu", tmp_path / "again" / "k.cu"
        again.parent.mkdir(exist_ok=True)
        (again.parent / "more.cuh").write_text("#define MORE 7\n")
        for one in (source, again):
            one.write_text(text.replace("{name}", "k"))
            words = ["-ptx", "-arch=sm_90", "-lineinfo", str(one), "-o", str(tmp_path / "k.ptx")]
            assert made(words, options, here=True) == made(words, options, here=False)


@pytest.mark.slow
def test_errors_are_told_by_nvcc(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k() { not_declared(); }\n")
    words = ["-ptx", "-arch=sm_90", str(tmp_path / "k.cu"), "-o", str(tmp_path / "k.ptx")]
    outcome = in_process.run(words, Options(), capture=True)
    assert outcome.code
    assert 'identifier "not_declared" is undefined' in outcome.stderr
