// run: grid=1 block=64 args=s32[40]~1:9 s32[3000]=0 s32[3000]=0 s32:60
// What the turns look at is what they write: that cannot be said to be only read.
extern "C" __global__ void k(
    const int *__restrict__ x, int *__restrict__ points, int *__restrict__ found, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int *mine = points + 40 * i, top = -1, sum = 0;
#pragma unroll 1
        for (int j = 0; j < 40; ++j) {
            mine[++top] = (i + j) % 40;
#pragma ccc while strategy(flatten)
            while (top >= 2 && x[mine[top]] >= x[mine[top - 1]]) {
                sum += mine[top - 1];
                if (top == 2) {
                    mine[0] = mine[1];
                    mine[1] = mine[2];
                    top = 1;
                } else {
                    mine[top - 2] = mine[top];
                    top -= 2;
                }
            }
        }
        found[i] = sum;
    }
}
