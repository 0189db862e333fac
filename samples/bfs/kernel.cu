// One level of a breadth-first search over a graph in compressed sparse rows.
//
// levels[v] is the distance of vertex v from the source, or -1 where none is known yet. Every
// vertex of this level gives its unseen neighbours the next one; *done becomes 0 if there was any.
// Threads may find the same neighbour at the same time: all of them write the same value.

extern "C" __global__ void __launch_bounds__(256)
bfs(int vertices, int depth, const int* __restrict__ indptr, const int* __restrict__ indices,
    int* levels, int* done)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) {
        #pragma ccc if
        if (levels[v] == depth) {
            const int end = indptr[v + 1];
            #pragma ccc for variable
            for (int e = indptr[v]; e < end; ++e) {
                const int neighbour = indices[e];
                if (levels[neighbour] == -1) {
                    levels[neighbour] = depth + 1;
                    *done = 0;
                }
            }
        }
    }
}
