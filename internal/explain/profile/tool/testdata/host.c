/* A host harness for tools: a kernel that does a known amount of work, after a set-up and a warm-up that do much more. */
#include "pawl.h"

typedef struct state {
  long n;
  volatile float *x;
} state;

/* Four instructions or so for each of n: what a tool counts must be near that, whatever else the harness does. */
static __attribute__((noinline)) float sum_up(const volatile float *x, long n) {
  float sum = 0;
  for (long i = 0; i < n; i++) sum += x[i];
  return sum;
}

static void *setup(const pawl_params *p, pawl_rng *rng) {
  state *s = pawl_alloc(sizeof *s);
  s->n = (long)pawl_int(p, "n");
  s->x = pawl_alloc(sizeof(float) * (size_t)s->n);
  for (int again = 0; again < 50; again++) pawl_fill_float(rng, (float *)s->x, (size_t)s->n);
  return s;
}

static void run(void *with, pawl_launch *l) {
  const state *s = with;
  (void)l;
  if (sum_up(s->x, s->n) > 1e30f) printf("never\n");
}

#if defined(__AVX512F__)
#include <immintrin.h>
static void run_wide(void *with, pawl_launch *l) {
  const state *s = with;
  __m512 v = _mm512_loadu_ps((const float *)s->x);
  (void)l;
  if (_mm512_reduce_add_ps(v) > 1e30f) printf("never\n");
}
#else
#define run_wide run
#endif

int main(int argc, char **argv) {
  static const pawl_benchmark b[] = {{.name = "sum", .setup = setup, .run = run}, {.name = "wide", .setup = setup, .run = run_wide}};
  return pawl_main(argc, argv, b, 2);
}
