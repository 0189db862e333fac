"""printf, malloc and free in kernels."""

from __future__ import annotations

import numpy as np
import pytest
from emulating import cuda, needs_nvcc, run

from ccc.emulator import EmulatorError
from ccc.emulator.memory.printing import printed

pytestmark = pytest.mark.usefixtures("few_headers")


@needs_nvcc
def test_printf(capsys: pytest.CaptureFixture[str]) -> None:
    module = cuda(r"""
    #include <cstdio>
    extern "C" __global__ void k(int *out) {
        int i = threadIdx.x;
        if (i % 2) out[i] = printf("%d %5u|%-6.2f|%s %c %lld%%\n", -i, 7u, 1.5f * i, "odd", 'a' + i,
                                   1ll << (32 + i));
        else out[i] = printf("plain\n");
    }""")
    out = np.full(4, -1, np.int32)
    run(module, out, threads=4)
    odd = [f"{-i}     7|{1.5 * i:<6.2f}|odd {chr(97 + i)} {1 << (32 + i)}%" for i in (1, 3)]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(["plain"] * 2 + odd)
    assert out.tolist() == [0, 6, 0, 6]


CASES = [
    ("%5d|%-5d|%05d|%+d|% d", [42, 42, 42, 42, 42], "   42|42   |00042|+42| 42"),
    ("%x %#x %X %o %#o", [255, 255, 255, 8, 8], "ff 0xff FF 10 010"),
    ("%hhd %hd %u", [0x1FF, 0x18000, 0xFFFFFFFF], "-1 -32768 4294967295"),
    ("%.3d|%8.3d|%#x", [5, 5, 0], "005|     005|0"),
    ("%*d|%-*d|%*d|", [5, 1, 4, 2, -3, 7], "    1|2   |7  |"),
    ("%.0d|%.*d|%.*x", [0, 0, 0, -1, 0], "||0"),
]


@pytest.mark.parametrize(("template", "values", "expected"), CASES)
def test_formats_of_integers(template: str, values: list[int], expected: str) -> None:
    found, count = printed(template, lambda place, _: values[place // 4], str)
    assert (found, count) == (expected, len(values))


def test_formats_of_doubles_and_texts() -> None:
    bits = [np.float64(x).view(np.uint64).item() for x in (0.1, 1e10, -2.5, 1.0)]
    found, _ = printed("%g %e %.1f %a", lambda place, _: bits[place // 8], str)
    assert found == "0.1 1.000000e+10 -2.5 0x1p+0"
    found, _ = printed("%05f|%+.2a|% a", lambda *_: 0x7FF0000000000000, str)
    assert found == "  inf|+inf| inf"
    found, _ = printed("%s %.2s|%5s|%s", lambda place, _: place, lambda at: f"text{at}")
    assert found == "(null) te|text16|text24"


@needs_nvcc
def test_the_heap() -> None:
    module = cuda(r"""
    __device__ int *kept[64];
    extern "C" __global__ void k(int *out, int how) {
        int i = threadIdx.x;
        if (how == 0) { kept[i] = (int *)malloc(4 * (i + 1)); kept[i][i] = 10 * i; }
        if (how == 1) { out[i] = kept[i][i]; free(kept[i]); free(nullptr); }
        if (how == 2) free(kept[i]);
        if (how == 3) out[i] = kept[i][i];
        if (how == 4) { void *p = malloc(9 << 20); out[i] = p == nullptr; }
        if (how == 5) for (int n = 0; n < 50; ++n) { void *p = malloc(1 << 16); out[i] = !!p;
                                                      free(p); }
    }""")
    out = np.zeros(32, np.int32)
    run(module, out, np.int32(0))
    run(module, out, np.int32(1))
    assert out.tolist() == [10 * i for i in range(32)]
    with pytest.raises(EmulatorError, match="free of what malloc did not give, or twice"):
        run(module, out, np.int32(2))
    with pytest.raises(EmulatorError, match="out-of-bounds global access"):
        run(module, out, np.int32(3))
    for how in (4, 5):
        run(module, out, np.int32(how))
        assert out.all()
