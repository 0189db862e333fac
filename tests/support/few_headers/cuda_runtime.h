// What nvcc reads before each source, for device code that uses little of it. Most of what nvcc
// does for a small kernel is to read the rest, some 30,000 lines, once to preprocess them and once
// to compile.
//
// Host code has all of it. Of the host's functions device code sees none, unless that is asked for.
#pragma once
#ifndef __CUDA_ARCH__
#include_next <cuda_runtime.h>
#else
#pragma GCC system_header
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
typedef __SIZE_TYPE__ size_t;
typedef long clock_t;
#include "crt/host_defines.h"
#ifdef HOST_FUNCTIONS
#include "cuda_runtime_api.h"
#else  // The headers below include them, and need nothing of them.
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define CUDARTAPI
#endif
#include "builtin_types.h"
#include "device_launch_parameters.h"
#include <assert.h>
#include "vector_functions.h"
#define DEVICE __device__ __cudart_builtin__
extern "C" {
DEVICE void __syncthreads(void);
DEVICE int __syncthreads_count(int);
DEVICE int __syncthreads_and(int);
DEVICE void __threadfence_block(void);
DEVICE void __threadfence(void);
DEVICE int __popc(unsigned);
DEVICE int __ffs(int);
DEVICE int __clz(int);
DEVICE unsigned __brev(unsigned);
DEVICE unsigned __byte_perm(unsigned, unsigned, unsigned);
DEVICE unsigned umin(unsigned, unsigned);
DEVICE unsigned umax(unsigned, unsigned);
DEVICE long long llmin(long long, long long);
DEVICE long long llmax(long long, long long);
DEVICE unsigned long long ullmin(unsigned long long, unsigned long long);
DEVICE unsigned long long ullmax(unsigned long long, unsigned long long);
DEVICE unsigned long long __umul64hi(unsigned long long, unsigned long long);
DEVICE clock_t clock(void);
DEVICE long long clock64(void);
DEVICE void *malloc(size_t);
DEVICE void free(void *);
DEVICE int printf(const char *, ...);
DEVICE void __assert_fail(const char *, const char *, unsigned, const char *);
DEVICE int min(int, int);
DEVICE int max(int, int);
DEVICE unsigned __umulhi(unsigned, unsigned);
DEVICE int __float_as_int(float);
DEVICE unsigned __float_as_uint(float);
DEVICE float __int_as_float(int);
DEVICE float __uint_as_float(unsigned);
DEVICE int __float2int_rn(float);
DEVICE long long __float2ll_rn(float);
DEVICE long long __double2ll_rn(double);
DEVICE long long __double_as_longlong(double);
DEVICE float __sinf(float);
DEVICE float __cosf(float);
DEVICE float __expf(float);
DEVICE float sqrtf(float);
DEVICE float rsqrtf(float);
DEVICE float sinf(float);
DEVICE float cosf(float);
DEVICE float atan2f(float, float);
DEVICE float expf(float);
DEVICE float logf(float);
DEVICE float powf(float, float);
DEVICE float floorf(float);
DEVICE float fabsf(float);
DEVICE float fmaf(float, float, float);
DEVICE float copysignf(float, float);
DEVICE float fmaxf(float, float);
DEVICE float fminf(float, float);
DEVICE float rintf(float);
DEVICE double sqrt(double);
DEVICE double rsqrt(double);
DEVICE double log(double);
DEVICE double exp(double);
DEVICE double rint(double);
DEVICE double floor(double);
DEVICE double sin(double);
DEVICE double cos(double);
DEVICE double fma(double, double, double);
DEVICE double fabs(double);
DEVICE double fmin(double, double);
DEVICE double fmax(double, double);
DEVICE float __fAtomicAdd(float *, float);
DEVICE double __dAtomicAdd(double *, double);
DEVICE size_t __nv_cvta_generic_to_shared_impl(const void *);
DEVICE void *memcpy(void *, const void *, size_t);
__host__ __device__ unsigned CUDARTAPI __cudaPushCallConfiguration(
    dim3 grid, dim3 block = 1, size_t shared = 0, struct CUstream_st *stream = 0);
}
#define BOTH(RESULT, LEFT, RIGHT, SHORT)                                             \
    inline __device__ RESULT min(LEFT a, RIGHT b) { return SHORT##min(a, b); }     \
    inline __device__ RESULT max(LEFT a, RIGHT b) { return SHORT##max(a, b); }
BOTH(unsigned, unsigned, unsigned, u)
BOTH(unsigned, int, unsigned, u)
BOTH(unsigned, unsigned, int, u)
BOTH(long long, long long, long long, ll)
BOTH(unsigned long long, unsigned long long, unsigned long long, ull)
BOTH(unsigned long long, long long, unsigned long long, ull)
BOTH(unsigned long long, unsigned long long, long long, ull)
inline __device__ float exp(float x) { return expf(x); }
inline __device__ float log(float x) { return logf(x); }
inline __device__ float atomicAdd(float *p, float v) { return __fAtomicAdd(p, v); }
inline __device__ double atomicAdd(double *p, double v) { return __dAtomicAdd(p, v); }
inline __device__ size_t __cvta_generic_to_shared(const void *p) {
    return __nv_cvta_generic_to_shared_impl(p);
}
#define alloca(SIZE) __builtin_alloca(SIZE)
inline __device__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    unsigned result;
    asm volatile("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
    return result;
}
inline __device__ float __ldg(const float *p) {
    float result;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(result) : "l"(p));
    return result;
}
// A name for several types means what it does with all of the headers, or nothing.
__device__ float sqrt(float) = delete;
__device__ float rsqrt(float) = delete;
__device__ float rint(float) = delete;
__device__ float floor(float) = delete;
__device__ float sin(float) = delete;
__device__ float cos(float) = delete;
__device__ float fma(float, float, float) = delete;
__device__ float fabs(float) = delete;
__device__ float fmin(float, float) = delete;
__device__ float fmax(float, float) = delete;
__device__ float min(float, float) = delete;
__device__ float max(float, float) = delete;
__device__ double min(double, double) = delete;
__device__ double max(double, double) = delete;
#undef DEVICE
#undef BOTH
#include "device_atomic_functions.h"
#include "sm_30_intrinsics.h"
#include "sm_32_atomic_functions.h"
#include "crt/sm_70_rt.h"
#include "crt/sm_80_rt.h"
#ifndef HOST_FUNCTIONS
#undef __CUDA_RUNTIME_API_H__
#undef __DRIVER_TYPES_H__
#undef CUDARTAPI
#endif
#endif
