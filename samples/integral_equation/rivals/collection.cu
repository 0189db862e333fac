// Context collection by hand: an observer and a box near it are saved.
//
// MERGE: a warp fills its idle lanes from the stack and runs, or saves its tasks. Otherwise every
// task is pushed, and 32 are popped and run when there are so many.

#include "../near_field.cuh"
#include "../../warp_stack.cuh"

struct Task {
    float x, y, z;
    int observer, box;
};

#ifdef MERGE
typedef SharedStack<Task, 32> Stack;
#else
typedef SharedStack<Task, 64> Stack;
#endif

__device__ __forceinline__ void
take(Task task, float wavenumber, const int* __restrict__ begins,
     const float4* __restrict__ sources, Field* fields)
{
    const float4 observer = make_float4(task.x, task.y, task.z, 0.0f);
    float real = 0.0f, imaginary = 0.0f;
    const int last = begins[task.box + 1];
    for (int s = begins[task.box]; s < last; ++s)
        add_wave(observer, sources[s], wavenumber, real, imaginary);
    add(&fields[task.observer], real, imaginary);
}

extern "C" __global__ void __launch_bounds__(128)
near_field(int size, float wavenumber, const float4* __restrict__ observers,
           const int* __restrict__ domains, const int* __restrict__ first,
           const int* __restrict__ candidates, const float4* __restrict__ boxes,
           const int* __restrict__ begins, const float4* __restrict__ sources, Field* fields)
{
    __shared__ Stack::Memory memory[4];
    Stack stack(memory[threadIdx.x / 32]);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool live = i < size;
    const float4 observer = observers[live ? i : 0];
    const int domain = domains[live ? i : 0];
    const int end = live ? first[domain + 1] : 0;

    for (int k = live ? first[domain] : 0; __any_sync(ALL_LANES, k < end); ++k) {
        const int box = k < end ? candidates[k] : 0;
        const bool mine = k < end && is_near(observer, boxes[box]);
        Task task = {observer.x, observer.y, observer.z, i, box};
#ifdef MERGE
        if (stack.fill(mine, task)) take(task, wavenumber, begins, sources, fields);
#else
        stack.push(mine, task);
        if (stack.saved >= 32 && stack.pop(task))
            take(task, wavenumber, begins, sources, fields);
#endif
    }
    Task task;
    if (stack.pop(task)) take(task, wavenumber, begins, sources, fields);
}
