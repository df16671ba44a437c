/* Kernels for the stand-in of the CUDA driver: out[i] = 2 * x[i] + 1, or not. Arguments: x, out, n. */
#include <string.h>

static const float *x_of(void **p) { return *(const float **)p[0]; }
static float *out_of(void **p) { return *(float **)p[1]; }
static int n_of(void **p) { return *(int *)p[2]; }

static void compute(void **p, const unsigned *grid, const unsigned *block) {
  const int threads = (int)(grid[0] * block[0]), n = n_of(p) < threads ? n_of(p) : threads;
  for (int i = 0; i < n; i++) out_of(p)[i] = 2 * x_of(p)[i] + 1;
}

void honest(void **p, const unsigned *grid, const unsigned *block) { compute(p, grid, block); }

void writes_input(void **p, const unsigned *grid, const unsigned *block) {
  compute(p, grid, block);
  memset((void *)x_of(p), 0, 4);
}

void writes_behind(void **p, const unsigned *grid, const unsigned *block) {
  compute(p, grid, block);
  out_of(p)[n_of(p)] = 1;
}

void leaves_half(void **p, const unsigned *grid, const unsigned *block) {
  (void)grid, (void)block;
  for (int i = 0; i < n_of(p) / 2; i++) out_of(p)[i] = 2 * x_of(p)[i] + 1;
}

extern void stand_in_fail(void);
void fails(void **p, const unsigned *grid, const unsigned *block) {
  compute(p, grid, block);
  stand_in_fail();
}
