// run: grid=1 block=64 args=s32[1]=0 s32[1]=0 s32[4]=0 s32:256
// Critical sections that end before the path, or lie in it as a whole; retries that wait for nobody.
extern "C" __global__ void k(volatile int *sum, int *lock, int *most, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int seen = most[i & 3];
        while (seen < i) {
            int found = atomicCAS(&most[i & 3], seen, i);
            if (found == seen) break;
            seen = found;
        }
#pragma ccc if
        if (i % 3 == 0) {
            bool done = false;
            while (!done) {
                if (atomicCAS(lock, 0, 1) == 0) {
                    *sum = *sum + i;
                    __threadfence();
                    atomicExch(lock, 0);
                    done = true;
                }
            }
        }
    }
}
// options: strategy=queue
