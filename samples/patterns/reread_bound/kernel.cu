// One level of a breadth-first search whose inner loop reads its end again in each turn.
//
// As nvcc sees it, a store to `levels` might change `row`, which is no `__restrict__` pointer: so
// row[v + 1] is loaded each time, and only the program's author knows that it stays as it is.

extern "C" __global__ void __launch_bounds__(256)
reread_bound(int vertices, int depth, const int* row, const int* column, int* levels, int* done)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) {
        if (levels[v] != depth) continue;
        #pragma ccc for variable
        for (int e = row[v]; e < row[v + 1]; e++) {
            const int neighbour = column[e];
            if (levels[neighbour] == -1) {
                levels[neighbour] = depth + 1;
                *done = 0;
            }
        }
    }
}
