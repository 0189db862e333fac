"""The examples of docs/cte.md against NumPy: as they stand, and shared out in other ways."""

from __future__ import annotations

import functools
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from breadth import always
from emulating import cuda, needs_nvcc
from folders import DOCS

import ccc
from ccc.emulator import Module, Race

PAGE = (DOCS / "cte.md").read_text()
AS_IT_STANDS = ""
OTHERS = ("thread", "warp", "automatic", "block", *(f"sub_warp<{n}>" for n in (2, 4, 8, 16, 32)))
ALWAYS = (AS_IT_STANDS, "block", "sub_warp<8>")
"""Most examples stand as shared out by a warp; each other way takes nvcc a second or more."""
SUMMARY = np.dtype([("sum", "f4"), ("most", "f4"), ("count", "i4")])
TOGETHER = "how"
pytestmark = needs_nvcc

_CALL = re.compile(r"cte::(for_each(?:_index)?)<(?=\d)")
_KERNEL = re.compile(r"__global__ void (\w+)\(")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", PAGE, re.M | re.S)


@functools.cache
def compiled(how: str) -> Module:
    """All examples, each in a namespace; ``how`` they are shared out, if otherwise than shown."""
    parts = ["#include <cstdio>\n#include <cte.cuh>\n"]
    for number, code in enumerate(blocks("c++")):
        body = code.replace("#include", "//").replace('extern "C" ', "")
        if how:
            body = _CALL.sub(rf"cte::\1<cte::{how}, ", body)
        body = body.replace("int main()", "int host()")
        parts.append(f"namespace example{number} {{\n{body}}}\n")
    return cuda("".join(parts), "-std=c++17", f"-I{ccc.include()}")


