// Context collection by hand: a path is saved after any bounce. A warp goes on as long as saved
// ones fill its idle lanes; otherwise it saves all, and begins new ones.
//
// The stack is SHARED memory or registers; new paths come in strides, or from a COUNTER.

#include "../../task_counter.cuh"
#include "../../warp_stack.cuh"
#include "../paths.cuh"

extern "C" __global__ void __launch_bounds__(128)
trace(int width, int height, int samples, unsigned seed, int count,
      const float4* __restrict__ spheres, const float4* __restrict__ paints,
      const int* __restrict__ materials, float* light)
{
    const Scene scene = {count, spheres, paints, materials};
    const int paths = width * height * samples;
#ifdef SHARED
    __shared__ SharedStack<Path, 32>::Memory memory[4];
    SharedStack<Path, 32> stack(memory[threadIdx.x / 32]);
#else
    RegisterStack<Path> stack;
#endif
    Path path;

#ifdef COUNTER
    for (int i = take_tasks(32); i < paths; i = take_tasks(32)) {
        i += threadIdx.x % 32;
#else
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, i < paths);
         i += stride) {
#endif
        bool alive = i < paths;
        if (alive) path = begin(i, width, height, samples, seed);
        while (stack.fill(alive, path)) {
            alive = bounce(path, scene);
            if (!alive) finish(path, light);
        }
    }
    if (stack.pop(path)) {
        while (bounce(path, scene)) {}
        finish(path, light);
    }
#ifdef COUNTER
    take_no_more();
#endif
}
