// run: grid=2 block=50 args=s32[900]~0:100000 f32[200]=0 s32[200]=0 s32[900]=0 s32[97]~0:50 s32:260
// Branches in the turns of a walk that goes on with what they make: each carries the walk along.
extern "C" __global__ void __launch_bounds__(64)
k(const int *seed, float *sums, int *most, int *out, int *seen, int n) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    float all = 0; int top = -1;
#pragma ccc for reduction(+: all) reduction(max: top)
    for (int i = thread; i < n; i += 100) {
        unsigned state = seed[i];
        int total = 0, left = state % 23;
#pragma ccc while
        while (left > 0) {
            state = state * 1664525u + 1013904223u;
            left--;
            if ((state & 63) == 1) continue;
            all += rintf(left);
#pragma ccc if
            if (state >> 30 == 0) {
                for (int q = 0; q < (int)(state >> 27 & 7); q++) total += (state >> q) & 15;
                all += 2;
                top = max(top, total);
            } else {
                total ^= state >> 20;
                if (total & 32) left -= 2;
            }
            total -= 3;
#pragma ccc if
            if ((state & 7) == 3) { total = total * 3 + threadIdx.x; atomicAdd(&seen[total & 63], 1); all += total & 3; }
            if ((state & 1023) == 5) break;
        }
        out[i] = total + left;
    }
    sums[thread] = all; most[thread] = top;
}
// options: strategy=merge
