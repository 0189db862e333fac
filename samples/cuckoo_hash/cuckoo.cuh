// A hash table of pairs, 64 bits each, the key in the upper half: which slots a key may be in, and
// looking keys up. For a bound, it is cut into one table for each lane.

#pragma once

#ifndef TABLES
#define TABLES 1  // or 32
#endif

typedef unsigned long long Pair;

const unsigned EMPTY_KEY = 0xffffffff;
const unsigned NOT_FOUND = 0xffffffff;
const int MAX_STEPS = 1000;

__device__ __forceinline__ unsigned key_of(Pair pair)
{
    return (unsigned)(pair >> 32);
}

// Slot of a key by one of the four hash functions: MurmurHash3's finalizer of the salted key.
__device__ __forceinline__ unsigned slot_of(unsigned key, unsigned function, unsigned slots)
{
    unsigned h = key ^ (function * 0x9e3779b9u);
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    slots /= TABLES;
    return threadIdx.x % TABLES * slots + __umulhi(h ^ h >> 16, slots);
}

// Where a key that was evicted from `slot` goes: its functions take turns.
__device__ __forceinline__ unsigned next_slot(unsigned key, unsigned slot, unsigned slots)
{
    const unsigned first = slot_of(key, 1, slots);
    const unsigned second = slot_of(key, 2, slots);
    const unsigned third = slot_of(key, 3, slots);
    if (slot == first) return second;
    if (slot == second) return third;
    if (slot == third) return slot_of(key, 4, slots);
    return first;
}

// values[i] is what the table holds for the key of pairs[i].
extern "C" __global__ void __launch_bounds__(256)
retrieve(int count, unsigned slots, const Pair* __restrict__ pairs, const Pair* __restrict__ table,
         unsigned* values)
{
    const int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const unsigned key = key_of(pairs[i]);
        unsigned value = NOT_FOUND;
        for (unsigned function = 1; function <= 4; ++function) {
            const Pair pair = table[slot_of(key, function, slots)];
            if (key_of(pair) == key) value = (unsigned)pair;
        }
        values[i] = value;
    }
}
