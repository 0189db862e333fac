// Context collection by hand: pixels that see a sphere are saved, and their rays made again.
//
// MERGE: a warp fills its idle lanes from the stack and runs, or saves its tasks. Otherwise every
// task is pushed, and 32 are popped and run when there are so many.

#include "../../warp_stack.cuh"
#include "../scene.cuh"

struct Task {
    int pixel;
    Hit hit;
};

#ifdef MERGE
typedef SharedStack<Task, 32> Stack;
#else
typedef SharedStack<Task, 64> Stack;
#endif

extern "C" __global__ void __launch_bounds__(256)
trace(int width, int height, int count, const float4* __restrict__ spheres,
      const float4* __restrict__ paints, float* image)
{
    __shared__ Stack::Memory memory[8];
    Stack stack(memory[threadIdx.x / 32]);
    const int stride = gridDim.x * blockDim.x;
    const float3 eye = make_float3(0.0f, 0.0f, 0.0f);

    const auto run = [&](Task task) {
        const float3 direction = view(task.pixel, width, height);
        show(task.pixel, shade(eye, direction, task.hit, spheres, paints, count), image);
    };

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, i < width * height);
         i += stride) {
        const bool live = i < width * height;
        const float3 direction = view(i, width, height);
        Task task = {i, nearest(eye, direction, spheres, count)};
        const bool mine = live && task.hit.sphere >= 0;
        if (live && !mine) show(i, sky(direction), image);
#ifdef MERGE
        if (stack.fill(mine, task)) run(task);
#else
        stack.push(mine, task);
        if (stack.saved >= 32 && stack.pop(task)) run(task);
#endif
    }
    Task task;
    if (stack.pop(task)) run(task);
}
