// Three kernels: one with shared memory, one with many registers, one that calls a
// function which is not inlined.
__device__ __noinline__ float pairs(const float *p, int n) {
  float a[24], s = 0;
#pragma unroll
  for (int i = 0; i < 24; i++) a[i] = p[i * n];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 24; j++) s += a[i] * a[j] * p[i + j];
  return s;
}

template <int T>
__global__ void __launch_bounds__(T *T) transpose(const float *in, float *out, int n) {
  __shared__ float tile[T][T + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.y * T + y) * n + blockIdx.x * T + x];
  __syncthreads();
  out[(blockIdx.x * T + y) * n + blockIdx.y * T + x] = tile[x][y];
}
template __global__ void transpose<32>(const float *, float *, int);

extern "C" __global__ void accumulate(const float *p, float *out, int n) {
  float a[64], s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) a[i] = p[i * n + threadIdx.x];
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 7) % 64] + p[k];
  }
#pragma unroll
  for (int i = 0; i < 64; i++) s += a[i];
  out[threadIdx.x] = s;
}

__global__ void outer(const float *p, float *out, int n) { out[threadIdx.x] = pairs(p + threadIdx.x, n); }
