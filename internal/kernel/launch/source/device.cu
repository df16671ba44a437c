/* What the launcher itself runs on a CUDA device. It is kept as device.ptx beside this file, which the driver compiles, so
   that building the launcher needs no toolkit:  nvcc -arch=compute_52 -ptx -o device.ptx device.cu

   The arithmetic is that of fill.h: a fingerprint taken here can be compared with one taken on the host. */

typedef unsigned long long word;

__device__ word poison_word(word seed, word i) {
  word z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return 0x7ff07ff07ff07ff0ull | ((z ^ (z >> 31)) & 0x800f800f800f800full);
}

extern "C" __global__ void pawl_poison(unsigned char *to, word bytes, word seed) {
  const word stride = (word)gridDim.x * blockDim.x;
  for (word i = blockIdx.x * (word)blockDim.x + threadIdx.x; i < (bytes + 7) / 8; i += stride) {
    const word w = poison_word(seed, i);
    if (8 * i + 8 <= bytes) ((word *)to)[i] = w;
    else for (word k = 8 * i; k < bytes; k++) to[k] = (unsigned char)(w >> 8 * (k - 8 * i));
  }
}

__device__ void add_all(word value, word *to) {
  for (int reach = 16; reach > 0; reach /= 2) value += __shfl_down_sync(0xffffffffu, value, reach);
  if (threadIdx.x % 32 == 0) atomicAdd(to, value);
}

/* Adds to sums[0..2]: the plain and the mixed sum, and how many words are still poison. */
extern "C" __global__ void pawl_print(const unsigned char *from, word bytes, word seed, word key, word *sums) {
  const word stride = (word)gridDim.x * blockDim.x;
  word plain = 0, mixed = 0, unwritten = 0;
  for (word i = blockIdx.x * (word)blockDim.x + threadIdx.x; i < (bytes + 7) / 8; i += stride) {
    word w = 0, mask = ~0ull;
    if (8 * i + 8 <= bytes) w = ((const word *)from)[i];
    else {
      mask >>= 64 - 8 * (bytes % 8);
      for (word k = 8 * i; k < bytes; k++) w |= (word)from[k] << 8 * (k - 8 * i);
    }
    const word x = w ^ (key + i * 0x9fb21c651e98df25ull);
    plain += x;
    mixed += (x & 0xffffffffull) * (x >> 32);
    unwritten += w == (poison_word(seed, i) & mask);
  }
  add_all(plain, sums);
  add_all(mixed, sums + 1);
  add_all(unwritten, sums + 2);
}

/* Holds the stream until the host says go. It gives up by itself: nothing may wait for ever. */
extern "C" __global__ void pawl_hold(volatile int *go, long long cycles) {
  const long long from = clock64();
  while (!go[0])
    if (clock64() - from > cycles) {
      go[1] = 1;
      return;
    }
}

extern "C" __global__ void pawl_chain(float *out) {
  float x = threadIdx.x * 1e-3f;
  for (int i = 0; i < 4096; i++) x = x * 0.999f + 0.001f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
