// run: grid=1 block=32 args=u32[64]=0 s32:64
// A marked loop that uses an array of the thread's own only inside, over its turns: it goes with its
// tasks, which move to other lanes between turns.
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned a[4], h = i * 2654435761u, s = 0;
        int c = 0;
#pragma ccc while
        while (h & 15) {
            if (c >= 4) s += a[(c + h) & 3];
            a[c & 3] = h;
            h = h * 1664525u + 1013904223u;
            h ^= h >> 13;
            c++;
        }
        out[i] = s + c;
    }
}
