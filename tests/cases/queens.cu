// run: grid=1 block=100 args=u32[512]=0 s32:300
// A board for each first two queens, whose tree is walked: it goes with its tasks, word by word.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 100) {
        int board[8];
        board[0] = i % 6;
        board[1] = i / 6 % 6;
        int row = 2; unsigned count = 0, d = board[0] - board[1];
        board[2] = -1;
        if (!(d == 0 || d == 1 || d == -1u)) {
#pragma ccc while
        while (row >= 2) {
            int c = ++board[row];
            if (c == 6) { row--; continue; }
            unsigned ok = 1;
#pragma unroll 1
            for (int r = 0; r < row; r++) {
                int b = board[r];
                ok &= (b != c) & (b - c != row - r) & (c - b != row - r);
            }
            if (!ok) continue;
            if (row == 5) count++;
            else board[++row] = -1;
        }
        }
        out[i] = count;
    }
}
