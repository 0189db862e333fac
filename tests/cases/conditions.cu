// run: grid=1 block=64 args=s32:450 u32[900]~0:100 u32[900]=0
// && and || make several branches into one path.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a > 10 && x[a] > 20 && x[x[a]] % 3) y[i] = a * 3 + 1;
    }
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 5 || x[a] < 20 || x[x[a]] % 5 == 0) atomicAdd(&y[i], a);
    }
}
