// What the hand-written rivals of the samples share: tasks of one warp, set aside for later.
//
// All 32 lanes of a warp call every function together. A task is a plain struct whose size is a
// multiple of 4 bytes; `#pragma pack(4)` keeps a struct with doubles from growing.

#pragma once

const unsigned ALL_LANES = 0xffffffff;

__device__ __forceinline__ unsigned lanes_below()
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

// The place of the bit of a mask that has `rank` set bits below it.
__device__ __forceinline__ int nth_lane(unsigned mask, int rank)
{
    int place = 0;
    #pragma unroll
    for (int width = 16; width; width >>= 1) {
        const int below = __popc(mask >> place & ((1u << width) - 1));
        if (rank >= below) {
            rank -= below;
            place += width;
        }
    }
    return place;
}

// A task as 32-bit words.
template <class Task> struct Words {
    static const int COUNT = sizeof(Task) / 4;
    unsigned word[COUNT];

    __device__ __forceinline__ Words(const Task& task) { memcpy(word, &task, sizeof task); }
    __device__ __forceinline__ void to(Task& task) const { memcpy(&task, word, sizeof task); }
};

// In shared memory, one row for each word, so that neighbouring lanes use neighbouring banks.
template <class Task, int ROOM> struct SharedStack {
    typedef unsigned Memory[Words<Task>::COUNT][ROOM];  // of one warp
    unsigned (*rows)[ROOM];
    int saved = 0;

    __device__ __forceinline__ SharedStack(Memory& memory) : rows(memory) {}

    // Save the tasks of the lanes that have one.
    __device__ __forceinline__ void push(bool mine, const Task& task)
    {
        const unsigned wanting = __ballot_sync(ALL_LANES, mine);
        if (mine) store(saved + __popc(wanting & lanes_below()), task);
        saved += __popc(wanting);
        __syncwarp();
    }

    // Take a task for each of up to 32 lanes; whether this lane got one.
    __device__ __forceinline__ bool pop(Task& task)
    {
        const int place = saved - 1 - (int)(threadIdx.x % 32);
        if (place >= 0) load(place, task);
        saved = max(saved - 32, 0);
        __syncwarp();
        return place >= 0;
    }

    // If there are tasks for all lanes, give one to each that has none; otherwise save them.
    // Whether all lanes have one now.
    __device__ __forceinline__ bool fill(bool mine, Task& task)
    {
        const unsigned wanting = __ballot_sync(ALL_LANES, mine);
        const int idle = 32 - __popc(wanting);
        const bool full = saved >= idle;
        if (full) {
            if (!mine) load(saved - 1 - __popc(~wanting & lanes_below()), task);
            saved -= idle;
        } else {
            if (mine) store(saved + __popc(wanting & lanes_below()), task);
            saved += 32 - idle;
        }
        __syncwarp();
        return full;
    }

private:
    __device__ __forceinline__ void store(int place, const Task& task)
    {
        const Words<Task> words(task);
        #pragma unroll
        for (int k = 0; k < words.COUNT; ++k) rows[k][place] = words.word[k];
    }

    __device__ __forceinline__ void load(int place, Task& task)
    {
        Words<Task> words(task);
        #pragma unroll
        for (int k = 0; k < words.COUNT; ++k) words.word[k] = rows[k][place];
        words.to(task);
    }
};

// In registers, room for one task in each lane.
template <class Task> struct RegisterStack {
    Task slot;
    unsigned used = 0;  // the lanes whose slot holds a task

    // As SharedStack::pop.
    __device__ __forceinline__ bool pop(Task& task)
    {
        const bool mine = used >> threadIdx.x % 32 & 1;
        if (mine) task = slot;
        used = 0;
        return mine;
    }

    // As SharedStack::fill.
    __device__ __forceinline__ bool fill(bool mine, Task& task)
    {
        const unsigned wanting = __ballot_sync(ALL_LANES, mine);
        if (__popc(wanting) + __popc(used) >= 32) {
            take(mine, wanting, task);
            return true;
        }
        save(mine, wanting, task);
        return false;
    }

private:
    // Idle lanes empty their own slots, and those with an empty slot the lowest of busy lanes.
    __device__ __forceinline__ void take(bool mine, unsigned wanting, Task& task)
    {
        const unsigned poor = ~wanting & ~used, rich = wanting & used;
        if (!mine) task = slot;
        if (poor) {
            const Task other = from(nth_lane(rich, __popc(poor & lanes_below())), slot);
            if (poor >> threadIdx.x % 32 & 1) task = other;
        }
        used = rich & ~lowest(rich, __popc(poor));
    }

    // Busy lanes fill their own slots, or the lowest empty ones of idle lanes.
    __device__ __forceinline__ void save(bool mine, unsigned wanting, const Task& task)
    {
        const unsigned crowded = wanting & used, free = ~wanting & ~used;
        if (mine && !(used >> threadIdx.x % 32 & 1)) slot = task;
        const unsigned taken = lowest(free, __popc(crowded));
        if (crowded) {
            const Task other = from(nth_lane(crowded, __popc(free & lanes_below())), task);
            if (taken >> threadIdx.x % 32 & 1) slot = other;
        }
        used |= wanting | taken;
    }

    // The lowest `count` bits of a mask.
    static __device__ __forceinline__ unsigned lowest(unsigned mask, int count)
    {
        const bool chosen = mask >> threadIdx.x % 32 & 1 && __popc(mask & lanes_below()) < count;
        return __ballot_sync(ALL_LANES, chosen);
    }

    static __device__ __forceinline__ Task from(int lane, const Task& task)
    {
        Words<Task> words(task);
        Task result;
        #pragma unroll
        for (int k = 0; k < words.COUNT; ++k)
            words.word[k] = __shfl_sync(ALL_LANES, words.word[k], lane & 31);
        words.to(result);
        return result;
    }
};
