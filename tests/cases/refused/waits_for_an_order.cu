// run: grid=1 block=32 args=s32[64]=0 s32[1]=0 s32[64]=0 s32:64
__global__ void k(const int *__restrict__ rank, int *turn, int *out, int n)
{
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int mine = rank[i];
        #pragma ccc if
        if (mine & 1) {
            while (atomicMax(turn, 0) != mine)
                ;
            out[i] = mine;
            atomicAdd(turn, 2);
        }
    }
}
