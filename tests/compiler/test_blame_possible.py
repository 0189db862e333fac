"""What users are told to do can be done: kernels for which a near advice would lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

HEAD = "int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x"
LONG = "for (int j = 0; j < 60; j++)"
KERNELS = """
__global__ void queue(int *queue, int *head, int *tail) {
    #pragma ccc for
    while (true) {
        int i = atomicAdd(head, 1);
        if (i >= *tail) break;
        int v = queue[i];
        #pragma ccc if
        if (v > 1) { int t = atomicAdd(tail, 2); queue[t] = v / 2; queue[t + 1] = v - v / 2; }
    }
}
__global__ void count(const int *row, const int *label, int *out, int n) {
    #pragma ccc for
    for (HEAD) {
        int same = 0;
        const int end = row[i + 1];
        #pragma ccc for variable
        for (int j = row[i]; j < end; j++) {
            #pragma ccc if
            if (label[j] == label[i]) same++;
        }
        out[i] = same;
    }
}
__global__ void count_all(const int *row, const int *label, int *out, int n) {
    int same = 0;
    #pragma ccc for
    for (HEAD) {
        const int end = row[i + 1];
        #pragma ccc while
        for (int j = row[i]; j < end; j++) {
            #pragma ccc if
            if (label[j] == label[i]) same++;
        }
    }
    out[threadIdx.x] = same;
}
__global__ void nearest(const float *points, int n, const float *queries, int m, float *out) {
    for (int q = threadIdx.x; q < m; q += blockDim.x) {
        float d[8];
        for (int k = 0; k < 8; k++) d[k] = 1e30f;
        #pragma ccc for
        for (int j = 0; j < n; j++) {
            float e = fabsf(points[j] - queries[q]);
            #pragma ccc if
            if (e < d[7]) {
                int k = 7;
                while (k > 0 && d[k - 1] > e) { d[k] = d[k - 1]; k--; }
                d[k] = e;
            }
        }
        for (int k = 0; k < 8; k++) out[q * 8 + k] = d[k];
    }
}
__global__ void two_arms(const float *x, float *y, int n) {
    #pragma ccc for
    for (HEAD) {
        float b[8];
        for (int j = 0; j < 8; j++) b[j] = x[i + j];
        #pragma ccc if
        if (b[0] > 0) { int p = 0; LONG p = (int)b[p & 7] + j; y[i] = p; }
        else { float v = x[i]; LONG v = sqrtf(v + 1); y[i] = v; }
    }
}
__global__ void three_cases(const float *x, const int *op, float *y, int n) {
    #pragma ccc for
    for (HEAD) {
        float b[8];
        for (int j = 0; j < 8; j++) b[j] = x[i + j];
        #pragma ccc switch
        switch (op[i]) {
            case 0: { int p = 0; LONG p = (int)b[p & 7] + j; y[i] = p; break; }
            case 1: { float v = x[i]; LONG v = sqrtf(v + 1); y[i] = v; break; }
            case 2: { int p = 1; LONG p = (int)b[p & 7] * j; y[i] = p; break; }
        }
    }
}
template <int S> __device__ void part(const float *b, float *y, int i) {
    #pragma ccc if
    if (b[S] > 0) { int p = S; LONG p = (int)b[p & 7] + j; y[i] = p; }
}
__global__ void called_twice(const float *x, float *y, float *z, int n) {
    #pragma ccc for
    for (HEAD) {
        float b[8];
        for (int j = 0; j < 8; j++) b[j] = x[i + j];
        part<0>(b, y, i); part<1>(b, z, i);
    }
}
__device__ void sum(const int *left, const int *right, int node, int &total) {
    if (node < 0) return;
    total += node;
    sum(left, right, left[node], total);
    sum(left, right, right[node], total);
}
__global__ void by_itself(const int *left, const int *right, const int *start, int *out, int n) {
    #pragma ccc for
    for (HEAD) {
        int total = 0;
        #pragma ccc if
        if (start[i] > 3) sum(left, right, start[i], total);
        out[i] = total;
    }
}
#pragma ccc recursion
__device__ int depth(const int *first, const int *next, int node) {
    int d = 0;
    for (int c = first[node]; c >= 0; c = next[c]) d = max(d, depth(first, next, c));
    return d + 1;
}
__global__ void tree(const int *first, const int *next, const int *root, int *out, int n) {
    #pragma ccc for
    for (HEAD) out[i] = depth(first, next, root[i]);
}
__global__ void board(const int *x, int *out, int n) {
    #pragma ccc for
    for (HEAD) {
        char b[150];
        for (int j = 0; j < 150; j++) b[j] = x[i + j];
        int at = x[i], steps = 0;
        #pragma ccc while
        while (at > 0) { int p = b[at % 150]; b[p & 127] ^= at; at -= p & 3; steps++; }
        out[i] = steps;
    }
}
__global__ void most(const int *row, const float *x, float *y, int n) {
    #pragma ccc for
    for (HEAD) {
        float m = 0; const int e = row[i + 1];
        #pragma ccc for variable
        for (int j = row[i]; j < e; j++) m = fmaxf(m, x[j]);
        y[i] = m;
    }
}
__global__ void elements(const int *row, const float *x, float *y, int n) {
    #pragma ccc for
    for (HEAD) {
        float m[3] = {0, 0, 0}; const int e = row[i + 1];
        #pragma ccc for variable
        for (int j = row[i]; j < e; j++) { m[0] += x[j]; m[1] += x[2 * j]; m[2] += x[3 * j]; };
        y[i] = m[0] + m[1] * m[2];
    }
}
__global__ void goes_on(const float *x, int n, int *counts) {
    int c = 0;
    #pragma ccc for
    for (HEAD) {
        #pragma ccc switch
        switch ((int)x[i]) {
            case 2: { float v = x[i]; LONG v = __sinf(v) + 1; if (v > 1.5f) c++; break; }
            case 3: counts[i] = 7;
            default: c ^= 1;
        }
    }
    atomicAdd(&counts[2], c);
}
__global__ void leaves(const int *x, int *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, d;
    #pragma ccc for
    for (d = 2; d < m; d++) {
        bool c = x[i] % d == 0;
        #pragma ccc if
        if (c) break;
    }
    y[i] = d;
}
__global__ void decode(const unsigned *bits, const int *start, const short *tree,
                       unsigned char *out, int per, int n) {
    #pragma ccc for
    for (HEAD) {
        int pos = start[i];
        #pragma ccc for
        for (int s = 0; s < per; s++) {
            int node = 0;
            #pragma ccc while
            do {
                int b = (bits[pos >> 5] >> (pos & 31)) & 1;
                pos++;
                node = tree[2 * node + b];
            } while (node >= 0);
            out[i * per + s] = -node - 1;
        }
    }
}
__global__ void position(const unsigned *bits, const int *start, const short *tree, int *out,
                         int per, int n) {
    #pragma ccc for
    for (HEAD) {
        int pos = start[i], sum = 0;
        #pragma ccc for
        for (int s = 0; s < per; s++) {
            int node = 0;
            #pragma ccc if
            if ((bits[pos >> 5] >> (pos & 31)) & 1) {
                for (int k = 0; k < 50; k++) node = tree[2 * node + 1]; pos += 3;
            }
            pos++;
            sum += node;
        }
        out[i] = sum;
    }
}
__global__ void skips(const float *src, float *hook, int n) {
    #pragma ccc for
    for (HEAD) {
        float a = src[i];
        #pragma ccc if
        if (a < 0.9f) continue;
        for (int k = 0; k < 64; k++) a = sqrtf(a * a + 3);
        hook[i] = a;
    }
}
__global__ void skips_reads(const int *src, const int *dst, const int *comp, int *hook, int n) {
    #pragma ccc for
    for (HEAD) {
        int a = comp[src[i]], b = comp[dst[i]];
        #pragma ccc if
        if (a == b) continue;
        int hi = a > b ? a : b, lo = a + b - hi, h = hi;
        for (int k = 0; k < 64 && comp[h] != h; k++) h = comp[h];
        atomicMin(&hook[h], lo);
    }
}
__global__ void runs(const unsigned char *in, int len, unsigned char *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *p = in + t * len, *end = in + len + t * len;
    unsigned char *o = out + 2 * t * len;
    #pragma ccc for
    while (p < end) {
        unsigned char v = *p++; int run = 1;
        #pragma ccc while
        while (p < end && *p == v && run < 255) { run++; p++; }
        *o++ = run; *o++ = v;
    }
}
__global__ void steps(const unsigned char *in, int len, unsigned char *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char *p = in + t * len, *end = in + len + t * len;
    #pragma ccc for
    while (p < end) {
        unsigned char v = *p;
        #pragma ccc if
        if (v > 200) {
            for (int k = 0; k < 50; ++k) v = v * 5 + (v >> 1);
            p += v & 3;
        }
        out[p++ - in] = v;
    }
}
__device__ int g(const int *x, int v, int d);
__device__ __noinline__ int f(const int *x, int v, int d) {
    if (d > 20) return v;
    #pragma ccc if
    if (x[v] > 3) {
        LONG v = v * 5 + x[v & 7];
        return g(x, v & 63, d + 1) * 3 + v;
    }
    return x[v];
}
__device__ __noinline__ int g(const int *x, int v, int d) {
    return x[v] < 9 ? f(x, v + 1 & 63, d + 1) + 7 : v;
}
__global__ void calls_f(const int *x, int *y, int n) {
    #pragma ccc for
    for (HEAD) y[i] = f(x, x[i], 0);
}
__device__ int q(const int *x, int v, int d);
__device__ __noinline__ int p(const int *x, int v, int d) {
    return x[v] > 3 && d < 20 ? q(x, v & 63, d + 1) * 3 + threadIdx.x : x[v];
}
__device__ __noinline__ int q(const int *x, int v, int d) {
    return x[v] < 9 ? p(x, v + 1 & 63, d + 1) + 7 : v;
}
__global__ void by_turns(const int *x, int *y, int n) {
    #pragma ccc for
    for (HEAD) {
        int v = x[i];
        #pragma ccc if
        if (v > 3) { LONG v = v * 5 + x[v & 7]; y[i] = p(x, v, 0); }
    }
}
__device__ int odd(const int *x, int v, int d);
#pragma ccc recursion
__device__ __noinline__ int even(const int *x, int v, int d) {
    return d > 40 ? v : odd(x, x[v], d + 1);
}
__device__ __noinline__ int odd(const int *x, int v, int d) {
    return x[v] > 40 ? v + 1 : even(x, x[v] & 63, d + 1);
}
__global__ void parity(const int *x, int *y, int n) {
    #pragma ccc for
    for (HEAD) y[i] = even(x, x[i], 0);
}
__global__ void product(const int *row, const float *x, float *y, int n) {
    #pragma ccc for
    for (HEAD) {
        float all = 1; const int end = row[i + 1];
        #pragma ccc for variable
        for (int j = row[i]; j < end; ++j) {
            float v = x[j];
            #pragma ccc if
            if (v > 3) { LONG v = v * 5 + j; all *= v; }
        }
        y[i] = all;
    }
}
__global__ void __launch_bounds__(128) best(const int *row, const float *x, float *y, int n) {
    float best = -1; int at = -1;
    #pragma ccc for reduction(max: best)
    for (HEAD) {
        const int end = row[i + 1];
        #pragma ccc while
        for (int k = row[i]; k < end; ++k) {
            float v = x[k];
            #pragma ccc if
            if (v > 3) { LONG v = v * 5 + j; if (v > best) { best = v; at = k; } }
        }
    }
    y[threadIdx.x] = best + at;
}
__global__ void __launch_bounds__(128) fetch(const float *x, float *y, int *next, int n) {
    #pragma ccc for
    while (true) {
        int i = atomicAdd(next, 1);
        if (i >= n) break;
        float v = x[i];
        #pragma ccc while
        while (v < 100) { LONG v = v * 1.5f + sqrtf(v); }
        for (int k = 0; k < (int)v; ++k) y[i] += k;
    }
}
__global__ void decoded(const unsigned char *in, int len, int *out) {
    int n = 0;
    #pragma ccc for reduction(+: n)
    for (int p = threadIdx.x * len; p < (threadIdx.x + 1) * len;) {
        unsigned char v = in[p]; int more = 1;
        #pragma ccc if
        if (v > 200) { LONG v = v * 5 + (v >> 1); more = v & 3; }
        n++; p += more;
    }
    out[threadIdx.x] = n;
}
__global__ void one_arm(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    #pragma ccc if strategy(meld)
    if (v < 0) v = expf(v) - n;
    y[i] = v;
}
template <typename T> __device__ void in_strides(int n, T &&each) {
    #pragma ccc for
    for (HEAD) each(i);
}
__global__ void given(const float *x, float *y, int n) {
    float sum = 0;
    in_strides(n, [&](int i) {
        float v = x[i];
        #pragma ccc if
        if (v > 3) { LONG v = v * 0.5f + sqrtf(v); sum += v; }
    });
    y[threadIdx.x] = sum;
}
__global__ void captured(const float *x, float *y, int n) {
    float sum = 0, most = 0;
    auto add = [&](float v) { sum += v; most = fmaxf(most, v); };
    #pragma ccc for
    for (HEAD) {
        float v = x[i];
        #pragma ccc if
        if (v > 3) { LONG v = v * 0.5f + sqrtf(v); add(v); }
    }
    y[threadIdx.x] = sum + most;
}
__global__ void budget(const int *cost, int *taken, int *left, int n) {
    int money = 300, number = 0;
    #pragma ccc for
    for (HEAD) {
        int c = cost[i];
        #pragma ccc if
        if (c <= money) { money -= c; number++; }
    }
    taken[threadIdx.x] = number; left[threadIdx.x] = money;
}
__global__ void __launch_bounds__(64) looked_up(const int *x, int *y, int n) {
    __shared__ int table[4];
    if (threadIdx.x < 4) table[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    #pragma ccc for
    for (HEAD) {
        int v = x[i], c = 0;
        #pragma ccc while strategy(counter(8))
        while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; c += table[v & 3]; }
        y[i] = c;
    }
}
__global__ void jumps(unsigned *table, const unsigned *keys, int n) {
    #pragma ccc for
    for (HEAD) {
        unsigned v = keys[i], tries = 0;
    retry:
        v = atomicExch(&table[v % 64], v);
        #pragma ccc if
        if (v > 3) { LONG v = v * 5 + j; if (++tries < n) goto retry; }
    }
}
""".replace("HEAD", HEAD).replace("LONG", LONG)


CASES = [
    ("queue", ["iterations that need what others write", ": remove the annotation"], "before the"),
    ("count", ["it is too short to gain anything: remove the annotation"], "reduction"),
    ("count_all", ["reduction(+: same)"], "so that"),
    ("nearest", ["the code after the loop reads what iterations leave there"], "write the array"),
    ("two_arms", ['this "if" has two arms: keep its condition in a variable'], "that on line"),
    ("three_cases", ['this "switch" has several cases'], "unroll"),
    ("called_twice", ["nvcc has made copies of this one"], '; put "#pragma unroll 1"'),
    ("by_itself", ["let sum return what it makes of it"], "__forceinline__"),
    ("depth", ["write a loop with a stack"], "unchanged"),
    ("board", ["at most 128 bytes of arrays", "takes 152", "strategy(flatten)"], "of ints:"),
    ("most", ["reduction(max: m) would let lanes share its turns"], "reduction(+"),
    ("elements", ["tell with a profile"], "reduction"),
    ("goes_on", ['"c"'], "tile"),
    ("decode", ['"pos"', "or ask for strategy(flatten)", "which a profile tells"], "reduction("),
    ("position", ["reduction(+: sum)"], "pos,"),
    ("product", ['("all", k.cu:', 'mark that loop "ccc while"'], "by an atomic"),
    ("best", ["; remove this annotation, so that the loop around it may be"], "keep the best"),
    ("fetch", ["let a counter of the loop number its iterations"], "at the top"),
    ("f", ["make it a loop with a stack: it calls itself"], "__forceinline__"),
    ("by_turns", ["reads a register such as %tid.x; make it a loop"], "__forceinline__"),
    ("even", ["calls itself through odd: mutual recursion"], "through _Z"),
    ("skips", ['put that into a branch "if (!(a < 0.9f))", and the annotation'], "prob"),
    ("skips_reads", ["waits for memory as far as is known; remove the annotation"], "branch"),
    (
        "runs",
        ['each begins where the one before has left "p": remove the annotation; or ask for strat'],
        "read before the path",
    ),
    (
        "steps",
        ['has left "p": count it up outside of the branch, or remove the annotation'],
        "read before the path",
    ),
    ("jumps", ["write a for, while or do loop, and mark that"], "ccc for variable"),
    ("decoded", ['has left "p": remove the annotation'], "outside of the branch"),
    ("one_arm", ['or for a "switch": ask for another strategy, or remove the'], "align"),
    ("given", ['("sum", ', "'s name there: reduction(op: variable); else remove"], "(+"),
    ("captured", ["reduction(+: sum) reduction(max: most)"], "op: variables"),
    ("budget", ["too short to gain anything: remove the annotation"], "reduction"),
    ("looked_up", ['("table", ', "ask for strategy(refill(8)), or for none"], "no such"),
    ("leaves", ["does nothing but leave the loop", ": remove the annotation"], "decide"),
]


def test_what_is_told_can_be_done(tmp_path: Path) -> None:
    """Of all kernels at once: nvcc takes as long for one."""
    lines, wrong = said(KERNELS, tmp_path, Options()), {}
    for kernel, told, never in CASES:
        mine = [line for line in lines if line.endswith(f" [in {kernel}]")]
        is_told = any(all(words in line for words in told) for line in mine)
        if not is_told or any(never in line for line in mine):
            wrong[kernel] = mine
    assert wrong == {}
