// run: grid=2 block=64 args=s32:150 s32[150]~0:900 s32[150]~0:40 s32[950]~0:149 s32[950]~0:99 s32[150]=1000
// options: strategy=engage
// Pointers step beside the counter: a lane that runs a turn is told the counter, and makes them.
extern "C" __global__ void __launch_bounds__(128)
k(int n, const int *__restrict__ begins, const int *__restrict__ lengths,
  const int *__restrict__ to, const int *__restrict__ weights, int *__restrict__ least) {
#pragma ccc for
    for (int v = threadIdx.x + blockIdx.x * blockDim.x; v < n; v += blockDim.x * gridDim.x) {
        const int begin = begins[v], end = begin + lengths[v];
#pragma ccc for variable
        for (int e = begin; e < end; ++e) atomicMin(&least[to[e]], weights[e] + v);
    }
}
