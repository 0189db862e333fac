// Nested patterns of many kinds, for tests/support/nested_patterns.py: a task is a list of indices,
// map makes a value of each, and a reduction that is not commutative shows their order.

#include <cte.cuh>

// What becomes of x if affine functions are applied one after the other, and how many there were.
struct Affine {
    unsigned factor, shift, count;
};

// What a list begins and ends with, and sums.
struct Wide {
    unsigned first, last, sums[14];
};

template <class T>
struct Plain {
    static __device__ T of(long long index, int state) { return T(((index * 7 + state) % 13 + 13) % 13); }
    static __device__ T initial(int task) { return T(task % 5); }
};

template <class T>
struct Pattern : Plain<T> {
    static __device__ auto reduce() { return cte::plus(); }
};

template <>
struct Pattern<double> : Plain<double> {
    static __device__ auto reduce() { return cte::maximum(); }
};

template <>
struct Pattern<unsigned char> : Plain<unsigned char> {
    static __device__ auto reduce() { return cte::minimum(); }
};

template <>
struct Pattern<unsigned> : Plain<unsigned> {
    static __device__ auto reduce()
    {
        return cte::commutative([](unsigned a, unsigned b) { return a ^ b; });
    }
};

template <>
struct Pattern<Affine> {
    static __device__ Affine of(long long index, int state)
    {
        return {unsigned(index) * 2 + 3, unsigned(index) ^ unsigned(state), 1};
    }
    static __device__ Affine initial(int task) { return {1, unsigned(task), 0}; }
    static __device__ auto reduce()
    {
        return [](const Affine& a, const Affine& b) {
            return Affine{a.factor * b.factor, a.shift * b.factor + b.shift, a.count + b.count};
        };
    }
};

template <>
struct Pattern<Wide> {
    static __device__ Wide of(long long index, int state)
    {
        Wide wide = {unsigned(index), unsigned(index), {}};
        for (unsigned k = 0; k < 14; ++k) wide.sums[k] = unsigned(index) * k + unsigned(state);
        return wide;
    }
    static __device__ Wide initial(int task) { return of(task, 0); }
    static __device__ auto reduce()
    {
        return [](const Wide& a, const Wide& b) {
            Wide wide = {a.first, b.last, {}};
            for (unsigned k = 0; k < 14; ++k) wide.sums[k] = a.sums[k] + b.sums[k];
            return wide;
        };
    }
};

template <class Index>
struct Task {
    Index begin, end;
    int stride;
};

struct ByRange {
    template <class D, int BLOCK, class L, class Index, class Value, class Map, class Reduce>
    static __device__ Value run(const Task<Index>& task, Map map, Reduce reduce, Value initial, int state)
    {
        return cte::for_each_index<D, BLOCK, L>(task.begin, task.end, map, reduce, initial, state,
                                                task.begin);
    }
};

struct ByStride {
    template <class D, int BLOCK, class L, class Index, class Value, class Map, class Reduce>
    static __device__ Value run(const Task<Index>& task, Map map, Reduce reduce, Value initial, int state)
    {
        return cte::for_each_index<D, BLOCK, L>(cte::strided(task.begin, task.end, task.stride),
                                                map, reduce, initial, state, task.begin);
    }
};

struct ByList {
    template <class D, int BLOCK, class L, class Index, class Value, class Map, class Reduce>
    static __device__ Value run(const Task<Index>& task, Map map, Reduce reduce, Value initial, int state)
    {
        const auto kth = [=](Index k) { return task.end - 1 - k; };
        return cte::for_each_index<D, BLOCK, L>(cte::listed(task.end - task.begin, kth), map, reduce,
                                                initial, state, task.begin);
    }
};

struct Padding {
    int words[12];
};

// As ByRange, with a state of 56 bytes or more.
struct ByPadded {
    template <class D, int BLOCK, class L, class Index, class Value, class Map, class Reduce>
    static __device__ Value run(const Task<Index>& task, Map map, Reduce reduce, Value initial, int state)
    {
        Padding padding;
        for (int& word : padding.words) word = state;
        const auto padded = [=](Index index, Index begin, Padding given) {
            return map(index, given.words[unsigned(index) % 12], begin);
        };
        return cte::for_each_index<D, BLOCK, L>(task.begin, task.end, padded, reduce, initial,
                                                task.begin, padding);
    }
};

__device__ int thread_number()
{
    const int block = blockDim.x * blockDim.y * blockDim.z;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    return blockIdx.x * block + thread;
}

// Who takes part in what.
enum { HERE, RETURNED, ELSEWHERE, OTHER_CALL };

// Of each task: the reduction, and how often each place was visited.
template <class By, class D, int BLOCK, class L, class Index, class Value>
__device__ void reduced(int count, const Task<Index>* tasks, const char* who, Value* values, int* visits)
{
    using P = Pattern<Value>;
    const int task = thread_number();
    if (task >= count || who[task] == RETURNED) return;
    const auto map = [](Index index, int state, Index begin) {
        return P::of(index - begin, state);
    };
    Value value = P::initial(task);
    if (who[task] == HERE)
        value = By::template run<D, BLOCK, L>(tasks[task], map, P::reduce(), value, task * 3 + 1);
    else if (who[task] == OTHER_CALL)
        cte::for_each<D, BLOCK>(tasks[task].begin, tasks[task].end,
                                [=](Index index, int by) { atomicAdd(visits + index, by); }, task);
    values[task] = value;
}

