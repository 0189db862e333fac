// Context collection by hand: a stack for each branch, at the place of the branch.
//
// MERGE: a warp fills its idle lanes from the stack and runs, or saves its tasks. Otherwise every
// task is pushed, and 32 are popped and run when there are so many.

#include "../../warp_stack.cuh"
#include "../polynomials.cuh"

#pragma pack(push, 4)
struct Task {
    double x, w;
    int i;
};
#pragma pack(pop)

#ifdef MERGE
typedef SharedStack<Task, 32> Stack;
#else
typedef SharedStack<Task, 64> Stack;
#endif

template <Branch BRANCH> __device__ __forceinline__ void finish(const Task& task, double* y)
{
    y[task.i] = task.x * (BRANCH == CENTRAL ? central(task.w)
                          : BRANCH == TAIL  ? tail(task.w)
                                            : far_tail(task.w));
}

template <Branch BRANCH>
__device__ __forceinline__ void collect(Stack& stack, bool live, Task task, double* y)
{
    const bool mine = live && branch(task.w) == BRANCH;
#ifdef MERGE
    if (stack.fill(mine, task)) finish<BRANCH>(task, y);
#else
    stack.push(mine, task);
    if (stack.saved >= 32 && stack.pop(task)) finish<BRANCH>(task, y);
#endif
}

template <Branch BRANCH> __device__ __forceinline__ void drain(Stack& stack, double* y)
{
    Task task;
    if (stack.pop(task)) finish<BRANCH>(task, y);
}

extern "C" __global__ void __launch_bounds__(256)
inverse_erf(int count, const double* __restrict__ x, double* y)
{
    __shared__ Stack::Memory memory[3][8];
    const int warp = threadIdx.x / 32;
    Stack centrals(memory[CENTRAL][warp]), tails(memory[TAIL][warp]), far(memory[FAR_TAIL][warp]);
    const int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, i < count);
         i += stride) {
        const bool live = i < count;
        Task task = {live ? x[i] : 0.0, 0.0, i};
        task.w = rarity(task.x);
        collect<CENTRAL>(centrals, live, task, y);
        collect<TAIL>(tails, live, task, y);
        collect<FAR_TAIL>(far, live, task, y);
    }
    drain<CENTRAL>(centrals, y);
    drain<TAIL>(tails, y);
    drain<FAR_TAIL>(far, y);
}
