"""Small uses of libraries and languages that compilers make PTX of, for the corpus."""

from __future__ import annotations

CASES = (
    "adaptive", "block_of_100", "clock", "dynamic_shared", "fetched_turns", "flatten_shared_state",
    "grid_stride_barrier", "grid_stride_last_block", "joined_lists", "long_tasks_count_down",
    "loops_in_a_row_of_turns", "meld_some_lanes", "out_parameter", "recursion_narrow",
    "reduction_compared", "reduction_members", "restricted_pointers", "seldom_of_two",
    "special_registers", "switch_cases", "tile_hands_back", "under_a_guard", "while_task",
)  # fmt: skip
"""Files of tests/cases."""

# What a call of CUB's device algorithms is given: t and b are temporary storage and its size.
CUB = {
    "sort_pairs": "DeviceRadixSort::SortPairs(t, b, i, o, v, w, n)",
    "sort_keys": "DeviceRadixSort::SortKeysDescending(t, b, v, w, n)",
    "merge_sort": "DeviceMergeSort::SortKeys(t, b, v, n, Less())",
    "scan": "DeviceScan::InclusiveSum(t, b, v, w, n)",
    "scan_by_key": "DeviceScan::ExclusiveSumByKey(t, b, i, v, w, n)",
    "reduce": "DeviceReduce::Max(t, b, v, w, n)",
    "reduce_by_key": "DeviceReduce::ReduceByKey(t, b, i, o, v, w, o, Add(), n)",
    "segmented_reduce": "DeviceSegmentedReduce::Sum(t, b, v, w, n, i, i + 1)",
    "segmented_sort": "DeviceSegmentedSort::SortKeys(t, b, v, w, n, n, i, i + 1)",
    "select_if": "DeviceSelect::If(t, b, v, w, o, n, Positive())",
    "unique": "DeviceSelect::Unique(t, b, i, o, o, n)",
    "partition": "DevicePartition::Flagged(t, b, v, i, w, o, n)",
    "histogram": "DeviceHistogram::HistogramEven(t, b, v, i, 65, 0.0f, 1.0f, n)",
    "run_length": "DeviceRunLengthEncode::Encode(t, b, i, o, o, o, n)",
    "adjacent": "DeviceAdjacentDifference::SubtractLeftCopy(t, b, v, w, n)",
    "for_each": "DeviceFor::ForEachN(v, n, Twice())",
    "batched_copy": "DeviceMemcpy::Batched(t, b, (void **)v, (void **)w, i, n)",
}
_CUB_HEAD = """\
#include <cub/cub.cuh>
struct Less { template <class T> __device__ bool operator()(T a, T b) const { return a < b; } };
struct Add { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
struct Positive { template <class T> __device__ bool operator()(T a) const { return a > T(0); } };
struct Twice { __device__ void operator()(float &a) const { a *= 2; } };
void f(void *t, size_t &b, int *i, int *o, int n, float *v, float *w) {
  cub::%s;
}
"""
THRUST = {
    "sort": "sort(thrust::device, v, v + n)",
    "reduce": "reduce(thrust::device, v, v + n, 0.0f, thrust::maximum<float>())",
    "transform": "transform(thrust::device, v, v + n, w, thrust::negate<float>())",
    "scan": "exclusive_scan(thrust::device, v, v + n, w)",
    "copy_if": "copy_if(thrust::device, v, v + n, w, Positive())",
    "unique": "unique(thrust::device, i, i + n)",
    "merge": "merge(thrust::device, v, v + n, w, w + n, w + 2 * n)",
    "set_union": "set_union(thrust::device, i, i + n, o, o + n, o + 2 * n)",
    "lower_bound": "lower_bound(thrust::device, v, v + n, w, w + n, o)",
    "gather": "gather(thrust::device, i, i + n, v, w)",
    "minmax": "minmax_element(thrust::device, v, v + n)",
    "inner_product": "inner_product(thrust::device, v, v + n, w, 0.0f)",
}
_THRUST_HEAD = """\
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>
struct Positive { template <class T> __device__ bool operator()(T a) const { return a > T(0); } };
void f(int *i, int *o, int n, float *v, float *w) {
  thrust::%s;
}
"""


