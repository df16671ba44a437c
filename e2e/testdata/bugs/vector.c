/* Kernels over vectors in FP32: axpy (y = 3 x + y), double (y = 2 x), total (one sum) and gather (y = x[at]). */
#include "bugs.h"

enum { CHUNK = 64 };

typedef struct problem {
  int N, M;
  float *x, *y;
  int32_t *at;
  int calls;
} problem;

static float flushed(float x) { return BUG == 24 && fabsf(x) < 1.17549435e-38f ? 0 : x; }

static void axpy(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int i = 0; i < p->N; i++) {
    p->y[i] = 3 * p->x[i] + p->y[i];
    if (BUG == 22 && i == p->N - 1) p->x[i] = p->y[i];
  }
}

static void twice(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  const int n = BUG == 23 ? (p->N + 3) / 4 * 4 : p->N; /* whole vectors of four */
  for (int i = 0; i < n; i++) {
    const float x = i < p->N ? p->x[i] : 0;
    p->y[i] = BUG == 25 && isinf(x) ? INFINITY : flushed(2 * flushed(x));
  }
}

/* Chunks are summed by themselves, as threads would, and then together. */
static void total(void *state, pawl_launch *l) {
  problem *p = state;
  (void)l;
  const int n = BUG == 21 ? (p->N + 3) / 4 * 4 : p->N, chunks = (n + CHUNK - 1) / CHUNK;
  float sum = 0;
  p->calls++;
  for (int c = 0; c < chunks; c++) {
    /* Who is done first adds first: here every other time the last one. */
    const int at = BUG == 20 && p->calls % 2 == 0 ? chunks - 1 - c : c;
    float part = 0;
    for (int i = at * CHUNK; i < least((at + 1) * CHUNK, n); i++) part += p->x[i];
    sum += part;
  }
  if (BUG == 26 && p->calls % 2 == 0) sum += 0.01f * fabsf(sum) + 0.01f; /* an update that was lost */
  *p->y = sum;
}

static void gather(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int i = 0; i < p->M; i++) p->y[i] = p->x[BUG == 27 ? least(p->at[i], p->N - 2) : p->at[i]];
}

static void gather_naive(void *state, pawl_launch *l) {
  const problem *p = state;
  (void)l;
  for (int i = 0; i < p->M; i++) p->y[i] = p->x[p->at[i]];
}

static void *setup_of(const pawl_params *params, const char *role, int outputs) {
  problem *p = memory(sizeof *p);
  p->N = size_of(params, "N");
  p->x = memory(sizeof(float) * (size_t)p->N);
  p->y = memory(sizeof(float) * (size_t)(outputs ? outputs : p->N));
  pawl_input("x", p->x, "f32", p->N);
  const int64_t shape = outputs ? outputs : p->N;
  pawl_argument(role, "y", p->y, "f32", 1, &shape);
  return p;
}

static void *setup_axpy(const pawl_params *p, pawl_rng *rng) {
  (void)rng;
  return setup_of(p, "inout", 0);
}

static void *setup_twice(const pawl_params *p, pawl_rng *rng) {
  (void)rng;
  return setup_of(p, "out", 0);
}

static void *setup_total(const pawl_params *p, pawl_rng *rng) {
  (void)rng;
  return setup_of(p, "out", 1);
}

static void *setup_gather(const pawl_params *params, pawl_rng *rng) {
  const int m = size_of(params, "M");
  problem *p = setup_of(params, "out", m);
  (void)rng;
  p->M = m;
  p->at = memory(sizeof(int32_t) * (size_t)m);
  pawl_input("at", p->at, "i32", m);
  return p;
}

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {
      {.name = "axpy", .setup = setup_axpy, .run = axpy, .configs = "N=64"},
      {.name = "twice", .setup = setup_twice, .run = twice, .configs = "N=64"},
      {.name = "total", .setup = setup_total, .run = total, .configs = "N=64"},
      {.name = "gather", .setup = setup_gather, .run = gather, .configs = "N=64,M=16"},
      {.name = "gather", .implementation = "naive", .setup = setup_gather, .run = gather_naive},
  };
  return serve(argc, argv, b, 5);
}
