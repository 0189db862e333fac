// run: grid=2 block=96 args=s32[192]=0 s32[192]~0:9 s32:192
// The inner loop has several ways out, some of them out of both loops, and so has the one around.
extern "C" __global__ void k(int *out, const int *turns, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    unsigned state = i * 2654435761u;
    int total = 0, round = 0;
    while (true) {
        int limit = (turns[(i + round * 7) % n] + state) % 13;
        if (limit == 11) { total += 1000; break; }
        if (limit == 10) {
            round += 2;
            if (round > 20) break;
            continue;
        }
        int turn = 0;
#pragma ccc while strategy(flatten)
        while (turn < limit) {
            state = state * 1664525u + 1013904223u;
            if (state >> 24 == 7) { total += 5; break; }
            if (state >> 24 == 9) { out[i] = -total; return; }
            total += state >> 30;
            if ((state >> 20) % 61 == 3) goto done;
            turn++;
        }
        total ^= round;
        if (++round > 20) break;
    }
    total *= 3;
done:
    out[i] = total;
}
