#include "softmax.h"

#include <math.h>

/* ROWS rows share one pass over the columns, so that their chains of additions overlap. */
static void rows(int count, int m, const float *x, float *y) {
  float largest[ROWS], sum[ROWS];
  for (int r = 0; r < count; r++) {
    largest[r] = x[r * m];
    sum[r] = 0;
  }
  for (int j = 1; j < m; j++)
    for (int r = 0; r < count; r++) largest[r] = x[r * m + j] > largest[r] ? x[r * m + j] : largest[r];
  for (int j = 0; j < m; j++)
    for (int r = 0; r < count; r++) sum[r] += y[r * m + j] = expf(x[r * m + j] - largest[r]);
  for (int r = 0; r < count; r++)
    for (int j = 0; j < m; j++) y[r * m + j] /= sum[r];
}

void softmax(int n, int m, const float *x, float *y) {
  int i = 0;
  for (; i + ROWS <= n; i += ROWS) rows(ROWS, m, x + i * m, y + i * m);
  if (i < n) rows(n - i, m, x + i * m, y + i * m);
}
