/* What pawl doctor --gpu runs to compare a card with what pawl assumes of it. Kept as check.ptx beside this file:
   nvcc -arch=compute_52 -ptx -o check.ptx check.cu

   The model in sdk/virtualgpu/driver.c has the same kernels. */

typedef unsigned long long word;

__device__ word nanoseconds() {
  word t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

extern "C" __global__ void check_empty() {}

/* Runs for so many nanoseconds. */
extern "C" __global__ void check_spin(const float *x, float *out, int ns) {
  const word from = nanoseconds();
  while (nanoseconds() - from < (word)ns) {}
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = x[i];
}

/* Reads n floats, all threads together. */
extern "C" __global__ void check_read(const float *x, float *out, int n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  float sum = 0;
  for (unsigned i = thread; i < (unsigned)n / 4; i += threads) {
    const float4 v = ((const float4 *)x)[i];
    sum += v.x + v.y + v.z + v.w;
  }
  out[thread] = x[thread] + (sum == 1e-30f ? 1 : 0);
}

extern "C" __global__ void check_fault(const float *x, float *out, int n) { *(volatile float *)(word)(n < 0 ? (word)out : 64) = x[0]; }

/* The first n values of the timer that differ from the one before. */
extern "C" __global__ void check_timer(word *out, int n) {
  word at = nanoseconds();
  for (int i = 0; i < n; i++) {
    word now;
    while ((now = nanoseconds()) == at) {}
    out[i] = at = now;
  }
}

/* A chain of n multiply-adds: cycles and time at its start and its end, by block. */
extern "C" __global__ void check_clock(word *out, int n) {
  const word cycles = clock64(), time = nanoseconds();
  float x = threadIdx.x * 1e-3f;
  for (int i = 0; i < n; i++) x = x * 0.999f + 0.001f;
  if (threadIdx.x == 0) {
    out[4 * blockIdx.x] = cycles;
    out[4 * blockIdx.x + 2] = time;
    out[4 * blockIdx.x + 3] = nanoseconds() + (x == 1e-30f ? 1 : 0);
    out[4 * blockIdx.x + 1] = clock64();
  }
}

/* 8 n multiply-adds a thread, in chains that do not wait for each other. */
extern "C" __global__ void check_fma(float *out, int n) {
  float x[8];
  for (int k = 0; k < 8; k++) x[k] = threadIdx.x + k;
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = x[k] * 0.999f + 0.001f;
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Two pointers behind the arguments, as Triton's kernels have. */
extern "C" __global__ void check_scratch(const float *x, float *out, int n, void *one, void *other) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = one || other || n < 0 ? 0 : x[i];
}

struct map {
  word words[16];
};

extern "C" __global__ void check_map(const map m, float *out, int n) { out[threadIdx.x] = (float)m.words[n & 15]; }
