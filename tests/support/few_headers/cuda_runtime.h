// What nvcc reads before each source, for device code that uses little of it. Most of what nvcc
// does for a small kernel is to read the rest, some 30,000 lines, once to preprocess them and once
// to compile.
//
// Host code has all of it.
#ifndef __CUDA_ARCH__
#include_next <cuda_runtime.h>
#else
#pragma GCC system_header
#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__
#include "crt/host_config.h"
#include "builtin_types.h"
#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#include "vector_functions.h"
#define DEVICE __device__ __cudart_builtin__
extern "C" {
DEVICE void __syncthreads(void);
DEVICE int __syncthreads_count(int);
DEVICE int __syncthreads_and(int);
DEVICE void __threadfence(void);
DEVICE int __popc(unsigned);
DEVICE int __ffs(int);
DEVICE int min(int, int);
DEVICE int max(int, int);
DEVICE unsigned __umulhi(unsigned, unsigned);
DEVICE int __float_as_int(float);
DEVICE unsigned __float_as_uint(float);
DEVICE float __int_as_float(int);
DEVICE float __uint_as_float(unsigned);
DEVICE long long __float2ll_rn(float);
DEVICE long long __double2ll_rn(double);
DEVICE long long __double_as_longlong(double);
DEVICE float __sinf(float);
DEVICE float __cosf(float);
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
DEVICE float fmaxf(float, float);
DEVICE float fminf(float, float);
DEVICE double sqrt(double);
DEVICE double rsqrt(double);
DEVICE double log(double);
DEVICE double rint(double);
DEVICE double fma(double, double, double);
DEVICE void *memcpy(void *, const void *, size_t);
__host__ __device__ unsigned CUDARTAPI __cudaPushCallConfiguration(
    dim3 grid, dim3 block = 1, size_t shared = 0, struct CUstream_st *stream = 0);
}
// A name for several types means what it does with all of the headers, or nothing.
__device__ float sqrt(float) = delete;
__device__ float rsqrt(float) = delete;
__device__ float log(float) = delete;
__device__ float rint(float) = delete;
__device__ float fma(float, float, float) = delete;
__device__ unsigned min(unsigned, unsigned) = delete;
__device__ unsigned max(unsigned, unsigned) = delete;
__device__ float min(float, float) = delete;
__device__ float max(float, float) = delete;
__device__ double min(double, double) = delete;
__device__ double max(double, double) = delete;
__device__ long long min(long long, long long) = delete;
__device__ long long max(long long, long long) = delete;
#undef DEVICE
#include "device_atomic_functions.h"
#include "sm_30_intrinsics.h"
#include "crt/sm_70_rt.h"
#include "crt/sm_80_rt.h"
#endif