// The same by a block, whose threads come to both calls unless they have returned.
template <class By, int BLOCK, class L, class Index, class Value>
__device__ void by_block(int count, const Task<Index>* tasks, const char* who, Value* values, int* visits)
{
    using P = Pattern<Value>;
    const int task = thread_number();
    if (task < count && who[task] == RETURNED) return;
    const auto map = [](Index index, int state, Index begin) {
        return P::of(index - begin, state);
    };
    const Index last = tasks[count - 1].end;
    const Task<Index> none = {last, last, 1}, own = task < count ? tasks[task] : none;
    const int part = task < count ? who[task] : ELSEWHERE;
    const Value value = By::template run<cte::block, BLOCK, L>(
        part == HERE ? own : none, map, P::reduce(), P::initial(task), task * 3 + 1);
    cte::for_each<cte::block, BLOCK>(own.begin, part == OTHER_CALL ? own.end : own.begin,
                                     [=](Index index, int by) { atomicAdd(visits + index, by); }, task);
    if (task < count) values[task] = value;
}

// With more than 64 registers a block of 1024 threads cannot be launched, so that bounds are told.
#define BY_BLOCK(NAME, BY, BLOCK, LISTS, INDEX, VALUE)                                             \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                            \
    NAME(int count, const Task<INDEX>* tasks, const char* who, VALUE* values, int* visits)         \
    {                                                                                              \
        by_block<BY, BLOCK, LISTS>(count, tasks, who, values, visits);                             \
    }

#define KERNEL(NAME, BY, BLOCK, LISTS, INDEX, VALUE, ...)                                          \
    extern "C" __global__ void __launch_bounds__(1024)                                             \
    NAME(int count, const Task<INDEX>* tasks, const char* who, VALUE* values, int* visits)         \
    {                                                                                              \
        reduced<BY, __VA_ARGS__, BLOCK, LISTS>(count, tasks, who, values, visits);                 \
    }

KERNEL(thread_range_i32, ByRange, 0, cte::disjoint, int, int, cte::thread)
KERNEL(warp_range_i32, ByRange, 64, cte::disjoint, int, int, cte::warp)
KERNEL(warp_scanned_f32, ByRange, 96, cte::scanned, int, float, cte::warp)
KERNEL(warp_scanned_affine, ByRange, 0, cte::scanned, unsigned, Affine, cte::warp)
KERNEL(warp_list_affine, ByList, 128, cte::disjoint, int, Affine, cte::warp)
BY_BLOCK(block96_scanned_f32, ByRange, 96, cte::scanned, int, float)
BY_BLOCK(block105_range_affine, ByRange, 105, cte::disjoint, int, Affine)
#ifndef FEW
KERNEL(warp_range_wide, ByRange, 64, cte::disjoint, int, Wide, cte::warp)
BY_BLOCK(block96_padded_wide, ByPadded, 96, cte::disjoint, int, Wide)
KERNEL(warp_stride_i64, ByStride, 0, cte::disjoint, long long, long long, cte::warp)
KERNEL(warp_stride_f64, ByStride, 256, cte::disjoint, int, double, cte::warp)
KERNEL(warp_range_u8, ByRange, 0, cte::disjoint, unsigned long long, unsigned char, cte::warp)
KERNEL(warp_list_u32, ByList, 1024, cte::disjoint, long long, unsigned, cte::warp)
KERNEL(sub2_range_f32, ByRange, 64, cte::scanned, int, float, cte::sub_warp<2>)
KERNEL(sub4_stride_affine, ByStride, 0, cte::disjoint, int, Affine, cte::sub_warp<4>)
KERNEL(sub8_list_u8, ByList, 0, cte::disjoint, unsigned, unsigned char, cte::sub_warp<8>)
KERNEL(sub16_range_i64, ByRange, 0, cte::disjoint, long long, long long, cte::sub_warp<16>)
KERNEL(sub32_range_affine, ByRange, 0, cte::disjoint, int, Affine, cte::sub_warp<32>)
KERNEL(auto_scanned_f64, ByRange, 128, cte::scanned, int, double, cte::automatic)
KERNEL(auto_list_wide, ByList, 0, cte::disjoint, int, Wide, cte::automatic)
BY_BLOCK(block33_range_i32, ByRange, 33, cte::disjoint, int, int)
BY_BLOCK(block64_stride_i64, ByStride, 64, cte::disjoint, long long, long long)
BY_BLOCK(block96_scanned_affine, ByRange, 96, cte::scanned, unsigned, Affine)
BY_BLOCK(block100_scanned_u8, ByRange, 100, cte::scanned, unsigned long long, unsigned char)
BY_BLOCK(block192_list_u32, ByList, 192, cte::disjoint, long long, unsigned)
BY_BLOCK(block256_stride_f64, ByStride, 256, cte::disjoint, int, double)
BY_BLOCK(block1024_scanned_f32, ByRange, 1024, cte::scanned, int, float)
BY_BLOCK(block1024_padded_wide, ByPadded, 1024, cte::disjoint, int, Wide)

// Each task runs a task for each of its indices: a call inside of map.
extern "C" __global__ void __launch_bounds__(1024)
nested(int count, const Task<int>* tasks, const char* who, int* values, int*)
{
    const int task = thread_number();
    if (task >= count || who[task] == RETURNED) return;
    const auto inner = [](int k, int index) { return k * index % 11; };
    const auto outer = [&](int index, int begin) {
        return cte::for_each_index<64>(0, (index - begin) % 7, inner, cte::plus(), 0, index - begin);
    };
    if (who[task] == HERE)
        values[task] = cte::for_each_index<64>(tasks[task].begin, tasks[task].end, outer, cte::plus(),
                                               task, tasks[task].begin);
}
#endif
