/* Kernels for the virtual GPU: out[i] = 2 * x[i] + 1, or not. Arguments: x, out, n. */
#include "model.h"

#include <string.h>

static const float *x_of(void **p) { return *(const float **)p[0]; }
static float *out_of(void **p) { return *(float **)p[1]; }
static int n_of(void **p) { return *(int *)p[2]; }

static void compute(void **p, const unsigned *grid, const unsigned *block) {
  const int threads = (int)(grid[0] * block[0]), n = n_of(p) < threads ? n_of(p) : threads;
  vgpu_read(x_of(p), (size_t)n * 4);
  vgpu_write(out_of(p), (size_t)n * 4);
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

void fails(void **p, const unsigned *grid, const unsigned *block) {
  compute(p, grid, block);
  vgpu_crash();
}

/* Takes n cycles. */
void timed(void **p, const unsigned *grid, const unsigned *block) {
  const int threads = (int)(grid[0] * block[0]);
  vgpu_cycles(n_of(p));
  for (int i = 0; i < threads; i++) out_of(p)[i] = x_of(p)[i];
}

/* Reads n elements and writes as many as there are threads. */
static void reduce(void **p, const unsigned *grid, const unsigned *block) {
  const int threads = (int)(grid[0] * block[0]);
  vgpu_write(out_of(p), (size_t)threads * 4);
  for (int i = 0; i < threads; i++) out_of(p)[i] = x_of(p)[i];
}

void reads(void **p, const unsigned *grid, const unsigned *block) {
  vgpu_read(x_of(p), (size_t)n_of(p) * 4);
  reduce(p, grid, block);
}

/* Asks the cache to keep what it reads. */
void persists(void **p, const unsigned *grid, const unsigned *block) {
  vgpu_persist(x_of(p), (size_t)n_of(p) * 4);
  reduce(p, grid, block);
}

/* Two pointers to scratch memory behind the arguments. */
const int scratch_params[] = {8, 8, 4, 8, 8, 0};
void scratch(void **p, const unsigned *grid, const unsigned *block) {
  compute(p, grid, block);
  if (*(uint64_t *)p[3] || *(uint64_t *)p[4]) vgpu_crash();
}

/* Takes x and out as tensor maps of two dimensions: out = 2 * x + 1, a tile of x after the other. */
const int mapped_params[] = {128, 128, 4, 0};
void mapped(void **p, const unsigned *grid, const unsigned *block) {
  const vgpu_tensor_map *const x = p[0], *const out = p[1];
  (void)grid, (void)block;
  if (x->rank != 2 || x->swizzle != n_of(p) || x->strides[0] != 4) return;
  for (uint64_t row = 0; row < x->sizes[1]; row += x->box[1])
    for (uint64_t at = 0; at < x->sizes[0]; at += x->box[0])
      for (uint64_t i = row; i < row + x->box[1] && i < x->sizes[1]; i++)
        for (uint64_t k = at; k < at + x->box[0] && k < x->sizes[0]; k++)
          *(float *)((char *)out->at + i * out->strides[1] + k * 4) = 2 * *(float *)((char *)x->at + i * x->strides[1] + k * 4) + 1;
}

const int too_many_params[] = {8, 8, 4, 4, 0};
void too_many(void **p, const unsigned *grid, const unsigned *block) { compute(p, grid, block); }

const int too_few_params[] = {8, 8, 0};
void too_few(void **p, const unsigned *grid, const unsigned *block) { compute(p, grid, block); }

const int clustered_cluster = 1;
void clustered(void **p, const unsigned *grid, const unsigned *block) { compute(p, grid, block); }
