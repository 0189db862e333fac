// run: grid=1 block=64 args=u32[400]~0:4294967295 s32[17]~0:4 u32[96]=0 s32:96 s32:128
// Codes of a stream, bit by bit: the table is filled before a barrier, and only read behind it.
extern "C" __global__ void __launch_bounds__(64)
k(const unsigned *__restrict__ stream, const int *__restrict__ table, unsigned *symbols, int chunks,
  int bits) {
    __shared__ int most[17];
    for (int t = threadIdx.x; t < 17; t += blockDim.x) most[t] = t < 16 ? table[t] : 65536;
    __syncthreads();
    for (int c = threadIdx.x; c < chunks; c += blockDim.x) {
        int at = c * bits;
        const int end = at + bits;
        unsigned sum = 0;
        while (at < end) {
            int code = stream[at >> 5] >> (at & 31) & 1, length = 1;
            ++at;
#pragma ccc while strategy(flatten)
            while (code > most[length]) {
                code = code << 1 | (stream[at >> 5] >> (at & 31) & 1);
                ++at;
                ++length;
            }
            sum = sum * 31 + code + length;
        }
        symbols[c] = sum;
    }
}
