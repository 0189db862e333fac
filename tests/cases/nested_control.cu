// run: grid=2 block=64 args=s32:700 u32[700]~0:1000 u32[700]=0
// Loops, branches and a switch inside the path.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a % 3 != 1) {
            unsigned r = 0;
            for (unsigned j = 0; j < a % 9; ++j) r += (j ^ a) & 7;
            switch (a % 11) {
                case 0: r += 5; break;
                case 1: r *= 3; break;
                case 2: r ^= a; break;
                case 3: r -= 9; break;
                case 4: r = ~r; break;
                case 5: r <<= 2; break;
                case 6: r += a; // falls through
                case 7: r |= 64; break;
                default: r += 1;
            }
            y[i] = r;
        }
    }
}