def cub(name: str) -> str:
    """CUDA that uses an algorithm of CUB."""
    return _CUB_HEAD % CUB[name]


def thrust(name: str) -> str:
    """CUDA that uses an algorithm of Thrust."""
    return _THRUST_HEAD % THRUST[name]


NUMBA = {
    "axpy": "def k(n, v, i):\n    j = cuda.grid(1)\n    if j < n:\n        v[j] += 2.0 * i[j]\n",
    "functions": """
def k(n, v, i):
    for j in range(cuda.grid(1), n, cuda.gridsize(1)):
        x = math.sin(v[j]) * math.exp(v[j])
        v[j] = math.pow(x, 3) if x > 0 else math.sqrt(-x)
        if i[j] % 7 == 0:
            i[j] = i[j] // 3
""",
    "shared": """
def k(n, v, i):
    s = cuda.shared.array(128, dtype=numba.float32)
    t = cuda.threadIdx.x
    s[t] = v[cuda.grid(1)] if cuda.grid(1) < n else 0.0
    cuda.syncthreads()
    m = 64
    while m:
        if t < m:
            s[t] += s[t + m]
        cuda.syncthreads()
        m >>= 1
    if t == 0:
        cuda.atomic.add(v, 0, s[0])
        cuda.atomic.max(i, 0, t)
""",
    "local": """
def k(n, v, i):
    a = cuda.local.array(16, dtype=numba.float32)
    for j in range(16):
        a[j] = v[j]
    for j in range(n):
        a[i[j] & 15] += 1.0
    v[cuda.grid(1)] = a[i[0] & 15]
    print(n, v[0])
""",
    "atomics": """
def k(n, v, i):
    j = cuda.grid(1)
    if j < n:
        cuda.atomic.add(i, i[j] % n, 1)
        cuda.atomic.cas(i, j, 0, 1)
    cuda.threadfence()
    if cuda.syncthreads_count(numba.int32(j < n)) > 3:
        v[j] = math.floor(v[j]) + abs(i[j])
""",
}
for _name, _text in NUMBA.items():
    NUMBA[_name] = "import numba\n" + _text

