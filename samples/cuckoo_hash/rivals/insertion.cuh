// An insertion on its way, as the rivals hand it from lane to lane, and their kernels: both do what
// insert_all() does.

#pragma once

#include "../cuckoo.cuh"

#pragma pack(push, 4)
struct Insertion {
    Pair pair;  // what was evicted last
    unsigned slot;
    int steps;
};
#pragma pack(pop)

__device__ __forceinline__ bool goes_on(const Insertion& insertion)
{
    return key_of(insertion.pair) != EMPTY_KEY && insertion.steps < MAX_STEPS;
}

__device__ __forceinline__ Insertion begin(Pair pair, unsigned slots, Pair* table)
{
    const unsigned slot = slot_of(key_of(pair), 1, slots);
    return {atomicExch(&table[slot], pair), slot, 0};
}

__device__ __forceinline__ void evict(Insertion& insertion, unsigned slots, Pair* table)
{
    insertion.slot = next_slot(key_of(insertion.pair), insertion.slot, slots);
    insertion.pair = atomicExch(&table[insertion.slot], insertion.pair);
    ++insertion.steps;
}

__device__ __forceinline__ void finish(const Insertion& insertion, int* lost)
{
    if (key_of(insertion.pair) != EMPTY_KEY) atomicAdd(lost, 1);
}

__device__ __forceinline__ void
insert_all(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost);

extern "C" __global__ void __launch_bounds__(256)
insert_loop(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost)
{
    insert_all(count, slots, pairs, table, lost);
}

extern "C" __global__ void __launch_bounds__(256)
insert_recursive(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost)
{
    insert_all(count, slots, pairs, table, lost);
}
