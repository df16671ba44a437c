/* A wider stride: A and C are walked down their columns, over all rows at a time. */
#include "matmul.h"

#include <string.h>

enum { ROWS = 256, DEPTH = 32, COLUMNS = 32 };

static inline __attribute__((always_inline)) void add_block(int n, int m, int k, int w, const float *restrict a,
                                                            const float *restrict b, float *restrict c) {
  for (int p = 0; p < k; p++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < w; j++) c[i * n + j] += a[i * n + p] * b[p * n + j];
}

static int least(int a, int b) { return a < b ? a : b; }

void matmul(int n, const float *a, const float *b, float *c) {
  memset(c, 0, sizeof(float) * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i += ROWS)
    for (int p = 0; p < n; p += DEPTH)
      for (int j = 0; j < n; j += COLUMNS) {
        const int m = least(ROWS, n - i), k = least(DEPTH, n - p), w = least(COLUMNS, n - j);
        const float *from_a = a + i * n + p, *from_b = b + p * n + j;
        float *to = c + i * n + j;
        if (m == ROWS && k == DEPTH && w == COLUMNS) add_block(n, ROWS, DEPTH, COLUMNS, from_a, from_b, to);
        else add_block(n, m, k, w, from_a, from_b, to);
      }
}
