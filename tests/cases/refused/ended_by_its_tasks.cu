// run: grid=1 block=32 args=s32[64]~0:9 s32[1]=0 s32[1]=1 s32[64]=0 s32:64
__global__ void k(const int *__restrict__ queue, int *__restrict__ head, volatile int *done,
                  int *__restrict__ out, int n)
{
    #pragma ccc for
    for (;;) {
        bool is_done = *done;
        int place = atomicAdd(head, 1);
        #pragma ccc if
        if (place < n) {
            int sum = 0;
            for (int j = 0; j < queue[place]; ++j)
                sum = sum * 3 + j;
            out[place] = sum;
            if (place == n - 1)
                *done = 1;
        }
        if (is_done)
            break;
    }
}
