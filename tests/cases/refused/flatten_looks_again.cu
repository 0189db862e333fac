// run: grid=1 block=64 args=s32[40]~-9:40 s32[300]~0:40 s32[300]=0 s32[1]~32:33 s32:300
// Whether the loop around ends is read again each time, so that lanes may wait for who writes it;
// nor can tasks be saved, since they go on with an array of their own.
extern "C" __global__ void k(const int *next, const int *first, int *found, const int *step, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += *step) {
        int stack[40], top = 0, sum = 0;
        stack[top++] = first[i];
#pragma ccc while strategy(flatten)
        while (top > 0) {
            const int node = stack[--top];
            sum += node;
            if (next[node] >= 0 && sum < 300) stack[top++] = next[node];
        }
        found[i] = sum;
    }
}
