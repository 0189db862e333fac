// run: grid=2 block=64 args=s32[100]~-20:100 s32[100]~-200:100 s32[600]~-5:100 s32[600]=0 s32:600
// Walks with a stack: the place that is looked at comes off it, and the loop around counts.
extern "C" __global__ void k(const int *left, const int *right, const int *root, int *found, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int stack[8], top = 0, sum = 0;
        if (root[i] >= 0) stack[top++] = root[i];
#pragma ccc while strategy(flatten)
        while (top > 0 && sum < 400) {
            const int node = stack[--top];
            sum += node + 1;
            if (left[node] >= 0) stack[top++] = left[node];
            if (right[node] >= 0 && top < 8) stack[top++] = right[node];
        }
        found[i] = sum;
    }
}
