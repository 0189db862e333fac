"""Files of many annotated kernels: those of tests/cases side by side, or one template's instances.

python tests/support/many_kernels.py 150 > many.cu
python tests/support/many_kernels.py 150 instances > many.cu
"""

from __future__ import annotations

import re
import sys

from folders import TESTS

CASES = TESTS / "cases"

_KERNEL = re.compile(r"\bk(?=\s*\()")
_INCLUDE = re.compile(r"^#include[^\n]*\n", re.MULTILINE)
_DEFINE = re.compile(r"^#define (\w+)", re.MULTILINE)

INSTANCES = """\
template <int N> __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a % (N + 2) == 0) {
            unsigned b = a;
            for (int turn = 0; turn < N + 20; turn++) b = b * 1664525u + a;
            y[i] = b;
        }
    }
}
"""


def different(count: int) -> str:
    """The first ``count`` of the cases, each in a namespace of its own; again from the first one
    where there are fewer."""
    texts = [path.read_text() for path in sorted(CASES.glob("*.cu"))]
    includes = "".join(sorted({line for text in texts for line in _INCLUDE.findall(text)}))
    return includes + "".join(_renamed(texts[n % len(texts)], n) for n in range(count))


def _renamed(text: str, number: int) -> str:
    body = _INCLUDE.sub("", _KERNEL.sub(f"k{number}", text))
    left = "".join(f"#undef {name}\n" for name in _DEFINE.findall(body))
    return f"namespace n{number} {{\n{body.rstrip()}\n}}\n{left}"


def instances(count: int) -> str:
    """A template and ``count`` instances of it."""
    named = [
        f"template __global__ void k<{n}>(int, const unsigned *, unsigned *);" for n in range(count)
    ]
    return INSTANCES + "\n".join(named) + "\n"


if __name__ == "__main__":
    print((instances if "instances" in sys.argv else different)(int(sys.argv[1])), end="")
