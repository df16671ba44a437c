#include "matmul.h"

#include <string.h>

/* The shape of a block: rows of C, columns of C, and how much of the sum is done at a time. Tune these. */
#ifndef BLOCK_M
#define BLOCK_M 32
#endif
#ifndef BLOCK_N
#define BLOCK_N 32
#endif
#ifndef BLOCK_K
#define BLOCK_K 32
#endif
/* How many products are added to an element of C before it is stored. */
#ifndef UNROLL
#define UNROLL 1
#endif

/* Adds an m x k block of A times a k x w block of B to a block of C. Inlined, so that the compiler knows the trip
   counts of whole blocks. */
static inline __attribute__((always_inline)) void add_block(int n, int m, int k, int w, const float *restrict a,
                                                            const float *restrict b, float *restrict c) {
  for (int i = 0; i < m; i++) {
    int p = 0;
    for (; p + UNROLL <= k; p += UNROLL)
      for (int j = 0; j < w; j++) {
        float sum = c[i * n + j];
        for (int u = 0; u < UNROLL; u++) sum += a[i * n + p + u] * b[(p + u) * n + j];
        c[i * n + j] = sum;
      }
    for (; p < k; p++)
      for (int j = 0; j < w; j++) c[i * n + j] += a[i * n + p] * b[p * n + j];
  }
}

static int least(int a, int b) { return a < b ? a : b; }

void matmul(int n, const float *a, const float *b, float *c) {
  memset(c, 0, sizeof(float) * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i += BLOCK_M)
    for (int p = 0; p < n; p += BLOCK_K)
      for (int j = 0; j < n; j += BLOCK_N) {
        const int m = least(BLOCK_M, n - i), k = least(BLOCK_K, n - p), w = least(BLOCK_N, n - j);
        const float *from_a = a + i * n + p, *from_b = b + p * n + j;
        float *to = c + i * n + j;
        if (m == BLOCK_M && k == BLOCK_K && w == BLOCK_N) add_block(n, BLOCK_M, BLOCK_K, BLOCK_N, from_a, from_b, to);
        else add_block(n, m, k, w, from_a, from_b, to);
      }
}
