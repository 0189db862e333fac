// Cuckoo hashing with four hash functions: a pair goes to its first slot and evicts what is there,
// the evicted pair goes to the next of its own slots, and so on until a slot was empty.
//
// Pairs are 64 bits, the key in the upper half. The insertion is written twice, as a loop and as a
// recursive function. A chain of MAX_STEPS evictions gives up: its last pair is counted in *lost,
// and the table must be built again, larger or with other functions.

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
    return __umulhi(h ^ h >> 16, slots);
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
