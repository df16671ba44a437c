/* Kernels for the virtual GPU whose power or time differs. Arguments: x, out, n; of draws n is a share of the units in
   thousandths. */
#include "model.h"

void draws(void **p, const unsigned *grid, const unsigned *block) {
  const float *const x = *(const float **)p[0];
  float *const out = *(float **)p[1];
  vgpu_cycles(1.5e6); /* 1 ms at 1500 MHz */
  vgpu_activity(*(int *)p[2] / 1000.0);
  for (unsigned i = 0; i < grid[0] * block[0]; i++) out[i] = x[i];
}

/* n is the thousands of cycles that it takes. */
void works(void **p, const unsigned *grid, const unsigned *block) {
  const float *const x = *(const float **)p[0];
  float *const out = *(float **)p[1];
  vgpu_cycles(*(int *)p[2] * 1000.0);
  for (unsigned i = 0; i < grid[0] * block[0]; i++) out[i] = x[i];
}
