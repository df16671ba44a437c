/* The HIP API in front of the model: the names of pawl.h's HIP part, by those of CUDA. The hipcc of the folder above
   compiles against it. */
#ifndef PAWL_VIRTUAL_HIP_RUNTIME_H
#define PAWL_VIRTUAL_HIP_RUNTIME_H

#include "../cuda_runtime.h"

typedef cudaError_t hipError_t;
typedef cudaEvent_t hipEvent_t;
typedef cudaStream_t hipStream_t;
typedef cudaDeviceProp hipDeviceProp_t;

#define hipSuccess cudaSuccess
#define hipErrorMemoryAllocation cudaErrorMemoryAllocation
#define hipErrorNoDevice cudaErrorNoDevice
#define hipErrorInsufficientDriver cudaErrorInsufficientDriver
#define hipHostMallocMapped cudaHostAllocMapped
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipEventCreate cudaEventCreate
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipFree cudaFree
#define hipGetDevice cudaGetDevice
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetErrorName cudaGetErrorName
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipHostGetDevicePointer cudaHostGetDevicePointer
#define hipHostMalloc cudaHostAlloc
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipStreamCreate cudaStreamCreate
#define hipStreamSynchronize cudaStreamSynchronize

static inline hipError_t hipRuntimeGetVersion(int *version) {
  const hipError_t error = cudaRuntimeGetVersion(version);
  return *version = 60300000, error;
}

#define __HIP_DEVICE_COMPILE__ 1 /* there is one pass for host and device */

/* Counts at 100 MHz. */
static inline long long wall_clock64() { return (long long)(vgpu_timer() / 10); }

#endif
