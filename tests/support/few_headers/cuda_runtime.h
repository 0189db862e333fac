// What nvcc reads before each source, for device code that uses little of it: built-in variables,
// atomics, shuffles, barriers, a few functions. Most of what nvcc does for a small kernel is to read the rest, some
// 30,000 lines, once to preprocess them and once to compile.
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
extern "C" {
__device__ __cudart_builtin__ void __syncthreads(void);
__device__ __cudart_builtin__ void __threadfence(void);
__device__ __cudart_builtin__ int __popc(unsigned);
__device__ __cudart_builtin__ int __float_as_int(float);
__device__ __cudart_builtin__ float __int_as_float(int);
__device__ __cudart_builtin__ float sqrtf(float);
__device__ __cudart_builtin__ float sinf(float);
__device__ __cudart_builtin__ float cosf(float);
__device__ __cudart_builtin__ float expf(float);
__device__ __cudart_builtin__ float logf(float);
__device__ __cudart_builtin__ float fabsf(float);
__device__ __cudart_builtin__ float fmaxf(float, float);
__device__ __cudart_builtin__ float fminf(float, float);
__host__ __device__ unsigned CUDARTAPI __cudaPushCallConfiguration(
    dim3 grid, dim3 block = 1, size_t shared = 0, struct CUstream_st *stream = 0);
}
#include "device_atomic_functions.h"
#include "sm_30_intrinsics.h"
#endif
