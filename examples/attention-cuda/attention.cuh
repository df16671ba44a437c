// Forward attention, out = softmax(q k^T / sqrt(D)) v, for FP16 tensors of shape [batch*heads, S, D].
//
// attention: one thread owns one query. A block of ROWS queries walks over the keys in tiles of KEYS, which it brings
// to shared memory together, and each thread keeps a running softmax: the largest score so far, the sum of weights and
// the weighted sum of values, all in FP32. When a tile brings a larger score, what was summed before shrinks
// accordingly. The S x S scores are never written to memory.
//
// naive_attention: the definition, with the scores computed twice and nothing kept on chip.
#pragma once
#include <cuda_fp16.h>

#ifndef ROWS
#define ROWS 128
#endif
#ifndef KEYS
#define KEYS 16
#endif

struct alignas(16) half8 { // one 16-byte load
  half h[8];
};

template <int D>
__device__ inline void load_row(const half *from, float *to, float scale) {
#pragma unroll
  for (int i = 0; i < D; i += 8) {
    const half8 eight = *reinterpret_cast<const half8 *>(from + i);
#pragma unroll
    for (int k = 0; k < 8; k++) to[i + k] = __half2float(eight.h[k]) * scale;
  }
}

// Brings KEYS rows that begin at `first` to shared memory as FP32, zeros where there are no more.
template <int D>
__device__ inline void load_tile(const half *from, float (*to)[D], int first, int S) {
  for (int i = threadIdx.x * 8; i < KEYS * D; i += ROWS * 8) {
    const int row = i / D, column = i % D;
    if (first + row < S) {
      load_row<8>(from + (size_t)(first + row) * D + column, &to[row][column], 1.0f);
    } else {
      for (int k = 0; k < 8; k++) to[row][column + k] = 0;
    }
  }
}

// Grid: ceil(S / ROWS) x (batch * heads). Block: ROWS threads.
template <int D>
__global__ void __launch_bounds__(ROWS) attention(const half *q, const half *k, const half *v, half *out, int S) {
  __shared__ __align__(16) float keys[KEYS][D], values[KEYS][D];
  const size_t head = (size_t)blockIdx.y * S * D;
  const int row = blockIdx.x * ROWS + threadIdx.x;
  const float log2e = 1.44269504f; // exp(x) is exp2(x * log2e); the factor goes into the query
  float query[D], sum[D], weight = 0, top = -INFINITY;
  load_row<D>(q + head + (size_t)(row < S ? row : S - 1) * D, query, log2e * rsqrtf((float)D));
#pragma unroll
  for (int d = 0; d < D; d++) sum[d] = 0;

  for (int first = 0; first < S; first += KEYS) {
    __syncthreads(); // all are done with the tile before
    load_tile<D>(k + head, keys, first, S);
    load_tile<D>(v + head, values, first, S);
    __syncthreads();

    float score[KEYS], new_top = top;
#pragma unroll
    for (int j = 0; j < KEYS; j++) {
      float dot = 0;
#pragma unroll
      for (int d = 0; d < D; d++) dot += query[d] * keys[j][d];
      score[j] = first + j < S ? dot : -INFINITY;
      new_top = fmaxf(new_top, score[j]);
    }

    const float shrink = exp2f(top - new_top); // 0 for the first tile
    top = new_top;
    weight *= shrink;
#pragma unroll
    for (int d = 0; d < D; d++) sum[d] *= shrink;
#pragma unroll
    for (int j = 0; j < KEYS; j++) {
      const float p = exp2f(score[j] - top);
      weight += p;
#pragma unroll
      for (int d = 0; d < D; d++) sum[d] += p * values[j][d];
    }
  }

  if (row >= S) return;
#pragma unroll
  for (int d = 0; d < D; d += 8) {
    half8 eight;
#pragma unroll
    for (int k = 0; k < 8; k++) eight.h[k] = __float2half(sum[d + k] / weight);
    *reinterpret_cast<half8 *>(out + head + (size_t)row * D + d) = eight;
  }
}

template <int D>
__device__ inline float score_of(const half *query, const half *key) {
  float dot = 0;
  for (int d = 0; d < D; d++) dot += __half2float(query[d]) * __half2float(key[d]);
  return dot * rsqrtf((float)D);
}

// Grid: ceil(S / ROWS) x (batch * heads). Block: ROWS threads.
template <int D>
__global__ void naive_attention(const half *q, const half *k, const half *v, half *out, int S) {
  const size_t head = (size_t)blockIdx.y * S * D;
  const int row = blockIdx.x * ROWS + threadIdx.x;
  if (row >= S) return;
  const half *query = q + head + (size_t)row * D;
  float top = -INFINITY, weight = 0, sum[D];
  for (int j = 0; j < S; j++) top = fmaxf(top, score_of<D>(query, k + head + (size_t)j * D));
  for (int d = 0; d < D; d++) sum[d] = 0;
  for (int j = 0; j < S; j++) {
    const float p = expf(score_of<D>(query, k + head + (size_t)j * D) - top);
    weight += p;
    for (int d = 0; d < D; d++) sum[d] += p * __half2float(v[head + (size_t)j * D + d]);
  }
  for (int d = 0; d < D; d++) out[head + (size_t)row * D + d] = __float2half(sum[d] / weight);
}
