"""How large blocks may be for stacks to fit: one number for one annotation, and it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from saying import said

from ccc.analysis.paths.model import Path as FoundPath
from ccc.options import AUTO, COLLECT, Options
from ccc.passes.choice import choose
from ccc.passes.choice.beside import know_others
from ccc.passes.choice.chosen import Chosen
from ccc.pipeline import Kernel

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

LISTS = """
__global__ void lists(const long long *v, const int *off, long long *g, int *first, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        long long acc = 0;
        #pragma ccc while
        for (int e = off[i]; e < off[i + 1]; e++) {
            long long a = acc, b = v[e % 3000];
            #pragma ccc while CLAUSE
            while (b) { long long t = a % b; a = b; b = t; }
            acc = a;
        }
        g[i] = acc;
        if (acc == 12345678) { *first = i; }
    }
}
"""
"""Tasks of the inner loop take those of the outer one there and back."""
ROOTS = """
__device__ double f(double x, double c) { return x * x * x - c * x * 1.5 + 0.1 * x - c; }
__global__ void roots(const double *c, double *x, int *ok, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double lo = 0.1, hi = 3.0, flo = f(lo, c[i]), fhi = f(hi, c[i]);
        #pragma ccc if CLAUSE
        if (flo * fhi < 0) {
            #pragma ccc while
            do {
                double m = 0.5 * (lo + hi), fm = f(m, c[i]);
                if (flo * fm <= 0) { hi = m; } else { lo = m; flo = fm; }
            } while (hi - lo > 1e-10);
            ok[i] = 1;
        }
        x[i] = 0.5 * (lo + hi);
    }
}
"""
WINDOW = """
#pragma ccc grid_stride
__global__ void window(const float *in, float *out, int w, int h, float s) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= w * h) return;
    int x = p % w, y = p / w;
    float num = 0, den = 0;
    #pragma ccc while
    for (int dy = -2; dy <= 2; dy++)
        INNER
        for (int dx = -2; dx <= 2; dx++) {
            int X = x + dx, Y = y + dy;
            #pragma ccc if
            if (X >= 0 && Y >= 0 && X < w && Y < h) {
                float d = in[Y * w + X] - in[p];
                float g = 1 / (d * d * s + 1.1f * (dx * dx + dy * dy));
                num += g * in[Y * w + X]; den += g;
            }
        }
    out[p] = num / den;
}
"""

CASES = """
__global__ void cases(const float *__restrict__ x, const int *__restrict__ g, float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float a[24], s = 0;
        for (int k = 0; k < 24; k++) a[k] = x[i * 24 + k];
        #pragma ccc switch CLAUSE
        switch (g[i] & 3) {
            case 0: for (int k = 0; k < 24; k++) s += expf(a[k]); break;
            case 1: for (int k = 0; k < 12; k++) s = sqrtf(s + a[k]); break;
            case 2: for (int k = 0; k < 18; k++) s = rsqrtf(s + a[k]); break;
            case 3: for (int k = 0; k < 9; k++) s = expf(s) - a[k]; break;
        }
        y[i] = s;
    }
}
"""


YEARS = """
__global__ void years(const float *lam, int *cls, float *paid, int n, int years) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = 0, a = lam[i], b = 1;
        int c = cls[i];
        unsigned r = i + 1;
        #pragma ccc while
        for (int y = 0; y < years; y++) {
            int k = 0;
            #pragma ccc while
            while (b > a && k < 50) { r = r * 1664525u + 1; b *= (r >> 8) / 16777216.0f; k++; }
            s += b * powf(0.9f, c); b = 1;
            #pragma ccc if
            if (k == 0) c++;
            else { c -= k; s += logf(1 + k); }
        }
        cls[i] = c; paid[i] = s;
    }
}
"""
"""What has no room for more is found out when some was marked no more."""


def numbers(told: list[str]) -> dict[str, set[str]]:
    """The sizes of blocks that are told, by annotation."""
    found: dict[str, set[str]] = {}
    for line in told:
        place = ":".join(line.split(":")[1:3])
        for fits in re.findall(r"(?:blocks of )?(\d+) (?:fit|threads have room)\b", line):
            found.setdefault(place, set()).add(fits)
    return found


@pytest.mark.parametrize(
    ("source", "clause", "strategy"),
    [(LISTS, "", AUTO), (LISTS, "", COLLECT), (LISTS, "strategy(merge)", AUTO),
     (ROOTS, "", COLLECT), (ROOTS, "strategy(queue)", COLLECT), (ROOTS, "strategy(queue)", AUTO),
     (CASES, "strategy(cases)", AUTO)],
)  # fmt: skip
def test_an_annotation_is_told_one_number_and_it_holds(
    source: str, clause: str, strategy: str, tmp_path: Path
) -> None:
    text = source.replace("CLAUSE", clause)
    told = numbers(said(text, tmp_path, Options(strategy=strategy, max_block=1024)))
    assert all(len(one) == 1 for one in told.values())
    assert told
    fits = min(int(number) for one in told.values() for number in one)
    room = "fit into shared memory"

    def lacks_room(block: int) -> bool:
        options = Options(strategy=strategy, max_block=block)
        return any(room in line for line in said(text, tmp_path, options))

    assert (lacks_room(fits), lacks_room(fits + 32)) == (False, True)


def test_one_number_is_told_where_some_are_marked_no_more(tmp_path: Path) -> None:
    told = numbers(said(YEARS, tmp_path, Options(strategy=COLLECT)))
    assert [len(one) for one in told.values()] == [1, 1]
    ((fits,), *_) = told.values()
    assert not numbers(said(YEARS, tmp_path, Options(strategy=COLLECT, max_block=int(fits))))


def test_of_copies_that_do_not_fit_together_there_had_better_be_one(tmp_path: Path) -> None:
    options = Options(strategy=COLLECT, max_block=1024)
    told = said(WINDOW.replace("INNER", ""), tmp_path, options)
    assert not numbers(told)
    some = said(WINDOW.replace("INNER", ""), tmp_path, replace(options, max_block=128, strict=True))
    (line,) = (one for one in some if "copies" in one)
    assert "remark: path (copies 1, 3 to 5 of 5) left as it was: its context of" in line
    assert line.endswith("; the other copy is applied (merge) [in window]")
    assert 'mark the loop around it that was unrolled "ccc while"' in told[0]
    text = WINDOW.replace("INNER", "\n#pragma ccc while\n")
    (fits,) = {int(*one) for one in numbers(said(text, tmp_path, options)).values()}
    again = said(text, tmp_path, Options(strategy=COLLECT, max_block=fits))
    assert not any("shared memory" in line for line in again)


MACHINE = """
__global__ void interpret(const unsigned char *code, const int *start, int *result, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int pc = start[i], a = i, b = 1;
        bool run = true;
        #pragma ccc while
        while (run) {
            #pragma ccc switch
            switch (code[pc++] & 7) {
                case 0: run = false; break;
                case 1: a += b; break;
                case 2: a *= b; break;
                case 3: b = a % 17; break;
                case 4: if (a > b) pc += 2; break;
                case 5: { int t = a; a = b; b = t; } break;
                default: b++;
            }
        }
        result[i] = a;
    }
}
"""


def test_cases_are_no_copies_of_one_another(tmp_path: Path) -> None:
    told = said(MACHINE, tmp_path, Options(strategy=COLLECT))
    assert not any("copies" in one for one in told)
    assert "; no block has room for all of the cases: remove this annotation, so that" in told[0]
    fewer = said(MACHINE, tmp_path, Options(strategy=COLLECT, max_block=64))
    assert len(fewer) < len(told)
    text = re.sub("case [345].*", "", MACHINE)
    told = said(text, tmp_path, Options(strategy=COLLECT))
    (fits,) = {int(one) for one in re.findall(r"(\d+) fit for all paths", "\n".join(told))}
    assert said(text, tmp_path, Options(strategy=COLLECT, max_block=fits)) == []


def with_values(machine: str, count: int) -> str:
    """The same with more that each task takes along."""
    values = [f"v{n}" for n in range(count)]
    declared = ", ".join(f"{one} = code[i + {n}]" for n, one in enumerate(values))
    machine = machine.replace("int pc", f"int {declared}, pc")
    return machine.replace("= a;", f"= a * {' * '.join(values)};")


def test_cases_that_would_gain_and_have_no_room_are_left_to_the_loop_around(tmp_path: Path) -> None:
    text = MACHINE.replace("a += b", "for (int k = 0; k < pc; k++) a = sinf(a) * b")
    _, first, *_ = said(with_values(text, 20), tmp_path, Options())
    assert ", but its stacks do not fit into shared memory; remove this annotation, so" in first


def test_of_cases_in_no_other_loop_some_have_room(tmp_path: Path) -> None:
    text = MACHINE.replace("#pragma ccc while", "").replace("while (run)", "")
    told = said(with_values(text, 90), tmp_path, Options(strategy=COLLECT))
    assert "; let blocks be smaller, so that more of the cases have room" in told[0]


BONDS = """
__global__ void bonds(const float4 *__restrict__ donor, const int *__restrict__ first,
                      const float4 *__restrict__ place, int *count, float reach, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float4 d = donor[2 * i], h = donor[2 * i + 1];
        const int end = first[i + 1];
        #pragma ccc for variable
        for (int k = first[i]; k < end; ++k) {
            const float4 a = place[k];
            const float x = a.x - d.x, y = a.y - d.y, z = a.z - d.z, r2 = x * x + y * y + z * z;
            #pragma ccc if prob(0.25)
            if (r2 < reach * reach) {
                const float u = h.x - d.x, v = h.y - d.y, w = h.z - d.z;
                const float r = rsqrtf(r2 * (u * u + v * v + w * w));
                if (acosf(fminf(1.0f, (x * u + y * v + z * w) * r)) < 0.5f) atomicAdd(&count[k], 1);
            }
        }
    }
}
"""


@pytest.mark.usefixtures("all_headers")
def test_room_is_not_told_as_all_that_is_missing_where_it_is_not(tmp_path: Path) -> None:
    """With the size of blocks known the same would be left for what else is said of it."""
    (line,) = said(BONDS, tmp_path, Options(max_block=1024))
    assert ", and its stacks do not fit into shared memory; tell with a profile" in line
    size = re.search(r"\(--ccc-profile\); and blocks of (\d+) threads have room", line)
    assert size is not None
    (line,) = said(BONDS, tmp_path, Options(max_block=int(size[1])))
    assert "in the worst case of all that would be done" in line
    assert "fit into" not in line


SEARCHED = """
#pragma ccc grid_stride
__global__ void k(const float *sorted, const float *wanted, size_t *found, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float z = wanted[i];
    size_t low = 0, high = n;
    #pragma ccc while
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        #pragma ccc if
        if (z < sorted[mid]) high = mid;
        else low = mid;
    }
    found[i] = low;
}
"""


def test_room_is_not_what_a_branch_lacks_that_gains_nothing_in_any_case(tmp_path: Path) -> None:
    """What is expected comes of the loop around, that would have to be handed on with it."""
    lines = said(SEARCHED, tmp_path, Options(strategy=AUTO))
    branch, *_ = (line for line in lines if line.startswith("k.cu:10:"))
    assert ": too short to gain as far as is known; remove the annotation" in branch
    assert "fit into shared memory" not in branch


ARMS = {
    "queued": """#pragma ccc switch strategy(queue)
        switch (key[i] & 3) { case 0: { WORK r = ALL; } break; case 1: { WORK r = SOME; } break;
                              case 2: { WORK r = FEW; } break; default: { WORK r = ALL + 3; } }""",
    "by_cases": """#pragma ccc switch strategy(cases)
        switch (key[i] & 3) { case 0: { WORK r = ALL; } break; case 1: { WORK r = SOME; } break;
                              case 2: { WORK r = FEW; } break; default: { WORK r = ALL + 3; } }""",
    "two": """#pragma ccc if strategy(queue)
        if (key[i] > 3) { WORK r = ALL; } else { WORK r = FEW; }""",
}
WIDE = """__global__ void
NAME(const float *__restrict__ x, const int *__restrict__ key, float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double a = x[i], b = a * x[i + 1], c = b * x[i + 2], d = c * x[i + 3], e = sqrt(a);
        double f = e * x[i + 4], g = f * x[i + 5], h = g * a + x[i + 6], k = h * x[i + 7];
        float r = 0;
        ARMS
        y[i] = r + a + b + c + d + e + f + g + h + k;
    }
}
"""
WORDS = {
    "WORK": "float t = x[i]; for (int q = 0; q < 40; ++q) t = t * t + 0.1f;",
    "ALL": "t * a * b * c * d * e * f * g * h * k",
    "SOME": "t - a * b * c * d + e",
    "FEW": "t + a * b",
}


def test_all_arms_and_cases_are_told_of_one_size_which_has_room_for_each(tmp_path: Path) -> None:
    source = ""
    for name, arms in ARMS.items():
        kernel = WIDE.replace("NAME", name).replace("ARMS", arms)
        for word, code in WORDS.items():
            kernel = re.sub(rf"\b{word}\b", code, kernel)
        source += kernel
    lines = said(source, tmp_path, Options(strategy=COLLECT, max_block=1024))
    assert not any("there is one path only" in line for line in lines)
    for name in ARMS:
        told = [line for line in lines if line.endswith(f"[in {name}]")]
        (size,) = {size for one in told for size in re.findall(r"blocks of (\d+) threads", one)}
        fitting = said(source, tmp_path, Options(strategy=COLLECT, max_block=int(size)))
        assert not any(line.endswith(f"[in {name}]") for line in fitting)


CROWDED = """__global__ void k(const float *x, float *y, int n) {
    __shared__ float all[4000];
    all[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        #pragma ccc if
        if (v > 0) for (int j = 0; j < 2; j++) v = sqrtf(v + j) * all[(int)v & 1023];
        y[i] = v;
    }
}
"""


def test_a_copy_is_told_of_though_only_the_stacks_of_others_have_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def crowd(every: Mapping[FoundPath, Chosen], kernel: Kernel) -> None:
        know_others(every, kernel)
        for chosen in every.values():
            chosen.crowded, chosen.is_alone = dict.fromkeys(chosen.considered, 3000), False

    monkeypatch.setattr(choose, "know_others", crowd)
    (line,) = said(CROWDED, tmp_path, Options(max_block=1024))
    assert "left as it was: 34 machine instructions by its code" in line
