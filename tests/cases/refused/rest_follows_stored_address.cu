// run: grid=1 block=32 args=u32[64]=0 s32:64
// The rest reads the thread's own memory through a pointer that was itself loaded from memory
// (before the path).
struct N {
    N *next;
    unsigned v;
};
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        N a[4];
        for (int k = 0; k < 4; k++) {
            a[k].next = &a[(k + 1 + i % 2) % 4];
            a[k].v = i * 4 + k;
        }
        N *p = a[i % 4].next->next;
        unsigned v = 0;
#pragma ccc if
        if (i % 3 == 0) v = i / 7;
        out[i] = v + p->v;
    }
}
