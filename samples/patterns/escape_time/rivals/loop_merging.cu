// Loop merging: one loop over turns, TURNS at a time. Where at least IDLE lanes of a warp have no
// point, these go on to their next one.

#include "../../../warp_stack.cuh"

extern "C" __global__ void __launch_bounds__(256)
escape_time(int count, int most, const float* __restrict__ re, const float* __restrict__ im,
            int* turns)
{
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float cx = 0, cy = 0, x = 0, y = 0;
    int turn = 0;
    bool busy = false;

    for (;;) {
        if (__popc(__ballot_sync(ALL_LANES, !busy)) >= IDLE) {
            if (!busy && i < count) {
                cx = re[i];
                cy = im[i];
                x = y = 0;
                turn = 0;
                busy = true;
            }
            if (!__any_sync(ALL_LANES, busy)) return;
        }
        bool inside = busy;
        #pragma unroll
        for (int step = 0; step < TURNS; ++step) {
            inside = inside && turn < most && x * x + y * y < 4;
            if (!inside) break;
            const float next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
            ++turn;
        }
        if (busy && !inside) {
            turns[i] = turn;
            i += stride;
            busy = false;
        }
    }
}
