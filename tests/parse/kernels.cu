// Varied code for the round trip through nvcc, the parser, the printer and ptxas.
#include <cstdio>

__constant__ float table[16] = {1, 2, 3.5f, 4};
__device__ int target;
__device__ char *pointer = (char *)&target + 2;
struct Shape {
    __device__ virtual int area(int x) { return x; }
};
struct Square : Shape {
    __device__ int area(int x) override { return x * x; }
};
__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void prints(int a, double b) { printf("a=%d {;} b=%f // %s\n", a, b, "x;y}"); }

__global__ void __launch_bounds__(128, 4) switches(int *p, int v) {
    extern __shared__ int dynamic[];
    __shared__ int fixed[10];
    switch (v) {
        case 0: p[0] = 1; break;
        case 1: p[1] = atomicAdd(p, 3); break;
        case 2: p[2] = sinf(p[3]); break;
        case 3: p[4] = v * 7; break;
        case 4: p[5] = p[9] / v; break;
        case 5: fixed[p[6]] = dynamic[p[8]] % v; break;
        case 6: p[7] = __popc(v) + fixed[v];
        case 7: p[11] = 5; break;
        default: p[99] = target + *pointer;
    }
}

__global__ void calls(int *p, int v) {
    Shape shape;
    Square square;
    Shape *q = v ? &shape : &square;
    p[0] = q->area(v) + fibonacci(v);
}

__global__ void wide(unsigned __int128 *p, double *d, float *f, cudaTextureObject_t t) {
    int i = threadIdx.x;
    p[i] = p[i] * p[i + 1] + p[i + 2];
    d[i] = sin(d[i]) + pow(d[i], 3.25) + erfinv(d[i]) + 1 / d[i];
    f[i] = tex2D<float>(t, f[i], 2.f) + __shfl_xor_sync(~0u, f[i], 1) + table[i];
}

__global__ void scopes(int *p, int v) {
    int r;
    asm volatile(
        "{ .reg .pred p; .reg .b32 t<3>, %%q; setp.eq.s32 p, %1, 3; @p bra DONE; add.s32 t1, %1, 4;\n"
        " { .reg .f32 p; mov.b32 p, t1; mov.b32 t2, p; } mov.b32 %%q, t2; DONE: mov.b32 %0, 7; }"
        : "=r"(r) : "r"(v));
    p[0] = r;
    asm volatile(
        "{ .reg .pred p; .reg .b32 t<3>; setp.eq.s32 p, %1, 3; @!p bra DONE; add.s32 t1, %1, 4;\n"
        " { .reg .b32 t<3>; mov.b32 t0, %1; bra.uni L; L: mov.b32 %0, t0; } DONE: }"
        : "=r"(r) : "r"(v));
    p[1] = r;
}
