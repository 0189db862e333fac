// Cuckoo hashing with four hash functions: a pair goes to its first slot and evicts what is there,
// the evicted pair goes to the next of its own slots, and so on until a slot was empty.
//
// The insertion is written twice, as a loop and as a recursive function. A chain of MAX_STEPS
// evictions gives up: its last pair is counted in *lost, and the table must be built again, larger
// or with other functions.

#include "cuckoo.cuh"

extern "C" __global__ void __launch_bounds__(256)
insert_loop(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        Pair pair = pairs[i];
        unsigned slot = slot_of(key_of(pair), 1, slots);
        pair = atomicExch(&table[slot], pair);
        int steps = 0;
        #pragma ccc while
        while (key_of(pair) != EMPTY_KEY && steps < MAX_STEPS) {
            slot = next_slot(key_of(pair), slot, slots);
            pair = atomicExch(&table[slot], pair);
            ++steps;
        }
        if (key_of(pair) != EMPTY_KEY) atomicAdd(lost, 1);
    }
}

#pragma ccc recursion
__device__ void insert(Pair pair, unsigned slot, int steps, unsigned slots, Pair* table, int* lost)
{
    pair = atomicExch(&table[slot], pair);
    if (key_of(pair) == EMPTY_KEY) return;
    if (steps == MAX_STEPS) {
        atomicAdd(lost, 1);
        return;
    }
    slot = next_slot(key_of(pair), slot, slots);
    insert(pair, slot, steps + 1, slots, table, lost);
}

extern "C" __global__ void __launch_bounds__(256)
insert_recursive(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const unsigned slot = slot_of(key_of(pairs[i]), 1, slots);
        insert(pairs[i], slot, 0, slots, table, lost);
    }
}
