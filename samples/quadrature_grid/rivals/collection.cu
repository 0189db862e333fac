// Context collection by hand: a point is saved after any of its atoms. A warp goes on as long as
// saved ones fill its idle lanes; otherwise it saves all, and begins new ones.
//
// The stack is SHARED memory or registers; new points come in strides, or from a COUNTER.

#include "../../task_counter.cuh"
#include "../../warp_stack.cuh"
#include "walk.cuh"

extern "C" __global__ void __launch_bounds__(128)
becke(int size, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, const Vector* __restrict__ near, int most, double* weights)
{
#ifdef SHARED
    __shared__ SharedStack<Walk, 32>::Memory memory[4];
    SharedStack<Walk, 32> stack(memory[threadIdx.x / 32]);
#else
    RegisterStack<Walk> stack;
#endif
    Walk walk;

#ifdef COUNTER
    for (int i = take_tasks(32); i < size; i = take_tasks(32)) {
        i += threadIdx.x % 32;
#else
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, i < size);
         i += stride) {
#endif
        bool busy = i < size;
        if (busy) walk = begin(i, points, owners, counts, most);
        while (stack.fill(busy, walk)) busy = turn(walk, near, weights);
    }
    if (stack.pop(walk)) while (turn(walk, near, weights)) {}
#ifdef COUNTER
    take_no_more();
#endif
}
