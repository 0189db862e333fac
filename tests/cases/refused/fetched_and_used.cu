// run: grid=2 block=64 args=s32:900 s32[1]=0 u32[900]~0:100
// The path uses the counter that the next iteration is fetched from.
extern "C" __global__ void k(int n, int *next, const unsigned *x) {
#pragma ccc for
    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
#pragma ccc if
        if (x[i] < 25) atomicMax(next, x[i] * i % 100);
    }
}