TRITON_HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
_POINTERS = {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32", "B": "constexpr"}
_HALVES = {"x": "*fp16", "y": "*fp16", "z": "*fp32", "n": "i32", "B": "constexpr"}
TRITON = {
    "add": (
        """def k(x, y, z, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)
""",
        _POINTERS,
        {"B": 1024},
    ),
    "softmax": (
        """def k(x, y, z, n, B: tl.constexpr):
    at = tl.arange(0, B)
    row = tl.load(x + tl.program_id(0) * n + at, at < n, other=-float("inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(z + tl.program_id(0) * n + at, e / tl.sum(e, 0), at < n)
""",
        _POINTERS,
        {"B": 512},
    ),
    "product": (
        """def k(x, y, z, n, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    total = tl.zeros((B, B), dtype=tl.float32)
    for m in range(0, n, B):
        total += tl.dot(tl.load(x + i * n + m + j), tl.load(y + (m + i) * B + j))
    tl.store(z + i * B + j, total)
""",
        _HALVES,
        {"B": 64},
    ),
    "scan": (
        """def k(x, y, z, n, B: tl.constexpr):
    at = tl.arange(0, B)
    row = tl.load(x + at, at < n)
    tl.store(z + at, tl.cumsum(row, 0), at < n)
    tl.store(y + at, tl.sort(row), at < n)
    tl.atomic_add(z, tl.sum(row, 0))
""",
        _POINTERS,
        {"B": 256},
    ),
}

_LLVM_HEAD = """\
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
"""
_KERNEL = '!nvvm.annotations = !{!0}\n!0 = !{ptr @k, !"kernel", i32 1}\n'
LLVM = {
    "axpy": """
define void @k(float addrspace(1)* %x, float addrspace(1)* %y, float %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %p = getelementptr float, float addrspace(1)* %x, i64 %i
  %q = getelementptr float, float addrspace(1)* %y, i64 %i
  %u = load float, float addrspace(1)* %p
  %v = load float, float addrspace(1)* %q
  %m = fmul float %u, %a
  %s = fadd float %m, %v
  store float %s, float addrspace(1)* %q
  ret void
}
""",
    "calls": """
@table = addrspace(4) constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@pointers = addrspace(1) global [2 x i32 (i32)*] [i32 (i32)* @f, i32 (i32)* @g]
@shared = internal addrspace(3) global [64 x i32] undef
define internal i32 @f(i32 %a) noinline { %b = mul i32 %a, 3  ret i32 %b }
define internal i32 @g(i32 %a) noinline { %b = add i32 %a, 5  ret i32 %b }
define {i32, float} @h({i32, float} %a, <4 x i16> %b) noinline {
  %c = extractelement <4 x i16> %b, i32 2
  %d = sext i16 %c to i32
  %e = insertvalue {i32, float} %a, i32 %d, 0
  ret {i32, float} %e
}
define void @k(i32 addrspace(1)* %x, i32 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %j = and i32 %t, 1
  %p = getelementptr [2 x i32 (i32)*], [2 x i32 (i32)*] addrspace(1)* @pointers, i32 0, i32 %j
  %f = load i32 (i32)*, i32 (i32)* addrspace(1)* %p
  %r = call i32 %f(i32 %n)
  %s = insertvalue {i32, float} undef, i32 %r, 0
  %w = call {i32, float} @h({i32, float} %s, <4 x i16> <i16 1, i16 2, i16 3, i16 4>)
  %y = extractvalue {i32, float} %w, 0
  %c = getelementptr [4 x i32], [4 x i32] addrspace(4)* @table, i32 0, i32 %j
  %d = load i32, i32 addrspace(4)* %c
  %z = add i32 %y, %d
  %l = getelementptr [64 x i32], [64 x i32] addrspace(3)* @shared, i32 0, i32 %j
  store i32 %z, i32 addrspace(3)* %l
  call void @llvm.nvvm.barrier0()
  %v = load i32, i32 addrspace(3)* %l
  store i32 %v, i32 addrspace(1)* %x
  ret void
}
""",
    "control": """
define void @k(i64 addrspace(1)* %x, i32 %n) {
entry:
  %a = alloca [8 x i64]
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%j, %next]
  %m = urem i32 %i, 5
  switch i32 %m, label %next [i32 0, label %zero
    i32 1, label %one
    i32 2, label %two
    i32 3, label %next]
zero:
  %p = getelementptr [8 x i64], [8 x i64]* %a, i32 0, i32 %m
  %w = sext i32 %i to i64
  store i64 %w, i64* %p
  br label %next
one:
  %q = atomicrmw add i64 addrspace(1)* %x, i64 1 seq_cst
  br label %next
two:
  %s = cmpxchg i64 addrspace(1)* %x, i64 1, i64 2 seq_cst seq_cst
  br label %next
next:
  %j = add i32 %i, 1
  %c = icmp ult i32 %j, %n
  br i1 %c, label %loop, label %done
done:
  %k = and i32 %n, 7
  %r = getelementptr [8 x i64], [8 x i64]* %a, i32 0, i32 %k
  %v = load i64, i64* %r
  store i64 %v, i64 addrspace(1)* %x
  ret void
}
""",
}
_KERNELS = {
    "axpy": "void (float addrspace(1)*, float addrspace(1)*, float)*",
    "calls": "void (i32 addrspace(1)*, i32)*",
    "control": "void (i64 addrspace(1)*, i32)*",
}
for _name, _text in LLVM.items():
    LLVM[_name] = _LLVM_HEAD + _text + _KERNEL.replace("ptr", _KERNELS[_name])
