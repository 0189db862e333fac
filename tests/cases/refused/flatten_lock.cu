// run: grid=1 block=64 args=u32[1]=0 u32[2]=0 u32[64]~0:7
// Whoever waits for the lock would wait for a lane that waits for him.
extern "C" __global__ void k(unsigned *lock, unsigned *sum, const unsigned *x) {
    for (int round = 0; round < 3; ++round) {
        unsigned turns = x[threadIdx.x], mine = round;
#pragma ccc while strategy(flatten)
        while (turns-- > 0) mine = mine * 5 + 1;
        for (bool done = false; !done;) {
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                *(volatile unsigned *)sum += mine;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}