def launch(how: str, schedule: str | int, name: str, threads: int, *arguments: Any) -> None:
    module = compiled(how)
    (kernel,) = [one for one in module.pieces if re.search(rf"\d{name}E", one)]
    block = 64 if name == "squares" else 256
    races: list[Race] = []
    grid = (-(-threads // block),)
    module.get_function(kernel)(grid, (block,), arguments, schedule=schedule, races=races)
    assert not races


class Lists:
    """Lists of different lengths, as of the rows of a matrix."""

    def __init__(self, count: int = 300, longest: int = 150):
        self.rng = rng = np.random.default_rng(11)
        lengths = np.where(rng.random(count) < 0.02, 150, rng.integers(0, 7, count))
        lengths[count // 2] = longest
        self.count = count
        self.rows = np.r_[0, np.cumsum(lengths)].astype(np.int32)
        self.total = int(self.rows[-1])
        self.columns = rng.integers(0, count, self.total).astype(np.int32)
        self.values = rng.integers(0, 9, self.total).astype(np.float32)

    def each(self, of: Any) -> list[Any]:
        """What a function makes of each list, given as a slice."""
        return [of(slice(a, b)) for a, b in zip(self.rows[:-1], self.rows[1:], strict=True)]


def spmv(run: Any, lists: Lists) -> None:
    x = lists.rng.integers(0, 5, lists.count).astype(np.float32)
    y = np.full(lists.count, -1, np.float32)
    run(lists.count, lists.values, lists.columns, lists.rows, x, y, np.int32(lists.count))
    products = lists.values * x[lists.columns]
    assert y.tolist() == lists.each(lambda row: products[row].sum())


def squares(run: Any, lists: Lists) -> None:
    sums = np.zeros(lists.count, np.int32)
    run(lists.count, lists.rows, sums, np.int32(lists.count))
    all_squares = np.arange(lists.total, dtype=np.int32) ** 2
    assert sums.tolist() == lists.each(lambda row: all_squares[row].sum(dtype=np.int32))


def relax(run: Any, lists: Lists) -> None:
    weights = lists.rng.integers(1, 50, lists.total).astype(np.int32)
    cost = lists.rng.integers(0, 99, lists.count).astype(np.int32)
    active = lists.rng.integers(0, 2, lists.count).astype(np.int8)
    offers = np.full(lists.count, 10_000, np.int32)
    expected = offers.copy()
    sources = np.repeat(np.arange(lists.count), np.diff(lists.rows))
    by = active[sources] == 1
    np.minimum.at(expected, lists.columns[by], (cost[sources] + weights)[by])
    parts = (lists.rows, lists.columns, weights, cost, active, offers)
    run(lists.count, *parts, np.int32(lists.count))
    assert np.array_equal(offers, expected)


def summaries(run: Any, lists: Lists) -> None:
    out = np.zeros(lists.count, SUMMARY)
    run(lists.count, lists.values, lists.rows, out, np.int32(lists.count))

    def of(row: slice) -> tuple[float, float, int]:
        values = lists.values[row]
        return float(values.sum()), float(values.max(initial=0)), len(values)

    assert out.tolist() == lists.each(of)


def near(run: Any, lists: Lists) -> None:
    charge = lists.rng.integers(0, 9, lists.count).astype(np.float32)
    total = np.zeros(lists.count, np.float32)
    run(lists.count, lists.rows, lists.columns, charge, total, np.int32(lists.count))
    assert total.tolist() == lists.each(lambda row: charge[lists.columns[row]].sum())


def multiples(run: Any, _: Lists) -> None:
    composite = np.zeros(200, np.uint8)
    run(200, composite, np.int32(200))
    primes = [n for n in range(2, 200) if not composite[n]]
    assert primes == [n for n in range(2, 200) if all(n % k for k in range(2, n))]


def degree_sums(run: Any, lists: Lists) -> None:
    sums = np.full(lists.count, -1, np.int32)
    run(lists.count, lists.rows, lists.columns, sums, np.int32(lists.count))
    degrees = np.diff(lists.rows)[lists.columns]
    assert sums.tolist() == lists.each(lambda row: degrees[row].sum())


def spmv_with_hubs(run: Any, _: Lists) -> None:
    spmv(run, Lists(longest=9000))


CHECKS = {
    **{
        check.__name__: check
        for check in (spmv, squares, relax, summaries, near, multiples, spmv_with_hubs)
    },
    "by_warp": degree_sums,
    "by_eight": degree_sums,
}


def test_all_kernels_of_the_page_are_checked() -> None:
    assert set(_KERNEL.findall("".join(blocks("c++")))) == set(CHECKS)


def check(name: str, how: str, schedule: str | int) -> None:
    CHECKS[name](functools.partial(launch, how, schedule, name), Lists())


@pytest.mark.parametrize("name", CHECKS)
def test_as_it_stands(name: str) -> None:
    check(name, AS_IT_STANDS, "lockstep")


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("how", always([AS_IT_STANDS, *OTHERS], lambda how: how in ALWAYS))
def test_shared_out(name: str, how: str) -> None:
    """In lockstep, and in an order of its own for each."""
    if how:
        check(name, how, "lockstep")
    check(name, how, len(name) + 7 * len(how))


@pytest.mark.gpu
@pytest.mark.parametrize("program", blocks("python"))
def test_a_program_of_cupy(program: str) -> None:
    exec(compile(program, "cte.md", "exec"), {})


@pytest.mark.gpu
def test_a_program_of_nvcc(tmp_path: Path) -> None:
    (code,) = [code for code in blocks("c++") if "int main()" in code]
    source = tmp_path / "lengths.cu"
    source.write_text(code)
    app = tmp_path / "lengths"
    subprocess.run(["nvcc", "-std=c++17", f"-I{ccc.include()}", "-o", app, source], check=True)
    printed = subprocess.run([app], capture_output=True, text=True, check=True).stdout
    (shown,) = re.findall(r"// ([\d, ]+)$", code, re.M)
    assert printed.split() == shown.split(", ")
