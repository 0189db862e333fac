// Context collection by hand, as in collection.cu, with tasks of more than SPLIT sources apart: one
// array that both kinds grow into, from its two ends. What is left of both in the end runs together.

#include "../near_field.cuh"
#include "../../warp_stack.cuh"

#ifndef SPLIT
#define SPLIT 64
#endif

const int ROOM = 96;  // less than 32 of each kind, and 32 that are pushed

extern "C" __global__ void __launch_bounds__(128, 12)
near_field(int size, float wavenumber, const float4* __restrict__ observers,
           const int* __restrict__ domains, const int* __restrict__ first,
           const int* __restrict__ candidates, const float4* __restrict__ boxes,
           const int* __restrict__ begins, const float4* __restrict__ sources, Field* fields)
{
    __shared__ unsigned memory[4][5][ROOM];
    unsigned (*rows)[ROOM] = memory[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool live = i < size;
    const float4 observer = observers[live ? i : 0];
    const int domain = domains[live ? i : 0];
    const int end = live ? first[domain + 1] : 0;
    int few = 0, many = 0;  // tasks at either end

    for (int k = live ? first[domain] : 0;;) {
        const bool more = __any_sync(ALL_LANES, k < end);
        int place;
        if (more) {
            const int box = k < end ? candidates[k] : 0;
            const bool mine = k < end && is_near(observer, boxes[box]);
            const bool is_long = mine && begins[box + 1] - begins[box] > SPLIT;
            ++k;
            const unsigned tasks = __ballot_sync(ALL_LANES, mine);
            if (!tasks) continue;
            const unsigned longs = __ballot_sync(ALL_LANES, is_long), shorts = tasks & ~longs;
            if (mine) {
                const int at = is_long ? ROOM - 1 - many - __popc(longs & lanes_below())
                                       : few + __popc(shorts & lanes_below());
                rows[0][at] = __float_as_uint(observer.x);
                rows[1][at] = __float_as_uint(observer.y);
                rows[2][at] = __float_as_uint(observer.z);
                rows[3][at] = i;
                rows[4][at] = box;
            }
            few += __popc(shorts);
            many += __popc(longs);
            __syncwarp();
            if (few < 32 && many < 32) continue;
            if (few >= 32) {
                few -= 32;
                place = few + lane;
            } else {
                place = ROOM - many + lane;
                many -= 32;
            }
        } else {
            if (few + many == 0) break;
            place = lane < few ? few - 1 - lane : lane - few < many ? ROOM - many + lane - few : -1;
            const int low = min(few, 32);
            many -= min(many, 32 - low);
            few -= low;
        }
        const bool has = place >= 0;
        const int at = has ? place : 0;
        const float4 there = make_float4(__uint_as_float(rows[0][at]), __uint_as_float(rows[1][at]),
                                         __uint_as_float(rows[2][at]), 0.0f);
        const int owner = rows[3][at], box = rows[4][at];
        __syncwarp();
        if (has) {
            float real = 0.0f, imaginary = 0.0f;
            const int last = begins[box + 1];
            for (int s = begins[box]; s < last; ++s)
                add_wave(there, sources[s], wavenumber, real, imaginary);
            add(&fields[owner], real, imaginary);
        }
    }
}
