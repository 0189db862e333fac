// Loop merging: one loop over turns, TURNS at a time. Where at least IDLE lanes of a warp have no
// number, these go on to their next one.

#include "../../../warp_stack.cuh"

extern "C" __global__ void __launch_bounds__(256)
collatz(int count, unsigned long long first, int* steps)
{
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = 1;
    int taken = 0;
    bool busy = false;

    for (;;) {
        if (__popc(__ballot_sync(ALL_LANES, !busy)) >= IDLE) {
            if (!busy && i < count) {
                x = first + i;
                taken = 0;
                busy = true;
            }
            if (!__any_sync(ALL_LANES, busy)) return;
        }
        #pragma unroll
        for (int turn = 0; turn < TURNS; ++turn) {
            if (x == 1) break;
            x = x & 1 ? 3 * x + 1 : x >> 1;
            ++taken;
        }
        if (busy && x == 1) {
            steps[i] = taken;
            i += stride;
            busy = false;
        }
    }
}
