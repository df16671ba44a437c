// Kernels with known instructions: loads of several widths, tensor cores, shared
// memory, spills.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

extern "C" __global__ void narrow(const float *__restrict__ in, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i] * 2 + 1;
}

extern "C" __global__ void wide(const float4 *__restrict__ in, float4 *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = in[i];
    out[i] = make_float4(v.x * 2 + 1, v.y * 2 + 1, v.z * 2 + 1, v.w * 2 + 1);
  }
}

extern "C" __global__ void matrix(const half *a, const half *b, float *c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> x;
  fragment<matrix_b, 16, 16, 16, half, col_major> y;
  fragment<accumulator, 16, 16, 16, float> z;
  fill_fragment(z, 0.f);
  load_matrix_sync(x, a, 16);
  load_matrix_sync(y, b, 16);
  mma_sync(z, x, y, z);
  store_matrix_sync(c, z, 16, mem_row_major);
}

extern "C" __global__ void many(const double *d, const half2 *h, const unsigned char *u, const unsigned short *w, float *out, int *n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = __sinf((float)(d[t] * d[t + 1]));
  __syncthreads();
  float v = s[255 - t] + u[t] + w[t];
  half2 p = __hfma2(h[t], h[t + 1], h[t + 2]);
  v += __shfl_down_sync(~0u, v, 1) + __half2float(p.x) * __half2float(p.y);
  atomicAdd(n + t, (int)v);
  out[t] = v;
}

extern "C" __global__ void copy(const float4 *in, float4 *out) {
#if __CUDA_ARCH__ >= 800
  __shared__ float4 s[128];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];
#endif
}

extern "C" __global__ void spilling(const float *in, float *out, int n) {
  float a[16];
  for (int i = 0; i < 16; i++) a[i] = in[i];
  for (int k = 0; k < n; k++) a[(k * 7) & 15] += a[(int)in[k] & 15]; // an index nobody knows: not in registers
  out[threadIdx.x] = a[n & 15];
}
